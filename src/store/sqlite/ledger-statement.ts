import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { BillingPeriod } from '../../contract/billing-period.ts';
import type { Correction, StatementBy, StatementQuery, StatementRow, TimedCall } from '../port.ts';
import { laterCreditsOf } from './spending-sums.ts';

interface StatementSums {
  readonly name: string | number;
  readonly job: string | null;
  readonly callsCharged: number;
  readonly callsFree: number;
  readonly callsUnknown: number;
  readonly callsInFlight: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
}

/** When a call counts: at its claim, but never before the period that it is charged to. So a call that was claimed before the
 * anniversary and charged after it counts on the first day of the new period. */
const COUNTED_AT = 'max(calls.claimed_at, calls.period_start)';

const NAMES: Readonly<Record<StatementBy, string>> = {
  run: 'calls.run',
  job: 'runs.job',
  key: 'calls.key',
  kind: 'calls.kind',
  day: `strftime('%Y-%m-%d', ${COUNTED_AT} / 1000, 'unixepoch')`,
};

/**
 * Sums the ledger call by call, and not the sums that claims maintain, so that a statement also checks those.
 */
export function readStatement(database: Database.Database, query: StatementQuery): StatementRow[] {
  const { by, account, period, job, from, to } = query;
  // Only the conditions that are asked for, so that a statement by run uses its index alone.
  const conditions = [
    account === undefined ? '' : 'calls.account = @account',
    period === undefined ? '' : 'calls.period_start = @period',
    job === undefined ? '' : 'runs.job = @job',
    from === undefined ? '' : `${COUNTED_AT} >= @from`,
    to === undefined ? '' : `${COUNTED_AT} < @to`,
  ].filter(Boolean);
  const needsRuns = by === 'run' || by === 'job' || job !== undefined;
  const rows = database
    .prepare<[Record<string, unknown>], StatementSums>(
      `SELECT ${NAMES[by]} AS name, ${by === 'run' ? 'runs.job' : 'NULL'} AS job,
         sum(charge = 'charged') AS callsCharged, sum(charge = 'free') AS callsFree,
         sum(charge = 'unknown') AS callsUnknown, sum(charge = 'sent') AS callsInFlight,
         sum(iif(charge = 'charged', credits, 0)) AS charged, sum(iif(charge = 'unknown', credits, 0)) AS unknown,
         sum(iif(charge = 'sent', credits, 0)) AS inFlight
       FROM calls ${needsRuns ? 'JOIN runs ON runs.id = calls.run' : ''}
       ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
       GROUP BY 1 ORDER BY 1`,
    )
    .all({ account, period: period?.start, job, from, to });
  return rows.map((sums) => ({
    name: sums.name,
    ...(sums.job === null ? {} : { job: sums.job }),
    calls: {
      charged: sums.callsCharged,
      free: sums.callsFree,
      unknown: sums.callsUnknown,
      inFlight: sums.callsInFlight,
    },
    credits: { charged: sums.charged, unknown: sums.unknown, inFlight: sums.inFlight },
  }));
}

/** The latest charged calls of a source, with their times. */
export function latestCallTimes(database: Database.Database, source: number, leaseMs: number): TimedCall[] {
  return database
    .prepare<[number, number], TimedCall>(
      `SELECT kind, settled_at - lease_until + ? AS ms FROM calls
       WHERE id > (SELECT max(id) FROM calls) - 1000 AND source = ? AND charge = 'charged' ORDER BY id DESC`,
    )
    .all(leaseMs, source);
}

/**
 * Prepares the correction of a period by what the provider's page says is spent. Runs inside the caller's transaction.
 *
 * Calls of unknown charge count as part of the page's figure: the provider knows whether it charged them. Calls in flight do
 * not: the page may have been read before they were charged, and to count them twice for a minute costs nothing.
 */
export function correctionStatement(database: Database.Database, clock: Clock) {
  const correct = database.prepare<[Record<string, unknown>], Correction>(
    `INSERT INTO periods (account, period_start, elsewhere, corrected_at) VALUES (@account, @start, @spent, @now)
     ON CONFLICT DO UPDATE SET elsewhere = @spent - charged - unknown, corrected_at = @now,
       exhausted_at = NULL, exhausted_left = NULL
     RETURNING elsewhere, corrected_at AS at`,
  );
  const laterCredits = laterCreditsOf(database);
  // What is counted in later periods counts in this one as well, and the page's figure is all that does.
  return (account: string, { start }: BillingPeriod, spentInAll: number): Correction =>
    correct.get({ account, start, spent: spentInAll - laterCredits(account, start), now: clock.now() })!;
}
