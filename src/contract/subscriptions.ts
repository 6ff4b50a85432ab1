/** A subscription that the provider sells (docs/developer/service-api.md, 7.1): credits a month, credits a minute, dollars per credit
 * of overage. */
export interface Subscription {
  /** The name of the subscription. */
  readonly name: SubscriptionName;
  /** Credits that a billing period includes. */
  readonly creditsPerMonth: number;
  /** The most credits in any minute. */
  readonly creditsPerMinute: number;
  /** US dollars for each credit beyond the allowance; null where none is agreed. */
  readonly overageRate: number | null;
}

export type SubscriptionName = 'starter' | 'professional' | 'custom';

export const SUBSCRIPTIONS = {
  starter: { name: 'starter', creditsPerMonth: 10_000, creditsPerMinute: 300, overageRate: 0.04 },
  professional: {
    name: 'professional',
    creditsPerMonth: 100_000,
    creditsPerMinute: 1_200,
    overageRate: 0.03,
  },
} as const satisfies Record<string, Subscription>;

/** A subscription with figures agreed with the provider. */
export function customSubscription(
  creditsPerMonth: number,
  creditsPerMinute: number,
  overageRate: number | null = null,
): Subscription {
  return { name: 'custom', creditsPerMonth, creditsPerMinute, overageRate };
}

/** The window of the rate limit. */
export const RATE_WINDOW_MS = 60_000;
