import { creditsFor, type JobAccount } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import type { Store } from '../../store/port.ts';
import type { LedgerAccount } from '../../store/runs/port.ts';

/** What the last run of an account used: its subscription, and the day on which its periods begin. */
type LastTerms = Pick<LedgerAccount, 'subscription' | 'anniversaryDay'>;

/** A job under the terms of its account's last run where it names none, and those terms. */
export interface JobOfAccount {
  readonly job: Job;
  /** Null: there was no such run, or it assumed its subscription. */
  readonly last: LastTerms | null;
}

/** Takes over what the last run of the account used, so that plan, quota and run speak of one subscription. Nobody asked the service for
 * it, but a user has named it. */
export async function withLastTerms(job: Job, store: Pick<Store, 'ledgerAccounts'>): Promise<JobOfAccount> {
  // Local data and the sample have no terms to remember.
  if (job.service.kind !== 'remote') return { job, last: null };
  const last = (await store.ledgerAccounts()).find(({ name }) => name === job.account.name);
  if (last === undefined || last.isAssumed) return { job, last: null };
  const account = {
    ...(job.account.isAssumed ? subscribed(job.account, last) : job.account),
    ...(job.assumed.includes('anniversary_day') ? { anniversaryDay: last.anniversaryDay } : {}),
  };
  return { job: { ...job, account, assumed: job.assumed.filter((name) => name === 'topics') }, last };
}

/** With another subscription the same dollars are other credits of overage, rounded down: never more dollars than allowed. */
function subscribed(account: JobAccount, { subscription }: LastTerms): JobAccount {
  const dollars = account.overageCredits * (account.subscription.overageRate ?? 0);
  const { overageRate } = subscription;
  const overageCredits = dollars === 0 || !overageRate ? 0 : creditsFor(dollars, overageRate);
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
