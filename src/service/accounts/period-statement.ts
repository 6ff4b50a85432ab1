import { billingPeriod } from '../../contract/billing-period.ts';
import type { CallKind } from '../../contract/credits.ts';
import { read, type SqlWork, statement } from '../../sql/sql-work.ts';
import { periodStartOf, type ServiceAccount } from './service-account.ts';

/** The amount that an account owes for a billing period. Times are milliseconds since the epoch. */
export type PeriodStatement = Readonly<ReturnType<typeof makeStatement>>;

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
) {
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
) {
  const { periodStart, single, standard, enterprise, credits: creditsCharged } = row;
  const isClosed = now >= periodEnd;
  const allowance = isClosed ? row.allowance : subscription.creditsPerMonth;
  const overageRate = isClosed ? row.overageRate : subscription.overageRate;
  const overageCredits = Math.max(0, creditsCharged - allowance);
  return {
    periodStart,
    /** The next anniversary; not part of the period. */
    periodEnd,
    /** Whether the period has ended and so is final. */
    isClosed,
    calls: { single, standard, enterprise },
    /** Credits that the subscription includes. */
    allowance,
    creditsCharged,
    creditsWithinAllowance: creditsCharged - overageCredits,
    overageCredits,
    /** US dollars per overage credit; null if no rate is agreed. */
    overageRate,
    /** US dollars for the overage credits; null if there are some without an agreed rate. */
    overageDollars: dollarsOf(overageCredits, overageRate),
  };
}

/** To the hundredth of a cent: rates are a few cents, and 3 credits at 0.04 are 0.12 and not 0.12000000000000001. */
function dollarsOf(credits: number, rate: number | null): number | null {
  if (credits === 0) return 0;
  return rate === null ? null : Math.round(credits * rate * 10_000) / 10_000;
}
