import { type Call, type CallKind, CREDITS } from '../../contract/credits.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import {
  type EngineDialect,
  read,
  type SqlReading,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import {
  ACCOUNT_COLUMNS,
  type AccountRow,
  parseAccount,
  periodStartOf,
  type ServiceAccount,
} from './service-account.ts';

/** The rule for a call that costs more than the rest of the period, with overages off: it is refused or, in another reading of
 * the contract (docs/developer/service-api.md, 7.9), served while any credit is left. */
export type LastCall = 'refused' | 'served';

/** Charges less than this ahead of the clock, in milliseconds, do not mean that the clock was set back: another instance
 * may have charged after this one read the clock and before it got the lock. */
const CLOCK_DIFFERENCE_MS = 1_000;

/** The usage of an account before a batch of calls, and the batch's additions. */
export interface BatchTotal {
  readonly account: ServiceAccount;
  readonly before: {
    /** The time of the batch, in milliseconds since the epoch. */
    readonly now: number;
    readonly periodStart: number;
    readonly periodCredits: number;
    /** Charges after this time count in the minute. */
    readonly minuteFrom: number;
    readonly minuteCredits: number;
  };
  /** The credits and the calls of the batch. */
  credits: number;
  readonly calls: Record<CallKind, number>;
}

/** A call that was added to the total of its account. */
export interface AddedCharge {
  readonly credits: number;
  /** The credits a minute of the account, and what remains of them. */
  readonly limit: number;
  readonly remaining: number;
}

/** Why a call may not be charged now. `retryAfter`: whole seconds until it would fit, rounded up. */
export type ChargeRefusal =
  | { readonly failure: 'QUOTA_EXCEEDED' }
  | { readonly failure: 'RATE_LIMITED'; readonly retryAfter: number };

/** Why a call may not be charged: the period lacks credits, or the minute lacks this many; null: it may. */
export type LimitRefusal = 'period' | { readonly missing: number } | null;

/** Why a call would be refused after the calls of a total. */
export function findRefusal(total: BatchTotal, { kind }: Call, lastCall: LastCall): LimitRefusal {
  const { account, before, credits: added } = total;
  const credits = CREDITS[kind];
  const { creditsPerMonth, creditsPerMinute } = account.subscription;
  const left = creditsPerMonth - before.periodCredits - added;
  if (!account.overages && left < (lastCall === 'refused' ? credits : 1)) return 'period';
  const missing = before.minuteCredits + added + credits - creditsPerMinute;
  return missing > 0 ? { missing } : null;
}

/** Adds an allowed call to the total of its account. */
export function addCharge(total: BatchTotal, { kind }: Call): AddedCharge {
  const credits = CREDITS[kind];
  total.credits += credits;
  total.calls[kind] += 1;
  const { creditsPerMinute: limit } = total.account.subscription;
  return { credits, limit, remaining: limit - total.before.minuteCredits - total.credits };
}

interface LeavingCharge {
  readonly chargedAt: number;
  readonly credits: number;
}

/** The time of the charge with which this many credits will have left the minute, or null.
 * @param charges of the minute, the oldest first */
export function freedBy(charges: readonly LeavingCharge[], missing: number): number | null {
  let freed = 0;
  for (const { chargedAt, credits } of charges) {
    freed += credits;
    if (freed >= missing) return chargedAt;
  }
  return null;
}

/** Seconds until a call fits that the minute refused.
 * @param freedAt the result of `freedBy`; null if the call costs more than the limit and never fits: then a whole minute */
export function computeRetryAfter(freedAt: number | null, now: number): number {
  return Math.ceil(Math.min((freedAt ?? now) + RATE_WINDOW_MS - now, RATE_WINDOW_MS) / 1_000);
}

/** A row of `selectUsage`: an account and its usage at the time `now`; null if it was never charged. */
export interface UsageRow extends AccountRow {
  readonly now: number;
  readonly minuteFrom: number | null;
  /** The running sum of the minute, and the credits that have left it since. */
  readonly minuteCredits: number | null;
  readonly leftMinute: number;
  readonly periodStart: number | null;
  readonly periodCredits: number | null;
}

/** Selects an account and its usage.
 * @param account its id, as an SQL expression */
export function selectUsage({ now }: EngineDialect, account: string): string {
  const minute = (column: string) => `(SELECT ${column} FROM minutes WHERE account = a.id)`;
  // No JOIN: it takes SQLite ten times as long for one row (60 µs). LIMIT: the clock is read once.
  return `SELECT a.now, ${ACCOUNT_COLUMNS}, ${minute('minute_from')} AS "minuteFrom", ${minute('minute_credits')} AS "minuteCredits",
      (SELECT coalesce(sum(credits), 0) FROM charges WHERE account = a.id AND charged_at > ${minute('minute_from')}
         AND charged_at <= a.now - ${RATE_WINDOW_MS}) AS "leftMinute",
      (SELECT max(period_start) FROM periods WHERE account = a.id AND period_start <= a.now) AS "periodStart",
      (SELECT credits FROM periods WHERE account = a.id AND period_start <= a.now
       ORDER BY period_start DESC LIMIT 1) AS "periodCredits"
    FROM (SELECT *, ${now} AS now FROM accounts WHERE id = ${account} LIMIT 1) a`;
}

