import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { ANSWER, callAt, chargedFor, termsOf } from './claims.ts';

const server = await sharedPostgres();

const SCHEMA = 'grown';
const ROWS = 20_000;
const BATCHES = 15;
const BATCH = 20;
/** Rows that a claim and its settlement may read of all tables: those of the call, of its cell and of the sums. */
const ROWS_A_CALL = 30;

/** Rows that all sessions have read of each table of the schema, and how many calls they have inserted. */
async function rowsRead() {
  const tables = await server.query<{ table: string; read: string; inserted: string }>(
    `SELECT relname AS table, seq_tup_read + coalesce(idx_tup_fetch, 0) AS read, n_tup_ins AS inserted
     FROM pg_stat_user_tables WHERE schemaname = '${SCHEMA}'`,
  );
  const of = (name: string) => tables.find(({ table }) => table === name);
  return {
    inserted: Number(of('calls')?.inserted ?? 0),
    read: Object.fromEntries(tables.map(({ table, read }) => [table, Number(read)])),
  };
}

test('a store that was opened empty still reads only the rows of its calls when it has grown', async () => {
  const owner = { name: 'me', isAlive: () => true };
  const store = await openPostgresStore(server.storeAddress({ schema: SCHEMA }), systemClock, owner);
  const terms = await termsOf(store);
  const { run, source } = terms;
  const wanted = NATURAL_SLUGS.map((topic) => ({ topic, freshSince: 1 }));
  let calls = 0;
  async function buy(): Promise<void> {
    const claims = await store.claim(
      terms,
      Array.from({ length: BATCH }, () => ({ ...callAt(calls++), wanted })),
    );
    await store.settle(claims.map((claim) => chargedFor(claim, 15, { answers: [ANSWER] })));
  }
  // PostgreSQL plans a prepared statement anew five times, and keeps the plan that it then has.
  for (let batch = 0; batch < BATCHES; batch++) await buy();
  await server.query(
    `INSERT INTO ${SCHEMA}.cells (source, lat7, lng7) SELECT ${source}, 300000000, number FROM generate_series(1, ${ROWS}) number;
     INSERT INTO ${SCHEMA}.calls (run, source, account, period_start, key, kind, lat7, lng7, price, charge, credits, owner, claimed_at, lease_until)
       SELECT ${run}, ${source}, '${terms.account}', 0, 'k', 'standard', 0, number, 15, 'charged', 15, '', 0, 0 FROM generate_series(1, ${ROWS}) number`,
  );
  for (let batch = 0; batch < BATCHES; batch++) await buy();
  // A session reports what it has read when it ends.
  await store.close();
  let seen = await rowsRead();
  for (; seen.inserted < calls + ROWS; seen = await rowsRead()) await sleep(20);
  for (const table of ['cells', 'calls']) {
    const read = seen.read[table]!;
    assert.ok(read <= calls * ROWS_A_CALL, `${read} rows of ${table} were read for ${calls} calls`);
  }
});
