import { billingPeriod } from '../../contract/billing-period.ts';

export interface Allowance {
  /** Credits that are left of this period, less the reserve. */
  readonly available: number;
  /** Credits of a whole later period, less the reserve. */
  readonly perPeriod: number;
  readonly creditsPerMinute: number;
  readonly anniversaryDay: number;
}

export interface Forecast {
  readonly fits: boolean;
  /** Minutes of buying, in all periods together; 0 if all fits into the first minute. */
  readonly minutes: number;
  /** Billing periods in which credits are spent; null when the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made: milliseconds since the epoch; null when never. */
  readonly finishBy: number | null;
}

const MINUTE_MS = 60_000;

/** A hundred years of months: a run that takes longer never ends. */
const MOST_PERIODS = 1_200;

/** Whole minutes in which so many credits are spent: the larger of what the minute limit takes and what the calls take.
 * @param msPerCredit milliseconds that the calls take for a credit, with all connections in use (`call-times.ts`) */
export function minutesFor(credits: number, creditsPerMinute: number, msPerCredit: number): number {
  // The credits of the first minute may be spent at once.
  return Math.max(0, Math.ceil(credits / creditsPerMinute) - 1, Math.round((credits * msPerCredit) / MINUTE_MS));
}

/** When `credits` will have been spent, if everything is bought as soon as rate, quota and the calls allow. */
export function forecast(credits: number, allowance: Allowance, now: number, msPerCredit = 0): Forecast {
  const { available, perPeriod, creditsPerMinute, anniversaryDay } = allowance;
  const minutes = (amount: number) => minutesFor(amount, creditsPerMinute, msPerCredit);
  if (credits <= available) {
    const needed = minutes(credits);
    return { fits: true, minutes: needed, periods: credits > 0 ? 1 : 0, finishBy: now + needed * MINUTE_MS };
  }
  if (perPeriod <= 0) return { fits: false, minutes: minutes(credits), periods: null, finishBy: null };
  const later = credits - Math.max(0, available);
  const wholePeriods = Math.ceil(later / perPeriod);
  if (wholePeriods > MOST_PERIODS) return { fits: false, minutes: minutes(credits), periods: null, finishBy: null };
  let start = now;
  for (let period = 0; period < wholePeriods; period++) start = billingPeriod(anniversaryDay, start).end;
  const last = later - (wholePeriods - 1) * perPeriod;
  return {
    fits: false,
    minutes: minutes(Math.max(0, available)) + (wholePeriods - 1) * minutes(perPeriod) + minutes(last),
    periods: wholePeriods + (available > 0 ? 1 : 0),
    finishBy: start + minutes(last) * MINUTE_MS,
  };
}
