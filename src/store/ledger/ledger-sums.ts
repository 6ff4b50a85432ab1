import { isoDay } from '../../base/format-numbers.ts';
import type { BillingPeriod } from '../../contract/billing-period.ts';
import {
  read,
  readTogether,
  type SqlDatabase,
  type SqlValue,
  type SqlWork,
  statement,
} from '../../sql/sql-work.ts';
import type { Charges, StoreStats } from '../port.ts';
import { type LedgerTime, lockAccounts } from './account-locks.ts';
import { periodSpendingOf } from './claim-usage.ts';
import type {
  ChargeState,
  Correction,
  StatementBy,
  StatementQuery,
  StatementRow,
  TimedCall,
} from './port.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Sums the ledger call by call and not from the sums that claims maintain, so that a statement checks these sums. */
export function* readLedgerStatement(
  { dialect }: SqlDatabase,
  query: StatementQuery,
): SqlWork<StatementRow[]> {
  const { by, account, period, job } = query;
  // The day of a call is that of its claim, but never before the period that it is charged to. So a call that was claimed before
  // the anniversary and charged after it counts on the first day of the new period.
  const countedAt = dialect.greatest('calls.claimed_at', 'calls.period_start');
  const names: Readonly<Record<StatementBy, string>> = {
    run: 'calls.run',
    job: 'runs.job',
    key: 'calls.key',
    kind: 'calls.kind',
    day: `${countedAt} / ${DAY_MS}`,
  };
  const values: SqlValue[] = [];
  // Adds only the given conditions, so that a statement by run uses its index alone.
  const condition = (sql: (parameter: string) => string, value: SqlValue | undefined) =>
    value === undefined ? [] : [sql(`$${values.push(value)}`)];
  const conditions = [
    ...condition((parameter) => `calls.account = ${parameter}`, account),
    // With the calls that another anniversary day has put into the period before, as `spending` counts them.
    ...condition(
      (parameter) =>
        `(calls.period_start = ${parameter} OR (calls.period_start < ${parameter} AND calls.claimed_at >= ${parameter}))`,
      period?.start,
    ),
    ...condition((parameter) => `runs.job = ${parameter}`, job),
  ];
  const needsRuns = by === 'run' || by === 'job' || job !== undefined;
  const sums = (['charged', 'free', 'unknown', 'sent'] as const)
    .map((charge) => {
      const filter = `FILTER (WHERE charge = '${charge}')`;
      return `count(*) ${filter} AS calls_${charge}, coalesce(sum(credits) ${filter}, 0) AS credits_${charge}`;
    })
    .join(', ');
  const [rows] = yield* read(
    statement<Record<string, number> & { name: string | number; job: string | null }>(
      `SELECT ${names[by]} AS name, ${by === 'run' ? 'runs.job' : 'NULL'} AS job, ${sums}
     FROM calls ${needsRuns ? 'JOIN runs ON runs.id = calls.run' : ''}
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     GROUP BY 1, 2 ORDER BY 1`,
      values,
    ),
  );
  return rows.map((row) => ({
    name: by === 'day' ? isoDay(Number(row.name) * DAY_MS) : row.name,
    ...(row.job === null ? {} : { job: row.job }),
    calls: {
      charged: row.calls_charged!,
      free: row.calls_free!,
      unknown: row.calls_unknown!,
      inFlight: row.calls_sent!,
    },
    credits: {
      charged: row.credits_charged!,
      unknown: row.credits_unknown!,
      inFlight: row.credits_sent!,
    },
  }));
}

/** How long the charged calls of a source took, of the last 1,000 in the ledger, newest first. A lease ends a fixed time after its
 * claim, so it tells when that was. */
export function* latestCallTimes(source: number, leaseMs: number): SqlWork<readonly TimedCall[]> {
  const sql = `SELECT kind, settled_at - lease_until + $1 AS ms FROM calls
    WHERE id > (SELECT max(id) FROM calls) - 1000 AND source = $2 AND charge = 'charged' ORDER BY id DESC`;
  const [calls] = yield* read(statement<TimedCall>(sql, [leaseMs, source]));
  return calls;
}

/** Corrects a period by the figure on the provider's page, in the caller's transaction. Calls of unknown charge count as part of the
 * page's figure, because the provider knows whether it charged them. Calls in flight do not: the page may have been read before they
 * were charged, and counting them twice for a minute is harmless. Credits counted in later periods are part of the figure too. */
export function* correctPeriod(
  ledger: LedgerTime,
  account: string,
  { start }: BillingPeriod,
  spentInAll: number,
): SqlWork<Correction> {
  const [locked] = yield* readTogether(lockAccounts(ledger, [account]));
  const { charged, unknown, later = 0 } = yield* periodSpendingOf(account, start);
  const [[correction]] = yield* read(
    statement<Correction>(
      `INSERT INTO periods (account, period_start, elsewhere, corrected_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account, period_start) DO UPDATE SET elsewhere = excluded.elsewhere, corrected_at = excluded.corrected_at,
         exhausted_at = NULL, exhausted_left = NULL
       RETURNING elsewhere, corrected_at AS at`,
      [account, start, spentInAll - later - charged - unknown, locked.now],
    ),
  );
  return correction!;
}

/** Credits that a source charged though the store has none of its answers; 0 where it has one: then no call is read. */
export function* readCreditsWithoutAnswers(source: number): SqlWork<number> {
  const sql = `SELECT CASE
      WHEN EXISTS (SELECT 1 FROM cells WHERE source = $1) OR EXISTS (SELECT 1 FROM areas WHERE source = $1) THEN 0
      ELSE (SELECT coalesce(sum(credits), 0) FROM calls WHERE source = $1 AND charge = 'charged')
    END AS credits`;
  const [[row]] = yield* read(statement<{ credits: number }>(sql, [source]));
  return Number(row!.credits);
}

/** Calls and credits of the whole ledger, and those of the sources that `chargesOf` picks. */
export function* readChargeStats(): SqlWork<Charges & Pick<StoreStats, 'chargesOf'>> {
  const sql = `SELECT sources.name AS source, charge, count(*) AS calls, sum(credits) AS credits
    FROM calls JOIN sources ON sources.id = calls.source GROUP BY sources.name, charge`;
  const [rows] = yield* read(
    statement<{ source: string; charge: ChargeState; calls: number; credits: number }>(sql),
  );
  return {
    ...sumCharges(rows),
    chargesOf: (isOne) => sumCharges(rows.filter(({ source }) => isOne(source))),
  };
}

function sumCharges(
  rows: readonly { charge: ChargeState; calls: number; credits: number }[],
): Charges {
  const calls = { sent: 0, charged: 0, free: 0, unknown: 0 };
  const credits = { ...calls };
  for (const row of rows) {
    calls[row.charge] += row.calls;
    credits[row.charge] += row.credits;
  }
  return {
    calls,
    credits: { charged: credits.charged, unknown: credits.unknown, open: credits.sent },
  };
}

/** Whether an account was charged for calls of other keys and never of this one. In two steps, so that a key that was used is found in its
 * first call: only a new one reads them all. */
export function* isNewKey(account: string, key: string): SqlWork<boolean> {
  const charged =
    "SELECT 1 AS found FROM calls WHERE account = $1 AND credits > 0 AND charge = 'charged'";
  const [own] = yield* read(statement(`${charged} AND key = $2 LIMIT 1`, [account, key]));
  if (own.length > 0) return false;
  const [others] = yield* read(statement(`${charged} AND key <> $2 LIMIT 1`, [account, key]));
  return others.length > 0;
}
