import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import Database from 'better-sqlite3';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openAccounts, sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { openAccountsOf, pathTo, StillClock, setUp, subscriptionOf } from './small-data.ts';

const PATH = pathTo('/v1/drought/risk');
const refusedFor = (message: RegExp) => ({ code: 'SERVICE_ACCOUNT', message });

test('a key allows its own topics only, and `bundle` allows the bundles only', async (t) => {
  const { get, port } = await setUp(t);
  const bundle = (await port.createKey('tester', ['bundle'], null)).key;
  for (const [index, slug] of TOPIC_SLUGS.entries()) {
    const other = TOPIC_SLUGS[(index + 1) % TOPIC_SLUGS.length]!;
    const own = (await port.createKey('tester', [slug], null)).key;
    assert.equal((await get(pathTo(`/v1/${slug}/risk`), own)).status, 200);
    assert.equal((await get(pathTo(`/v1/${other}/risk`), own)).status, 403);
    assert.equal((await get(pathTo('/v1/bundle/standard'), own)).status, 403);
    assert.equal((await get(pathTo('/v1/bundle/enterprise'), own)).status, 403);
    assert.equal((await get(pathTo(`/v1/${slug}/risk`), bundle)).status, 403);
  }
  assert.equal((await get(pathTo('/v1/bundle/standard'), bundle)).status, 200);
  assert.equal((await get(pathTo('/v1/bundle/enterprise'), bundle)).status, 200);
});

test('during the grace period of a rotation both keys work; then the old one is refused, to the second', async (t) => {
  const { get, port, clock, key, keyId } = await setUp(t);
  const successor = await port.rotateKey(keyId, 3_600);
  const states = (await port.listKeys()).map(({ state }) => state);
  assert.deepEqual(states, ['rotating', 'active']);
  clock.at += 3_600_000 - 1;
  assert.equal((await get(PATH, key)).status, 200);
  assert.equal((await get(PATH, successor.key)).status, 200);
  clock.at += 1;
  assert.equal((await get(PATH, key)).status, 401);
  assert.equal((await get(PATH, successor.key)).status, 200);
  const [old, young] = await port.listKeys('tester');
  assert.equal(old!.state, 'retired');
  assert.equal(old!.replacedBy, young!.id);
  assert.deepEqual(old!.scopes, young!.scopes);
});

test('a rotation is refused for a key that has a successor, is revoked or has expired', async (t) => {
  const clock = new StillClock();
  const port = sqliteAccounts(openAccountsOf(t), clock);
  await port.createAccount({ name: 'a', subscription: subscriptionOf(10, 10) });
  const first = await port.createKey('a', ['hail'], null);
  await port.rotateKey(first.id, 60);
  await assert.rejects(port.rotateKey(first.id, 60), refusedFor(/is rotating/));
  const second = await port.createKey('a', ['hail'], null);
  await port.revokeKey(second.id);
  await assert.rejects(port.rotateKey(second.id, 60), refusedFor(/is revoked/));
  const third = await port.createKey('a', ['hail'], 1_000);
  const fourth = await port.rotateKey(third.id, 0);
  assert.equal(
    (await port.listKeys()).find(({ id }) => id === fourth.id)!.expiresAt,
    clock.at + 1_000,
  );
  clock.at += 1_000;
  await assert.rejects(port.rotateKey(fourth.id, 60), refusedFor(/is expired/));
  await assert.rejects(port.rotateKey(99, 60), refusedFor(/Cannot find key 99/));
  await assert.rejects(port.rotateKey(first.id, -1), refusedFor(/grace/));
});

test('a revoked key stops at once, also in its grace period', async (t) => {
  const { get, port, key, keyId } = await setUp(t);
  await port.rotateKey(keyId, 3_600);
  assert.equal((await get(PATH)).status, 200);
  await port.revokeKey(keyId);
  // A mistyped number must not look like a key that was stopped.
  await assert.rejects(port.revokeKey(99), refusedFor(/Cannot find key 99/));
  const { status, headers } = await get(PATH, key);
  assert.equal(status, 401);
  assert.ok(headers.get('www-authenticate'));
});

