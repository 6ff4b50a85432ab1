import { TIMEOUTS } from '../../client/exchange.ts';
import { billingPeriod } from '../../contract/billing-period.ts';
import type { JobAccount } from '../../job/account-settings.ts';
import { periodLeft } from '../../store/ledger/admission.ts';
import type { ClaimLimits, PeriodSpending } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';
import type { Times } from '../run-times.ts';

/** The account at a moment, by the ledger. */
export interface AccountState {
  readonly account: JobAccount;
  readonly period: { readonly start: number; readonly end: number };
  readonly spending: PeriodSpending;
  /** Credits left for this job: allowance less reserve less spent; 0 after the service has reported a used-up quota. */
  readonly available: number;
}

export async function accountState(account: JobAccount, store: Store, now: number): Promise<AccountState> {
  const period = billingPeriod(account.anniversaryDay, now);
  const spending = await store.spending(account.name, period);
  const left = periodLeft(spending, periodLimit(account));
  return {
    account,
    period,
    spending,
    available: spending.exhaustedAt === null ? Math.max(0, left) : 0,
  };
}

/** Most credits of a period that a job may spend: the allowance and the overage that it allows, less the reserve. */
export function periodLimit(account: JobAccount): number {
  return Math.max(0, account.subscription.creditsPerMonth + account.overageCredits - account.reserve);
}

/** Credits that are left before the provider bills overage. The reserve is taken from the overage first, then from the allowance. */
export function leftOfAllowance({ account, available }: AccountState): number {
  return Math.max(0, available - Math.max(0, account.overageCredits - account.reserve));
}

/** Longer than any call can take (the client's own deadline), so that a claim never expires while its call still runs. */
export const LEASE_MS = TIMEOUTS.connect + TIMEOUTS.total + 60_000;

/** The limits of an account at this moment, for calls of one run. */
export function claimLimits(
  account: JobAccount,
  { earliest, latest }: Times,
  run: Pick<ClaimLimits, 'run' | 'source' | 'budget'>,
): ClaimLimits {
  return {
    ...run,
    account: account.name,
    period: billingPeriod(account.anniversaryDay, latest),
    countedSince: billingPeriod(account.anniversaryDay, earliest).start,
    periodLimit: periodLimit(account),
    creditsPerMinute: account.subscription.creditsPerMinute,
    leaseMs: LEASE_MS,
  };
}
