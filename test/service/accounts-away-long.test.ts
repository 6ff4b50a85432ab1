import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Pool } from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresAccounts } from '../../src/service/accounts/open-accounts.ts';
import { startService } from '../../src/service/http/start-service.ts';
import { startPostgres } from '../postgres-server.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { until } from '../until.ts';
import {
  databaseFile,
  openSmallData,
  pathTo,
  releaseLater,
  request,
  subscriptionOf,
} from './small-data.ts';

const server = await startPostgres();
/** The topic of the calls whose charges are disturbed. */
const TOPIC = 'drought';
const SINGLE = pathTo(`/v1/${TOPIC}/risk`);

/** A service whose way to its accounts can be cut, and a way to look at them that cannot. */
async function setUp(t: TestContext, { patienceMs = 300, leaseMs = 450 } = {}) {
  const data = openSmallData(t, databaseFile(t), systemClock, Date.now());
  const url = await server.database();
  const proxy = await startTcpProxy(server.port, TOPIC);
  releaseLater(t, () => proxy[Symbol.asyncDispose]());
  const accounts = await openPostgresAccounts(
    url.replace(`:${server.port}/`, `:${proxy.port}/`),
    systemClock,
    {
      patienceMs,
      leaseMs,
    },
  );
  releaseLater(t, () => accounts[Symbol.asyncDispose]());
  await accounts.createAccount({ name: 'tester', subscription: subscriptionOf(1_000, 1_000) });
  const { key } = await accounts.createKey('tester', ['bundle', ...TOPIC_SLUGS], null);
  const errors: unknown[] = [];
  const service = await startService({
    data,
    accounts,
    port: 0,
    onError: (error) => errors.push(error),
  });
  releaseLater(t, () => service.close());
  const looks = new Pool({
    connectionString: url,
    options: '-c search_path=perilbook_accounts',
    max: 1,
  });
  looks.on('error', () => {});
  releaseLater(t, () => looks.end());
  const numberOf = async (sql: string) =>
    Number((await looks.query({ text: sql, rowMode: 'array' })).rows[0]![0]);
  const charged = async () => {
    // One statement: between two of them a charge may be taken back.
    const { rows: found } = await looks.query({
      text: `SELECT (SELECT coalesce(sum(credits), 0) FROM charges), (SELECT coalesce(sum(credits), 0) FROM periods),
        (SELECT coalesce(sum(minute_credits), 0) FROM minutes)`,
      rowMode: 'array',
    });
    const [rows, sums, minutes] = (found[0] as unknown[]).map(Number);
    assert.deepEqual([sums, minutes], [rows, rows], 'the sums are those of the charges');
    return rows!;
  };
  const call = (path = SINGLE) => request(service.url + path, key);
  return { proxy, errors, service, call, charged, numberOf };
}

/** Ends all connections to the database, and refuses new ones. */
function away(proxy: TcpProxy): void {
  proxy.refusing = true;
  proxy.cut();
}

for (const fault of ['request lost', 'answer lost', 'cut at once'] as const) {
  test(`a COMMIT of charges, ${fault}: the call is answered and charged once`, async (t) => {
    const { proxy, errors, call, charged, numberOf } = await setUp(t);
    assert.equal((await call()).status, 200);
    await until(
      async () =>
        (await numberOf('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')) === 0,
    );
    for (let calls = 2; calls <= 4; calls++) {
      proxy.commitFaults.push(fault);
      const { status, headers } = await call();
      assert.deepEqual(
        [status, headers.get('x-ratelimit-remaining')],
        [200, String(1_000 - calls)],
      );
      assert.equal(await charged(), calls);
    }
    assert.deepEqual([proxy.commitFaults, errors], [[], []]);
  });
}

test('the answer to COMMIT is lost and the server stays away: 502 for nothing, and the charge is taken back', async (t) => {
  const { proxy, errors, call, charged, numberOf } = await setUp(t);
  assert.equal((await call()).status, 200);
  await until(
    async () => (await numberOf('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')) === 0,
  );
  proxy.commitFaults.push('answer lost');
  const asked = call();
  await until(async () => proxy.commitFaults.length === 0 && (await charged()) === 2);
  away(proxy);
  const { status, body } = await asked;
  assert.deepEqual(
    [status, body.error.code, body.meta.credit_cost],
    [502, 'UPSTREAM_UNAVAILABLE', 0],
  );
  assert.equal(errors.length, 1);
  proxy.refusing = false;
  await until(async () => (await charged()) === 1);
  assert.equal((await call()).status, 200);
  assert.equal(await charged(), 2);
});

test('the server is away: calls cost nothing and say so, once in the log; when it is back, the service goes on', async (t) => {
  const { proxy, errors, call, charged } = await setUp(t, { patienceMs: 50 });
  assert.equal((await call()).status, 200);
  away(proxy);
  for (const path of [SINGLE, SINGLE, pathTo('/v1/bundle/enterprise')]) {
    const { status, body } = await call(path);
    assert.deepEqual(
      [status, body.error.code, body.meta.credit_cost],
      [502, 'UPSTREAM_UNAVAILABLE', 0],
    );
  }
  const codes = errors.map((error) => (error as { code: string }).code);
  assert.deepEqual(codes, ['ACCOUNTS_UNAVAILABLE']);
  proxy.refusing = false;
  assert.equal((await call()).status, 200);
  assert.equal(await charged(), 2);
});

test('an instance whose lease ended while it was frozen goes on under the same number', async (t) => {
  const { call, charged, numberOf } = await setUp(t, { leaseMs: 60_000 });
  assert.equal((await call()).status, 200);
  // As another instance does it.
  await numberOf('WITH gone AS (DELETE FROM instances RETURNING id) SELECT count(*) FROM gone');
  assert.equal((await call()).status, 200);
  assert.equal(await numberOf('SELECT count(*) FROM instances WHERE leased_until > clock_ms()'), 1);
  assert.equal(await charged(), 2);
});

test('a service ends although the server is away', async (t) => {
  const { proxy, call, service, errors } = await setUp(t, { patienceMs: 50 });
  assert.equal((await call()).status, 200);
  away(proxy);
  await service.close();
  assert.equal(errors.length, 1);
});
