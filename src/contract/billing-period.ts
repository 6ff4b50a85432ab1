/** From one billing anniversary to the next; `end` is exclusive. Milliseconds since the epoch. */
export interface BillingPeriod {
  readonly start: number;
  readonly end: number;
}

/** The billing period that contains `now`. The allowance resets on the day of the month of sign-up, not on the 1st
 * (docs/developer/service-api.md, 7.2); in a month too short for the 29th to 31st, on its last day. Days are UTC and begin at 00:00.
 * @param anniversaryDay day of the month of sign-up, 1 to 31
 * @param now milliseconds since the epoch */
export function billingPeriod(anniversaryDay: number, now: number): BillingPeriod {
  const date = new Date(now);
  const thisMonth = anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth());
  return now >= thisMonth
    ? {
        start: thisMonth,
        end: anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth() + 1),
      }
    : {
        start: anniversaryIn(anniversaryDay, date.getUTCFullYear(), date.getUTCMonth() - 1),
        end: thisMonth,
      };
}

/** How far the clocks of provider and client may differ. */
export const CLOCKS_APART_MS = 60_000;

/** Until when a refusal for exhausted quota is valid: until the next anniversary. Right after an anniversary, a slow clock may have
 * given it for the old period; then it is valid only until that is impossible. */
export function refusalHoldsUntil(anniversaryDay: number, at: number): number {
  const { start, end } = billingPeriod(anniversaryDay, at);
  return at < start + CLOCKS_APART_MS ? start + CLOCKS_APART_MS : end;
}

/** The anniversary in a month; `month` may be out of range (-1 is last December). */
function anniversaryIn(day: number, year: number, month: number): number {
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(day, lastDay));
}
