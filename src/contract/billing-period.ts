/** From one billing anniversary to the next: `start` is inside, `end` is not. Milliseconds since the epoch. */
export interface BillingPeriod {
  readonly start: number;
  readonly end: number;
}

/**
 * The billing period that holds `now`. The allowance resets on the day of the month of sign-up, not on the 1st
 * (docs/service-api.md, 7.2); in a month without a 29th, 30th or 31st, on its last day (7.3). Days are UTC and begin at 00:00.
 *
 * @param anniversaryDay day of the month of sign-up, 1 to 31
 * @param now milliseconds since the epoch
 */
export function billingPeriod(anniversaryDay: number, now: number): BillingPeriod {
  const date = new Date(now);
  const thisMonth = anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth());
  return now >= thisMonth
    ? { start: thisMonth, end: anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth() + 1) }
    : { start: anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth() - 1), end: thisMonth };
}

/** Provider and client may read clocks that are so far apart. */
export const CLOCKS_APART_MS = 60_000;

/**
 * Until when a refusal for want of quota holds that was said to a call of this moment: to the anniversary. Right behind one it
 * may still be the old period's, by a clock that is behind, and is asked about again when that can no longer be.
 */
export function refusalHoldsUntil(anniversaryDay: number, at: number): number {
  const { start, end } = billingPeriod(anniversaryDay, at);
  return at < start + CLOCKS_APART_MS ? start + CLOCKS_APART_MS : end;
}

/** The anniversary in a month; `month` may run over the year's ends (-1 is last December). */
function anniversaryIn(day: number, year: number, month: number): number {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(day, lastDay));
}
