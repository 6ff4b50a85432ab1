import { Pool } from 'pg';
import { systemClock } from '../../src/base/clock.ts';
import type { CallKind } from '../../src/contract/credits.ts';
import {
  openAccounts,
  openPostgresAccounts,
  sqliteAccounts,
} from '../../src/service/accounts/open-accounts.ts';
import type { ServiceAccounts } from '../../src/service/accounts/service-accounts.ts';
import type { SharedPostgres } from '../postgres-server.ts';
import { NOON, StillClock } from './small-data.ts';

/** A row of `charges`. */
export interface ChargeRow {
  readonly id: number;
  readonly kind: CallKind;
  readonly topic: string | null;
  readonly credits: number;
  readonly charged_at: number;
  readonly period_start: number;
}

/** Accounts of one of the two stores, on a clock that the test moves, and a look behind the port. */
export interface AccountsUnderTest extends AsyncDisposable {
  readonly port: ServiceAccounts;
  now(): number;
  moveClock(ms: number): Promise<void>;
  charges(account: number): Promise<readonly ChargeRow[]>;
  periods(account: number): Promise<readonly PeriodRow[]>;
}

/** Start, credits, singles, standard and enterprise bundles of a period. */
type PeriodRow = [number, number, number, number, number];

export async function sqliteUnderTest(): Promise<AccountsUnderTest> {
  const clock = new StillClock();
  const database = openAccounts(':memory:');
  return {
    port: sqliteAccounts(database, clock),
    now: () => clock.at,
    moveClock: async (ms) => {
      clock.at += ms;
    },
    charges: async (account) => database.prepare<[number], ChargeRow>(CHARGES('?')).all(account),
    periods: async (account) =>
      database.prepare<[number], PeriodRow>(PERIODS('?')).raw().all(account),
    [Symbol.asyncDispose]: async () => void database.close(),
  };
}

/** So long that no lease ends while a test moves the clock; a third of it still fits a timer. */
const LEASE_MS = 6_000_000_000;

/** In a database of its own, whose clock is a row that the test writes. */
export async function postgresUnderTest(server: SharedPostgres): Promise<AccountsUnderTest> {
  const url = await server.database();
  const port = await openPostgresAccounts(url, systemClock, { leaseMs: LEASE_MS });
  const pool = new Pool({ connectionString: url, options: '-c search_path=perilbook_accounts' });
  // The server may stop before the connections of a pool that has ended are closed.
  pool.on('error', () => {});
  await pool.query(`CREATE TABLE test_clock AS SELECT ${NOON}::bigint AS now`);
  await pool.query(
    "CREATE OR REPLACE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql AS 'SELECT now FROM perilbook_accounts.test_clock'",
  );
  let at = NOON;
  const rowsOf = async (text: string, account: number) =>
    (await pool.query({ text, values: [account], rowMode: 'array' })).rows;
  return {
    port,
    now: () => at,
    moveClock: async (ms) => {
      at += ms;
      await pool.query('UPDATE test_clock SET now = $1', [at]);
    },
    charges: async (account) =>
      (await rowsOf(CHARGES('$1'), account)).map(([id, kind, topic, ...numbers]) => {
        const [credits, charged_at, period_start] = numbers.map(Number) as [number, number, number];
        return { id: Number(id), kind, topic, credits, charged_at, period_start };
      }),
    periods: async (account) =>
      (await rowsOf(PERIODS('$1'), account)).map((row) => row.map(Number) as PeriodRow),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await port[Symbol.asyncDispose]();
    },
  };
}

const CHARGES = (place: string) =>
  `SELECT id, kind, topic, credits, charged_at, period_start FROM charges WHERE account = ${place} ORDER BY id`;
const PERIODS = (place: string) =>
  `SELECT period_start, credits, single, standard, enterprise FROM periods WHERE account = ${place} ORDER BY period_start`;
