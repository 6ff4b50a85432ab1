import { CREDITS } from '../contract/credits.ts';
import type { LocalData } from './look-up/local-data.ts';
import type { Key } from './plan/api-keys.ts';
import type { JobAccount } from './settings/account-settings.ts';
import type { Job } from './settings/settings.ts';

/** Where a run's answers come from. Only planning and the step that gets answers know the kind. */
export type Connection = ServiceConnection | LocalConnection;

/** A service that answers are bought from: its address, the keys, and whose answers it gives. */
export interface ServiceConnection {
  readonly kind: 'service';
  readonly baseUrl: string;
  /** Names the service and its data set in the store: answers of two sources never mix. */
  readonly source: string;
  /** All answers are sample data. A service may also say so in its answers (`SampleRows`). */
  readonly sample: boolean;
  readonly keys: readonly Key[];
}

/** The agencies' data on this machine: free, and never made up. */
export interface LocalConnection {
  readonly kind: 'local';
  readonly source: string;
  readonly sample: false;
  readonly data: LocalData;
}

/** Calls to the embedded service that are in flight: they share its transactions and the store's. With 8, twice the processor time. */
const SAMPLE_CALLS_AT_ONCE = 32;

/** More than any machine makes calls for. */
export const SAMPLE_CREDITS_PER_MINUTE = 1_000_000_000;

/**
 * The job as its calls are paid for. Made-up answers wait for no minute: a first try with 3,000 rows and two topics took twenty of them.
 * The plan tells the time that a paid service takes. A minute that is too small for a bundle stays, since the plan has no bundle then.
 */
export function purchaseJob(job: Job, { sample }: Pick<Connection, 'sample'>): Job {
  if (!sample) return job;
  const accountOf = (account: JobAccount): JobAccount => {
    const { subscription } = account;
    if (subscription.creditsPerMinute < CREDITS.enterprise) return account;
    return { ...account, subscription: { ...subscription, creditsPerMinute: SAMPLE_CREDITS_PER_MINUTE } };
  };
  const concurrency = Math.max(job.concurrency, SAMPLE_CALLS_AT_ONCE);
  return { ...job, concurrency, account: accountOf(job.account), accounts: job.accounts.map(accountOf) };
}
