import type { CallKind } from '../../contract/credits.ts';
import type { Forecast } from './forecast.ts';
import type { Price } from './prices.ts';

/** The size of each kind of call's body, in bytes, for a forecast of the download. Enterprise: 5 to 7 MB (docs/developer/service-api.md, 2.7). The
 * others are the means of our own service over its sample cities, rounded up. */
export const BODY_BYTES: Readonly<Record<CallKind, number>> = {
  single: 20_000,
  standard: 60_000,
  enterprise: 6_000_000,
};

/** One way to buy, and what it costs in credits, calls, bytes, time and dollars. */
export interface Way {
  readonly price: Price;
  readonly calls: number;
  readonly bytes: number;
  readonly forecast: Forecast;
  /** Dollars that the provider will bill for credits beyond the allowance; 0 where none are allowed. */
  readonly overageDollars: number;
}

export interface WayLimits {
  /** Credits that may be spent in this period. */
  readonly available: number;
  /** Credits of this period that are left before overage begins. */
  readonly withinAllowance: number;
  /** Dollars per credit beyond it; null where the subscription has none. */
  readonly overageRate: number | null;
}

/** Compares a price with what the accounts have left. */
export function weigh(price: Price, limits: WayLimits, forecast: Forecast): Way {
  const { single, standard, enterprise } = price.calls;
  const inThisPeriod = Math.min(price.credits, limits.available);
  const beyond = Math.max(0, inThisPeriod - limits.withinAllowance);
  return {
    price,
    calls: single + standard + enterprise,
    bytes: single * BODY_BYTES.single + standard * BODY_BYTES.standard + enterprise * BODY_BYTES.enterprise,
    forecast,
    // Whole cents: 3 × $0.04 is 0.12 and not 0.12000000000000001.
    overageDollars: Math.round(beyond * (limits.overageRate ?? 0) * 100) / 100,
  };
}
