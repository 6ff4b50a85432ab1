import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { SUBSCRIPTIONS } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresAccounts } from '../../src/service/accounts/open-accounts.ts';
import { perilbook } from '../cli/command-line.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { databaseFile, openSmallData, pathTo, request, subscriptionOf } from './small-data.ts';

const server = await sharedPostgres();

const open = (url: string) => openPostgresAccounts(url, systemClock);

const PAGE = readFileSync(
  new URL('../../docs/operator/many-instances.md', import.meta.url),
  'utf8',
);
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
  const [charge] = await instance.charge(order);
  assert.ok('id' in charge!);
  await instance.settle({ delivered: [charge.id], undelivered: [] });
  await instance[Symbol.asyncDispose]();
  for (const forbidden of [
    () => accounts.createAccount({ name: 'b', subscription: SUBSCRIPTIONS.starter }),
    () => accounts.changeAccount('a', { overages: true }),
    () => accounts.createKey('a', ['hail'], null),
    () => accounts.revokeKey(1),
  ]) {
    await assert.rejects(forbidden(), {
      ...{
        code: 'SERVICE_ACCOUNT',
        message: /does not let this role do this/,
        hint: /many-instances\.md/,
      },
    });
  }
});

test('the command line starts a service on PostgreSQL, and a key that is revoked there is refused at once', async (t) => {
  const url = await server.database();
  const db = databaseFile(t);
  openSmallData(t, db, systemClock, Date.now());
  const of = ['--account', 'acme', '--accounts', url];
  assert.equal(
    (await perilbook(['service', 'account', 'create', '--subscription', 'starter', ...of])).code,
    0,
  );
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
  const base = await Promise.race([
    started.promise,
    ended.then(({ stderr }) => assert.fail(stderr)),
  ]);
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

const ROWS = 20_000;
const BATCHES = 15;
const BATCH = 20;
/** Rows of `charges` that a charge and its settlement may read: its own, and those of the minute, once for each batch. */
const ROWS_A_CHARGE = 40;

test('accounts that were opened empty still read only the rows of their charges when they have grown', async () => {
  const schema = 'grown_accounts';
  const accounts = await openPostgresAccounts(server.storeAddress({ schema }), systemClock);
  const { id: other } = await accounts.createAccount({
    name: 'other',
    subscription: subscriptionOf(1e9, 1e6),
  });
  await accounts.createAccount({ name: 'one', subscription: subscriptionOf(1e9, 1e6) });
  const { id: keyId, key } = await accounts.createKey('one', ['hail'], null);
  const instance = await accounts.register((error) => assert.fail(String(error)));
  let charged = 0;
  async function serve(): Promise<void> {
    const call = { kind: 'single', topic: 'hail' } as const;
    const checks = await instance.check(Array.from({ length: BATCH }, () => ({ key, call })));
    const calls = checks.map((check) => {
      assert.ok(typeof check === 'object' && check.refusal === null);
      return { caller: check.caller, call, requestId: randomUUID() };
    });
    const made = await instance.charge(calls);
    const delivered = made.map((charge) => ('id' in charge ? charge.id : assert.fail()));
    await instance.settle({ delivered, undelivered: [] });
    charged += made.length;
  }
  // PostgreSQL plans a prepared statement anew five times, and keeps the plan that it then has.
  for (let batch = 0; batch < BATCHES; batch++) await serve();
  await server.query(
    `INSERT INTO ${schema}.charges (account, key, kind, topic, credits, charged_at, period_start, request_id)
     SELECT ${other}, ${keyId}, 'single', 'hail', 1, number, 0, gen_random_uuid() FROM generate_series(1, ${ROWS}) number`,
  );
  for (let batch = 0; batch < BATCHES; batch++) await serve();
  await instance[Symbol.asyncDispose]();
  // A session reports what it has read when it ends.
  await accounts[Symbol.asyncDispose]();
  const seen = async () =>
    (
      await server.query<{ read: string; inserted: string }>(
        `SELECT seq_tup_read + idx_tup_fetch AS read, n_tup_ins AS inserted FROM pg_stat_user_tables
         WHERE schemaname = '${schema}' AND relname = 'charges'`,
      )
    )[0]!;
  let rows = await seen();
  for (; Number(rows.inserted) < charged + ROWS; rows = await seen()) await sleep(20);
  assert.ok(
    Number(rows.read) <= charged * ROWS_A_CHARGE,
    `${rows.read} rows were read for ${charged} charges`,
  );
});
