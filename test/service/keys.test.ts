import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import Database from 'better-sqlite3';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openAccounts } from '../../src/service/accounts/open-accounts.ts';
import { createAccount, createKey, listAccounts, listKeys, revokeKey, rotateKey } from './file-accounts.ts';
import { openAccountsOf, pathTo, StillClock, setUp, subscriptionOf } from './small-data.ts';

const refusedFor = (message: RegExp) => ({ code: 'SERVICE_ACCOUNT', message });

test('a key allows its own topics only, and `bundle` allows the bundles only', async (t) => {
  const { get, accounts, clock } = await setUp(t);
  const bundle = createKey(accounts, 'tester', ['bundle'], clock).key;
  for (const [index, slug] of TOPIC_SLUGS.entries()) {
    const other = TOPIC_SLUGS[(index + 1) % TOPIC_SLUGS.length]!;
    const own = createKey(accounts, 'tester', [slug], clock).key;
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
  const { get, accounts, clock, key, keyId } = await setUp(t);
  const path = pathTo('/v1/drought/risk');
  const successor = rotateKey(accounts, keyId, 3_600, clock);
  const states = listKeys(accounts, clock).map(({ state }) => state);
  assert.deepEqual(states, ['rotating', 'active']);
  clock.at += 3_600_000 - 1;
  assert.equal((await get(path, key)).status, 200);
  assert.equal((await get(path, successor.key)).status, 200);
  clock.at += 1;
  assert.equal((await get(path, key)).status, 401);
  assert.equal((await get(path, successor.key)).status, 200);
  const [old, young] = listKeys(accounts, clock, 'tester');
  assert.equal(old!.state, 'retired');
  assert.equal(old!.replacedBy, young!.id);
  assert.deepEqual(old!.scopes, young!.scopes);
});

test('a rotation is refused for a key that has a successor, is revoked or has expired', (t) => {
  const clock = new StillClock();
  const accounts = openAccountsOf(t);
  createAccount(accounts, { name: 'a', subscription: subscriptionOf(10, 10) }, clock);
  const first = createKey(accounts, 'a', ['hail'], clock);
  rotateKey(accounts, first.id, 60, clock);
  assert.throws(() => rotateKey(accounts, first.id, 60, clock), refusedFor(/is rotating/));
  const second = createKey(accounts, 'a', ['hail'], clock);
  revokeKey(accounts, second.id, clock);
  assert.throws(() => rotateKey(accounts, second.id, 60, clock), refusedFor(/is revoked/));
  const third = createKey(accounts, 'a', ['hail'], clock, { expiresAt: clock.at + 1_000 });
  const fourth = rotateKey(accounts, third.id, 0, clock);
  assert.equal(listKeys(accounts, clock).find(({ id }) => id === fourth.id)!.expiresAt, clock.at + 1_000);
  clock.at += 1_000;
  assert.throws(() => rotateKey(accounts, fourth.id, 60, clock), refusedFor(/is expired/));
  assert.throws(() => rotateKey(accounts, 99, 60, clock), refusedFor(/Cannot find key 99/));
  assert.throws(() => rotateKey(accounts, first.id, -1, clock), refusedFor(/grace/));
});

test('a revoked key stops at once, also in its grace period', async (t) => {
  const { get, accounts, clock, key, keyId } = await setUp(t);
  rotateKey(accounts, keyId, 3_600, clock);
  assert.equal((await get(pathTo('/v1/drought/risk'))).status, 200);
  revokeKey(accounts, keyId, clock);
  // A mistyped number must not look like a key that was stopped.
  assert.throws(() => revokeKey(accounts, 99, clock), refusedFor(/Cannot find key 99/));
  const { status, headers } = await get(pathTo('/v1/drought/risk'), key);
  assert.equal(status, 401);
  assert.ok(headers.get('www-authenticate'));
});

test('a lost key is replaced without a grace period, and a key expires at its time', async (t) => {
  const { get, accounts, clock, keyId } = await setUp(t);
  const lost = rotateKey(accounts, keyId, 0, clock);
  assert.equal((await get(pathTo('/v1/drought/risk'))).status, 401);
  assert.equal((await get(pathTo('/v1/drought/risk'), lost.key)).status, 200);
  const { key } = createKey(accounts, 'tester', ['drought'], clock, { expiresAt: clock.at + 1_000 });
  clock.at += 999;
  assert.equal((await get(pathTo('/v1/drought/risk'), key)).status, 200);
  clock.at += 1;
  assert.equal((await get(pathTo('/v1/drought/risk'), key)).status, 401);
});

test('a key has 32 random bytes, and the file contains only its hash', async (t) => {
  const { accounts, clock, key } = await setUp(t);
  assert.match(key, /^pb_[A-Za-z0-9_-]{43}$/);
  accounts.pragma('wal_checkpoint(TRUNCATE)');
  for (const name of [accounts.name, `${accounts.name}-wal`]) {
    const bytes = readFileSync(name);
    assert.equal(bytes.includes(key.slice(3)), false);
    assert.equal(bytes.includes(Buffer.from(key.slice(3), 'base64url')), false);
  }
  assert.ok(!JSON.stringify(listKeys(accounts, clock)).includes(key.slice(3, 13)));
});

test('accounts and keys are checked when they are made', (t) => {
  const clock = new StillClock();
  const accounts = openAccountsOf(t);
  const account = { name: 'a', subscription: subscriptionOf(10, 10) };
  createAccount(accounts, account, clock);
  assert.throws(() => createAccount(accounts, account, clock), refusedFor(/the name is taken/));
  assert.throws(() => createAccount(accounts, { ...account, name: ' ' }, clock), refusedFor(/without a name/));
  const uneven = { name: 'b', subscription: subscriptionOf(1.5, 10) };
  assert.throws(() => createAccount(accounts, uneven, clock), refusedFor(/1\.5 credits a month/));
  assert.throws(() => createKey(accounts, 'nobody', ['hail'], clock), refusedFor(/Cannot find account/));
  assert.throws(() => createKey(accounts, 'a', [], clock), refusedFor(/without scopes/));
  assert.throws(() => createKey(accounts, 'a', ['hail', 'rain'], clock), refusedFor(/scope "rain"/));
  assert.throws(() => createKey(accounts, 'a', ['hail'], clock, { expiresAt: clock.at }), refusedFor(/expired/));
  const [{ name, overages, signedUpAt } = {}, ...others] = listAccounts(accounts, clock);
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