/** Locks accounts in the given order, and then reads the usage of each by statements that see what was committed before the lock. */
export function lockedUsage(
  dialect: EngineDialect,
  accounts: readonly number[],
): SqlReading<UsageRow[]> {
  const sql = selectUsage(dialect, '$1');
  return {
    statements: [
      ...lockAccounts(dialect, accounts),
      ...accounts.map((account) => statement(sql, [account])),
    ],
    take: (rows) => rows.slice(-accounts.length).flat() as UsageRow[],
  };
}

/** Lock an account before charging it or reversing a charge. Lock several in the order of their ids, or two processes could deadlock. */
export function lockAccounts(
  { forUpdate }: EngineDialect,
  accounts: readonly number[],
): readonly SqlStatement[] {
  return accounts.map((account) =>
    statement(`SELECT id FROM accounts WHERE id = $1 ${forUpdate}`, [account]),
  );
}

/** Whether the clock was set back, so that the running sum of the minute is useless. */
function isSetBack({ minuteFrom, now }: UsageRow): boolean {
  return now - RATE_WINDOW_MS < (minuteFrom ?? 0);
}

/** The total of an account before the first call of a batch. If the clock was set back, the charging transaction decides on the minute.
 * @param minuteCredits the credits of the minute */
export function totalOfRow(
  row: UsageRow,
  minuteCredits: number = isSetBack(row) ? 0 : (row.minuteCredits ?? 0) - row.leftMinute,
): BatchTotal {
  const account = parseAccount(row);
  const { now } = row;
  const periodStart = periodStartOf(account, now);
  const periodCredits = row.periodStart === periodStart ? row.periodCredits! : 0;
  const before = {
    now,
    periodStart,
    periodCredits,
    minuteFrom: now - RATE_WINDOW_MS,
    minuteCredits,
  };
  const calls: Record<CallKind, number> = { single: 0, standard: 0, enterprise: 0 };
  return { account, before, credits: 0, calls };
}

/** The same in the charging transaction, which has locked the account. */
export function* lockedTotal(row: UsageRow): SqlWork<BatchTotal> {
  return totalOfRow(row, isSetBack(row) ? yield* creditsAfterSetBack(row) : undefined);
}

/** The credits of the minute after the clock was set back, or after a failover to a server with a slow clock: charges that had left
 * the minute are in it again. Charges in the future would fill the minute until the clock has caught up, so all are moved back
 * until the newest is at the present time. Then no caller waits for more than a minute, and no minute exceeds the limit. */
function* creditsAfterSetBack({ id, now }: UsageRow): SqlWork<number> {
  const minuteFrom = now - RATE_WINDOW_MS;
  const [[newest]] = yield* read(
    statement<{ readonly at: number | null }>(
      'SELECT max(charged_at) AS at FROM charges WHERE account = $1',
      [id],
    ),
  );
  const ahead = (newest!.at ?? now) - now;
  const isAhead = ahead > CLOCK_DIFFERENCE_MS;
  if (isAhead) {
    const sql =
      'UPDATE charges SET charged_at = charged_at - $2 WHERE account = $1 AND charged_at > $3';
    yield* write(statement(sql, [id, ahead, now]));
  }
  const sql =
    'SELECT coalesce(sum(credits), 0) AS credits FROM charges WHERE account = $1 AND charged_at > $2';
  const [[sum]] = yield* read(statement<{ readonly credits: number }>(sql, [id, minuteFrom]));
  const { credits } = sum!;
  if (isAhead) {
    const sql = 'UPDATE minutes SET minute_from = $2, minute_credits = $3 WHERE account = $1';
    yield* write(statement(sql, [id, minuteFrom, credits]));
  }
  return credits;
}

/** Why each call is refused, or null; for the minute limit, with the seconds until the call fits. */
export function* chargeRefusals(
  calls: readonly { readonly total: BatchTotal; readonly refusal: LimitRefusal }[],
): SqlWork<(ChargeRefusal | null)[]> {
  const missingOf = new Map<BatchTotal, number>();
  for (const { total, refusal } of calls) {
    if (refusal === null || refusal === 'period') continue;
    missingOf.set(total, Math.max(missingOf.get(total) ?? 0, refusal.missing));
  }
  // Each charge is a credit or more, so this many charges are enough.
  const rows = yield* read(
    ...[...missingOf].map(([{ account, before }, missing]) =>
      statement<LeavingCharge>(
        `SELECT charged_at AS "chargedAt", credits FROM charges WHERE account = $1 AND charged_at > $2
         ORDER BY charged_at LIMIT $3`,
        [account.id, before.minuteFrom, missing],
      ),
    ),
  );
  const leaving = new Map([...missingOf.keys()].map((total, index) => [total, rows[index]!]));
  return calls.map(({ total, refusal }) => {
    if (refusal === null) return null;
    if (refusal === 'period') return { failure: 'QUOTA_EXCEEDED' };
    const freed = freedBy(leaving.get(total)!, refusal.missing);
    return { failure: 'RATE_LIMITED', retryAfter: computeRetryAfter(freed, total.before.now) };
  });
}
