import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { openPostgresAccounts } from '../../src/service/accounts/open-accounts.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { subscriptionOf } from './small-data.ts';

const server = await sharedPostgres();

const ROWS = 20_000;
const BATCHES = 15;
const BATCH = 20;
/** Rows of `charges` that a charge and its settlement may read: its own, and those of the minute, once for each batch. */
const ROWS_A_CHARGE = 40;

test('accounts that were opened empty still read only the rows of their charges when they have grown', async () => {
  const schema = 'grown_accounts';
  const accounts = await openPostgresAccounts(server.storeAddress({ schema }), systemClock);
  const { id: other } = await accounts.createAccount({ name: 'other', subscription: subscriptionOf(1e9, 1e6) });
  await accounts.createAccount({ name: 'one', subscription: subscriptionOf(1e9, 1e6) });
  const { id: keyId, key } = await accounts.createKey('one', ['hail'], null);
  const instance = await accounts.register((error) => assert.fail(String(error)));
  let charged = 0;
  let delivered: number[] = [];
  async function serve(): Promise<void> {
    const call = { kind: 'single', topic: 'hail' } as const;
    const checks = await instance.check(Array.from({ length: BATCH }, () => ({ key, call })));
    const calls = checks.map((check) => {
      assert.ok(typeof check === 'object' && check.refusal === null);
      return { caller: check.caller, call, requestId: randomUUID() };
    });
    const made = await instance.charge(calls, { delivered, undelivered: [] });
    delivered = made.map((charge) => ('id' in charge ? charge.id : assert.fail()));
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
  assert.ok(Number(rows.read) <= charged * ROWS_A_CHARGE, `${rows.read} rows were read for ${charged} charges`);
});
