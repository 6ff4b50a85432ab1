import { TIMEOUTS } from '../../client/exchange.ts';
import { billingPeriod } from '../../contract/billing-period.ts';
import { creditsFor, type JobAccount } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import { isUsedUp, periodLeft } from '../../store/ledger/admission.ts';
import type { ClaimLimits, PeriodSpending } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';
import type { LedgerAccount } from '../../store/runs/port.ts';

export interface AccountState {
  readonly account: JobAccount;
  readonly period: { readonly start: number; readonly end: number };
  readonly spending: PeriodSpending;
  /** The service has said that the quota is used up, under the terms of this job. */
  readonly isUsedUp: boolean;
  /** Credits left for this job: allowance less reserve less spent; 0 where the quota is used up. */
  readonly available: number;
}

/** The period of an account now, and what a job may still spend of it: nothing where the service has called the quota used up.
 * @param keys fingerprints of the keys that the job uses; left out where they are not known */
export async function accountState(
  account: JobAccount,
  store: Store,
  now: number,
  keys?: readonly string[],
): Promise<AccountState> {
  const period = billingPeriod(account.anniversaryDay, now);
  const spending = await store.spending(account.name, period);
  const limit = periodLimit(account);
  const usedUp = isUsedUp(spending, limit, keys);
  const available = usedUp ? 0 : Math.max(0, periodLeft(spending, limit));
  return { account, period, spending, isUsedUp: usedUp, available };
}

/** Most credits of a period that a job may spend: the allowance and the overage that it allows, less the reserve. */
export function periodLimit(account: JobAccount): number {
  return Math.max(
    0,
    account.subscription.creditsPerMonth + account.overageCredits - account.reserve,
  );
}

/** Credits that are left before the provider bills overage. The reserve is taken from the overage first, then from the allowance. */
export function leftOfAllowance({ account, available }: AccountState): number {
  return Math.max(0, available - Math.max(0, account.overageCredits - account.reserve));
}

/** A call that has not begun so long after its claim was asked for is not sent: this process was stopped, or its database was away.
 * Its lease would end before it does, and another process would buy it too. */
export const BEGIN_WITHIN_MS = 60_000;

/** Longer than any call can take (the client's own deadline), so that a claim never expires while its call still runs. */
export const LEASE_MS = TIMEOUTS.connect + TIMEOUTS.total + BEGIN_WITHIN_MS;

/** The limits of an account at this moment, for calls of one run. */
export function claimLimits(
  account: JobAccount,
  periods: Pick<ClaimLimits, 'period' | 'countedSince'>,
  run: Pick<ClaimLimits, 'run' | 'source' | 'budget'>,
): ClaimLimits {
  const { creditsPerMinute } = account.subscription;
  const ofAccount = { account: account.name, periodLimit: periodLimit(account), creditsPerMinute };
  return { ...run, ...periods, ...ofAccount, leaseMs: LEASE_MS };
}

/** What the last run of an account used: its subscription, and the day on which its periods begin. */
type LastTerms = Pick<LedgerAccount, 'subscription' | 'anniversaryDay'>;

/** A job under the terms of its account's last run where it names none, and those terms. */
export interface JobOfAccount {
  readonly job: Job;
  /** Null: there was no such run, or it assumed its subscription. */
  readonly last: LastTerms | null;
}

/** Takes over what the last run of the account used, which a user has named: plan, quota and run speak of one subscription. */
export async function withLastTerms(
  job: Job,
  store: Pick<Store, 'ledgerAccounts'>,
): Promise<JobOfAccount> {
  // Local data and the sample have no terms to remember.
  if (job.service.kind !== 'remote') return { job, last: null };
  const last = (await store.ledgerAccounts()).find(({ name }) => name === job.account.name);
  if (last === undefined) return { job, last: null };
  const { isAssumed, isDayAssumed } = job.account;
  const account = {
    ...(isAssumed && !last.isAssumed ? applyTerms(job.account, last) : job.account),
    ...(isDayAssumed && !last.isDayAssumed
      ? { anniversaryDay: last.anniversaryDay, isDayAssumed: false }
      : {}),
  };
  // A day that nobody named is no difference.
  const said = last.isDayAssumed ? { ...last, anniversaryDay: account.anniversaryDay } : last;
  return { job: { ...job, account }, last: last.isAssumed ? null : said };
}

/** With another subscription the same dollars are other credits of overage, rounded down: never more dollars than allowed. */
function applyTerms(account: JobAccount, { subscription }: LastTerms): JobAccount {
  const dollars = account.overageCredits * (account.subscription.overageRate ?? 0);
  const { overageRate } = subscription;
  const overageCredits = overageRate ? creditsFor(dollars, overageRate) : 0;
  return { ...account, subscription, overageCredits, isAssumed: false };
}

/** Whether a job says otherwise than its account's last run. */
export function differsFrom({ subscription, anniversaryDay }: LastTerms, last: LastTerms): boolean {
  return (
    subscription.creditsPerMonth !== last.subscription.creditsPerMonth ||
    subscription.creditsPerMinute !== last.subscription.creditsPerMinute ||
    anniversaryDay !== last.anniversaryDay
  );
}
