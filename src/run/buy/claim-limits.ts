import { billingPeriod } from '../../contract/billing-period.ts';
import { TIMEOUTS } from '../../fetch/exchange.ts';
import type { ClaimLimits } from '../../store/port.ts';
import { periodLimit } from '../plan/account-state.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Times } from './run-times.ts';

/** Longer than any call can take (the client's own deadline), so that a claim never expires while its call still runs. */
export const LEASE_MS = TIMEOUTS.connect + TIMEOUTS.total + 60_000;

/** The limits of an account at this moment, for calls of one run. */
export function claimLimits(
  account: JobAccount,
  { earliest, latest }: Times,
  run: Pick<ClaimLimits, 'run' | 'source' | 'budget' | 'plan'>,
): ClaimLimits {
  return {
    ...run,
    account: account.name,
    period: billingPeriod(account.anniversaryDay, latest),
    countedSince: billingPeriod(account.anniversaryDay, earliest).start,
    periodLimit: periodLimit(account),
    spentElsewhere: account.spentElsewhere,
    creditsPerMinute: account.subscription.creditsPerMinute,
    leaseMs: LEASE_MS,
  };
}
