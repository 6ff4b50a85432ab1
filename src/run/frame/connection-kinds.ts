import type { SampleMark } from '../../contract/answer.ts';
import { CREDITS } from '../../contract/credits.ts';
import { UNLIMITED } from '../../job/account-settings.ts';
import type { Job } from '../../job/settings.ts';
import type { HttpProxy } from '../../net/http-proxy.ts';
import type { Store } from '../../store/port.ts';
import type { Key } from './api-keys.ts';
import type { LocalData } from './local-data.ts';

/** Where a run's answers come from. Only planning and the step that gets answers know the kind. */
export type Connection = ServiceConnection | LocalConnection;

/** The data on this machine that loss rates come from, real or made up as the answers are. */
export interface LossSource {
  readonly data: LocalData;
  /** Names the data in the store. */
  readonly source: string;
}

/** A service that sells answers: its address, the keys, and the name of its answers in the store. */
export interface ServiceConnection {
  readonly kind: 'service';
  readonly baseUrl: string;
  /** Names the service and its data set in the store: answers of two sources never mix. */
  readonly source: string;
  /** All answers are sample data. A service may also say so in its answers (`SampleRows`). */
  readonly sample: boolean;
  readonly keys: readonly Key[];
  /** The way to the service; default: straight. */
  readonly proxy?: HttpProxy | null | undefined;
  /** Answers the topics of the job that no service sells; left out where there are none. */
  readonly beside?: LocalConnection;
  /** Of a job with losses; left out where there is no data. */
  readonly losses?: LossSource | null;
}

/** The agencies' data on this machine: free, and never made up. */
export interface LocalConnection {
  readonly kind: 'local';
  readonly source: string;
  readonly sample: false;
  readonly data: LocalData;
}

/** Where the loss rates of a job come from; null: it asks for none, or there is no data. */
export function lossSourceOf(
  connection: Connection,
  { losses }: Pick<Job, 'losses'>,
): LossSource | null {
  if (!losses) return null;
  return connection.kind === 'local' ? connection : (connection.losses ?? null);
}

/** Calls to the embedded service in flight at once. They share transactions: with 8 calls, buying takes twice the processor time. */
const SAMPLE_CALLS_AT_ONCE = 32;

/** The job, without a minute limit where answers are made up: otherwise a first try with 3,000 rows and two topics took twenty minutes. A limit too small for a bundle stays, because the plan then has no bundle. */
export function purchaseJob(job: Job, { sample }: Pick<Connection, 'sample'>): Job {
  if (!sample) return job;
  const { subscription } = job.account;
  const isLimited = subscription.creditsPerMinute < CREDITS.enterprise;
  const account = isLimited
    ? job.account
    : {
        ...job.account,
        subscription: { ...subscription, creditsPerMinute: UNLIMITED.creditsPerMinute },
      };
  const concurrency = Math.max(job.concurrency, SAMPLE_CALLS_AT_ONCE);
  return { ...job, concurrency, account };
}

/** All answers of the embedded service are sample data. */
const ALL: SampleMark = { until: Number.POSITIVE_INFINITY, still: true };
const NONE: SampleMark = { until: Number.NEGATIVE_INFINITY, still: false };

/** Which rows are sample data. */
export interface SampleRows {
  /** Reads the mark again, after buying. */
  refresh(): Promise<void>;
  /** Whether one of the rows checked so far is sample data. */
  readonly any: boolean;
  /** Whether the answers of a row are sample data, by the time of the oldest. */
  has(oldest: number): boolean;
}

/** Which rows are sample data. Only a service's answers tell that it serves sample data, so the mark is read again after
 * buying. Answers from before the mark then count as sample data too, because nothing proves that they are real. */
export async function openSampleRows(
  { sample }: Pick<Connection, 'sample'>,
  store: Store,
  source: number,
): Promise<SampleRows> {
  const readMark = async () => (sample ? ALL : ((await store.sampleMark(source)) ?? NONE));
  let mark = await readMark();
  let hasFound = false;
  return {
    async refresh(): Promise<void> {
      mark = await readMark();
    },
    get any(): boolean {
      return hasFound || mark.still;
    },
    has(oldest: number): boolean {
      const has = oldest <= mark.until;
      hasFound ||= has;
      return has;
    },
  };
}
