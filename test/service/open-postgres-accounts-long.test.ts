import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { SUBSCRIPTIONS } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresAccounts } from '../../src/service/accounts/open-accounts.ts';
import { perilbook } from '../cli/command-line.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { databaseFile, openSmallData, pathTo, request } from './small-data.ts';

const server = await sharedPostgres();

const open = (url: string) => openPostgresAccounts(url, systemClock);

const PAGE = readFileSync(new URL('../../docs/operator/many-instances.md', import.meta.url), 'utf8');
const [CREATE_ROLE, ...GRANTS] = PAGE.split('```sql\n')[1]!.split('```')[0]!.trim().split(';\n');

test('a role that may only charge runs an instance, and can make neither tables nor accounts nor keys', async () => {
  const url = await server.database();
  const role = new URL(url);
  role.username = 'perilbook_instance';
  const database = role.pathname.slice(1);
  await server.query(CREATE_ROLE!, database);
  await assert.rejects(open(role.href), { code: 'SERVICE_ACCOUNT' });
  const owner = await open(url);
  await owner.createAccount({ name: 'a', subscription: SUBSCRIPTIONS.starter });
  const { key } = await owner.createKey('a', TOPIC_SLUGS, null);
  await owner[Symbol.asyncDispose]();
  for (const grant of GRANTS) await server.query(grant, database);
  await using accounts = await open(role.href);
  const instance = await accounts.register(() => {});
  const call = { kind: 'single', topic: 'hail' } as const;
  const [check] = await instance.check([{ key, call }]);
  assert.ok(typeof check === 'object');
  const order = [{ caller: check.caller, call, requestId: crypto.randomUUID() }];
  const [charge] = await instance.charge(order, { delivered: [], undelivered: [] });
  assert.ok('id' in charge!);
  await instance.settle({ delivered: [charge.id], undelivered: [] });
  await instance[Symbol.asyncDispose]();
  for (const forbidden of [
    () => accounts.createAccount({ name: 'b', subscription: SUBSCRIPTIONS.starter }),
    () => accounts.changeAccount('a', { overages: true }),
    () => accounts.createKey('a', ['hail'], null),
    () => accounts.revokeKey(1),
  ]) {
    await assert.rejects(forbidden(), { code: 'SERVICE_ACCOUNT', message: /does not let this role do this/ });
  }
});

test('the command line starts a service on PostgreSQL, and a key that is revoked there is refused at once', async (t) => {
  const url = await server.database();
  const db = databaseFile(t);
  openSmallData(t, db, systemClock, Date.now());
  const of = ['--account', 'acme', '--accounts', url];
  assert.equal((await perilbook(['service', 'account', 'create', '--subscription', 'starter', ...of])).code, 0);
  const made = await perilbook(['service', 'key', 'create', '--scopes', 'all', ...of]);
  const stop = new AbortController();
  const started = Promise.withResolvers<string>();
  const ended = perilbook(['service', 'start', '--port', '0', '--db', db, '--accounts', url], {
    interrupt: stop.signal,
    onStderr: (text) => {
      const address = /http:\S+(?=,)/.exec(text);
      if (address !== null) started.resolve(address[0]);
    },
  });
  const key = made.stdout.trim();
  const base = await Promise.race([started.promise, ended.then(({ stderr }) => assert.fail(stderr))]);
  const { status } = await request(base + pathTo('/v1/drought/risk'), key);
  assert.equal(status, 200);
  const statement = await perilbook(['service', 'account', 'statement', '--json', ...of]);
  assert.match(statement.stdout, /"creditsCharged": ?1\b/);
  await perilbook(['service', 'key', 'revoke', '--key', '1', '--accounts', url]);
  assert.equal((await request(base + pathTo('/v1/drought/risk'), key)).status, 401);
  stop.abort();
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
});
