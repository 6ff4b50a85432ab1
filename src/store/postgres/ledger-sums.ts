import type { BillingPeriod } from '../../contract/billing-period.ts';
import type { Session } from '../../sql/postgres-pool.ts';
import type {
  ChargeState,
  Correction,
  StatementBy,
  StatementQuery,
  StatementRow,
  StoreStats,
  TimedCall,
} from '../port.ts';
import { lockAccounts, type ServerTime } from './account-locks.ts';

/** When a call counts: at its claim, but never before the period that it is charged to. */
const COUNTED_AT = 'greatest(calls.claimed_at, calls.period_start)';

const NAMES: Readonly<Record<StatementBy, string>> = {
  run: 'calls.run',
  job: 'runs.job COLLATE "C"',
  key: 'calls.key COLLATE "C"',
  kind: 'calls.kind COLLATE "C"',
  day: `to_char(to_timestamp(${COUNTED_AT} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') COLLATE "C"`,
};

/** Sums the ledger call by call, and not the sums that claims maintain, so that a statement also checks those. */
export async function readLedgerStatement(session: Session, query: StatementQuery): Promise<StatementRow[]> {
  const { by, account, period, job, from, to } = query;
  const values: unknown[] = [];
  const condition = (sql: (place: string) => string, value: unknown) =>
    value === undefined ? [] : [sql(`$${values.push(value)}`)];
  const conditions = [
    ...condition((place) => `calls.account = ${place}`, account),
    ...condition((place) => `calls.period_start = ${place}`, period?.start),
    ...condition((place) => `runs.job = ${place}`, job),
    ...condition((place) => `${COUNTED_AT} >= ${place}`, from),
    ...condition((place) => `${COUNTED_AT} < ${place}`, to),
  ];
  const needsRuns = by === 'run' || by === 'job' || job !== undefined;
  const sums = (['charged', 'free', 'unknown', 'sent'] as const)
    .map((charge) => {
      const those = `FILTER (WHERE charge = '${charge}')`;
      return `count(*) ${those} AS calls_${charge}, coalesce(sum(credits) ${those}, 0)::bigint AS credits_${charge}`;
    })
    .join(', ');
  const rows = await session.rows<Record<string, number> & { name: string | number; job: string | null }>(
    `SELECT ${NAMES[by]} AS name, ${by === 'run' ? 'runs.job' : 'NULL'} AS job, ${sums}
     FROM calls ${needsRuns ? 'JOIN runs ON runs.id = calls.run' : ''}
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     GROUP BY 1, 2 ORDER BY 1`,
    values,
  );
  return rows.map((row) => ({
    name: row.name,
    ...(row.job === null ? {} : { job: row.job }),
    calls: {
      charged: row.calls_charged!,
      free: row.calls_free!,
      unknown: row.calls_unknown!,
      inFlight: row.calls_sent!,
    },
    credits: { charged: row.credits_charged!, unknown: row.credits_unknown!, inFlight: row.credits_sent! },
  }));
}

/** The latest charged calls of a source, with their times. */
export async function latestCallTimes(
  session: Session,
  source: number,
  leaseMs: number,
): Promise<readonly TimedCall[]> {
  return session.rows<TimedCall & Record<string, unknown>>(
    `SELECT kind, settled_at - lease_until + $1 AS ms FROM calls
     WHERE id > (SELECT max(id) FROM calls) - 1000 AND source = $2 AND charge = 'charged' ORDER BY id DESC`,
    [leaseMs, source],
  );
}

/**
 * Corrects a period by what the provider's page says is spent, in the caller's transaction. Calls of unknown charge count as part
 * of the page's figure; calls in flight do not: the page may have been read before they were charged. What is counted in later
 * periods counts in this one as well, and the page's figure is all that does.
 */
export async function correctPeriod(
  session: Session,
  account: string,
  { start }: BillingPeriod,
  spentInAll: number,
  serverTime: ServerTime,
): Promise<Correction> {
  const [locked, [sums]] = await Promise.all([
    lockAccounts(session, [account], serverTime),
    session.rows<{ later: number }>(
      `SELECT coalesce(sum(charged + unknown + open), 0)::bigint AS later FROM periods WHERE account = $1 AND period_start > $2`,
      [account, start],
    ),
  ]);
  const [correction] = await session.rows<Correction & Record<string, unknown>>(
    `INSERT INTO periods AS known (account, period_start, elsewhere, corrected_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account, period_start) DO UPDATE SET elsewhere = $3 - known.charged - known.unknown, corrected_at = $4,
       exhausted_at = NULL, exhausted_left = NULL
     RETURNING elsewhere, corrected_at AS at`,
    [account, start, spentInAll - sums!.later, locked.now],
  );
  return correction!;
}

/** How many calls of each charge there are, and their credits. */
export async function chargeSums(session: Session): Promise<Pick<StoreStats, 'calls' | 'credits'>> {
  const rows = await session.rows<{ charge: ChargeState; calls: number; credits: number }>(
    'SELECT charge, count(*) AS calls, sum(credits)::bigint AS credits FROM calls GROUP BY charge',
  );
  const of = (charge: ChargeState) => rows.find((row) => row.charge === charge) ?? { calls: 0, credits: 0 };
  return {
    calls: {
      sent: of('sent').calls,
      charged: of('charged').calls,
      free: of('free').calls,
      unknown: of('unknown').calls,
    },
    credits: { charged: of('charged').credits, unknown: of('unknown').credits, open: of('sent').credits },
  };
}
