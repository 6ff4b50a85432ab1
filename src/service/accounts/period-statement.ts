import { billingPeriod } from '../../contract/billing-period.ts';
import type { CallKind } from '../../contract/credits.ts';
import { read, type SqlWork, statement } from '../../sql/sql-work.ts';
import { periodStartOf, type ServiceAccount } from './service-account.ts';

/** The amount that an account owes for a billing period. Times are milliseconds since the epoch. */
export interface PeriodStatement {
  /** The start of the period. */
  readonly periodStart: number;
  /** The next anniversary; not part of the period. */
  readonly periodEnd: number;
  /** Whether the period has ended and so is final. */
  readonly isClosed: boolean;
  /** Charged calls of each kind. */
  readonly calls: Readonly<Record<CallKind, number>>;
  /** Credits that the subscription includes. */
  readonly allowance: number;
  /** Credits that were charged. */
  readonly creditsCharged: number;
  /** Credits of these that the subscription includes. */
  readonly creditsWithinAllowance: number;
  /** Credits beyond the allowance. */
  readonly overageCredits: number;
  /** US dollars for each of these; null if no rate is agreed. */
  readonly overageRate: number | null;
  /** US dollars for all of them; null if there are some without an agreed rate. */
  readonly overageDollars: number | null;
}

/** A billing period in which an account was charged. */
export interface ChargedPeriod extends Readonly<Record<CallKind, number>> {
  readonly periodStart: number;
  readonly credits: number;
  readonly allowance: number;
  readonly overageRate: number | null;
}

/** The amount that an account owes by billing period, the oldest first. */
export function* readStatement(account: ServiceAccount, now: number): SqlWork<PeriodStatement[]> {
  const sql = `SELECT period_start AS "periodStart", credits, single, standard, enterprise, allowance, overage_rate AS "overageRate"
    FROM periods WHERE account = $1 ORDER BY period_start`;
  const [rows] = yield* read(statement<ChargedPeriod>(sql, [account.id]));
  return makeStatements(rows, account, now);
}

/** The statement of an account by billing period, the oldest first. It always has the period that contains `now`. A past
 * period keeps the allowance and rate of its last call; the current period has the account's.
 * @param rows the periods in which it was charged, the oldest first */
export function makeStatements(
  rows: readonly ChargedPeriod[],
  account: ServiceAccount,
  now: number,
): PeriodStatement[] {
  const day = new Date(account.signedUpAt).getUTCDate();
  const current = periodStartOf(account, now);
  const charged = rows.map((row) =>
    makeStatement(row, account, billingPeriod(day, row.periodStart).end, now),
  );
  if (rows.some((row) => row.periodStart === current)) return charged;
  const unused = {
    credits: 0,
    single: 0,
    standard: 0,
    enterprise: 0,
    allowance: 0,
    overageRate: null,
  };
  const own = makeStatement(
    { ...unused, periodStart: current },
    account,
    billingPeriod(day, current).end,
    now,
  );
  return [...charged, own].sort((a, b) => a.periodStart - b.periodStart);
}

function makeStatement(
  row: ChargedPeriod,
  { subscription }: ServiceAccount,
  periodEnd: number,
  now: number,
): PeriodStatement {
  const { periodStart, single, standard, enterprise, credits: creditsCharged } = row;
  const isClosed = now >= periodEnd;
  const allowance = isClosed ? row.allowance : subscription.creditsPerMonth;
  const overageRate = isClosed ? row.overageRate : subscription.overageRate;
  const overageCredits = Math.max(0, creditsCharged - allowance);
  return {
    periodStart,
    periodEnd,
    isClosed,
    calls: { single, standard, enterprise },
    allowance,
    creditsCharged,
    creditsWithinAllowance: creditsCharged - overageCredits,
    overageCredits,
    overageRate,
    overageDollars: dollarsOf(overageCredits, overageRate),
  };
}

/** To the hundredth of a cent: rates are a few cents, and 3 credits at 0.04 are 0.12 and not 0.12000000000000001. */
function dollarsOf(credits: number, rate: number | null): number | null {
  if (credits === 0) return 0;
  return rate === null ? null : Math.round(credits * rate * 10_000) / 10_000;
}