test('a lost key is replaced without a grace period, and a key expires at its time', async (t) => {
  const { get, port, clock, keyId } = await setUp(t);
  const lost = await port.rotateKey(keyId, 0);
  assert.equal((await get(PATH)).status, 401);
  assert.equal((await get(PATH, lost.key)).status, 200);
  const { key } = await port.createKey('tester', ['drought'], 1_000);
  clock.at += 999;
  assert.equal((await get(PATH, key)).status, 200);
  clock.at += 1;
  assert.equal((await get(PATH, key)).status, 401);
});

test('a key has 32 random bytes, and the file contains only its hash', async (t) => {
  const { accounts, port, key } = await setUp(t);
  assert.match(key, /^pb_[A-Za-z0-9_-]{43}$/);
  accounts.pragma('wal_checkpoint(TRUNCATE)');
  for (const name of [accounts.name, `${accounts.name}-wal`]) {
    const bytes = readFileSync(name);
    assert.equal(bytes.includes(key.slice(3)), false);
    assert.equal(bytes.includes(Buffer.from(key.slice(3), 'base64url')), false);
  }
  assert.ok(!JSON.stringify(await port.listKeys()).includes(key.slice(3, 13)));
});

test('accounts and keys are checked when they are made', async (t) => {
  const clock = new StillClock();
  const port = sqliteAccounts(openAccountsOf(t), clock);
  const account = { name: 'a', subscription: subscriptionOf(10, 10) };
  await port.createAccount(account);
  await assert.rejects(port.createAccount(account), refusedFor(/the name is taken/));
  await assert.rejects(port.createAccount({ ...account, name: ' ' }), refusedFor(/without a name/));
  const uneven = { name: 'b', subscription: subscriptionOf(1.5, 10) };
  await assert.rejects(port.createAccount(uneven), refusedFor(/1\.5 credits a month/));
  await assert.rejects(port.createKey('nobody', ['hail'], null), refusedFor(/Cannot find account/));
  await assert.rejects(port.createKey('a', [], null), refusedFor(/without scopes/));
  await assert.rejects(port.createKey('a', ['hail', 'rain'], null), refusedFor(/scope "rain"/));
  await assert.rejects(port.createKey('a', ['hail'], 0), refusedFor(/expired/));
  const [{ name, overages, signedUpAt } = {}, ...others] = await port.listAccounts();
  assert.deepEqual([name, overages, signedUpAt, others], ['a', false, clock.at, []]);
});

test('an accounts file of another version is refused in one sentence, and left as it is', (t) => {
  const { name: file } = openAccountsOf(t);
  const refusals = [
    [1, 'it was made by an earlier development version of Perilbook'],
    [99, 'it has version 99, and this program knows up to 2'],
  ] as const;
  for (const [version, reason] of refusals) {
    const database = new Database(file);
    database.pragma(`user_version = ${version}`);
    const message = `Cannot open the accounts file "${file}": ${reason}`;
    assert.throws(() => openAccounts(file), { code: 'SERVICE_ACCOUNT', message });
    assert.equal(database.pragma('user_version', { simple: true }), version);
    database.close();
  }
});

test('a key that is unknown, revoked, malformed or missing is refused, and costs nothing', async (t) => {
  const { get, single, port, charged } = await setUp(t);
  const revoked = await port.createKey('tester', ['drought'], null);
  await port.revokeKey(revoked.id);
  const unknown = `pb_${randomBytes(32).toString('base64url')}`;
  for (const key of [null, 'malformed', revoked.key, unknown]) {
    assert.equal((await get(PATH, key)).status, 401, `${key}`);
  }
  assert.equal((await single()).status, 200);
  assert.equal(charged(), 1);
});
