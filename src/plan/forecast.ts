import { billingPeriod } from '../contract/billing-period.ts';

/** What an account may still spend. */
export interface Allowance {
  /** Credits that are left of this period, reserve taken off. */
  readonly available: number;
  /** Credits that a whole later period brings, reserve taken off. */
  readonly perPeriod: number;
  readonly creditsPerMinute: number;
  readonly anniversaryDay: number;
}

export interface Forecast {
  /** All of it can be bought within this period. */
  readonly fits: boolean;
  /** Minutes of buying at the rate limit, in all periods together; 0 for what fits into the first minute. */
  readonly minutes: number;
  /** Billing periods in which credits are spent; null when the allowance never suffices. */
  readonly periods: number | null;
  /** When the last call is made: milliseconds since the epoch; null when never. */
  readonly finishBy: number | null;
}

const MINUTE_MS = 60_000;

/** When `credits` will have been spent, if all is bought as soon as rate and quota allow. */
export function forecast(credits: number, allowance: Allowance, now: number): Forecast {
  const { available, perPeriod, creditsPerMinute, anniversaryDay } = allowance;
  const minutes = (amount: number) => Math.max(0, Math.ceil(amount / creditsPerMinute) - 1);
  if (credits <= available) {
    const needed = minutes(credits);
    return { fits: true, minutes: needed, periods: credits > 0 ? 1 : 0, finishBy: now + needed * MINUTE_MS };
  }
  if (perPeriod <= 0) return { fits: false, minutes: minutes(credits), periods: null, finishBy: null };
  let left = credits - Math.max(0, available);
  let spentIn = available > 0 ? 1 : 0;
  let total = available > 0 ? minutes(available) : 0;
  let start = billingPeriod(anniversaryDay, now).end;
  for (;;) {
    const amount = Math.min(left, perPeriod);
    spentIn++;
    total += minutes(amount);
    left -= amount;
    if (left <= 0) {
      return { fits: false, minutes: total, periods: spentIn, finishBy: start + minutes(amount) * MINUTE_MS };
    }
    start = billingPeriod(anniversaryDay, start).end;
  }
}
