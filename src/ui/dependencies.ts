import type { Clock } from '../clock.ts';
import type { Connection } from '../job/prepare.ts';
import type { JobFile } from '../job/settings/job-file.ts';
import type { Job } from '../job/settings/settings.ts';
import type { Store } from '../store/port.ts';

/** What the page works with; whoever starts it lends it, and takes it back after `close`. */
export interface UiDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  /** The job that the page's words make, laid over the account and the service that the ui was started with. */
  readonly jobOf: (said: JobFile) => Job;
  /** The way to the service that answers a job, key and all. The page never sees it. */
  readonly connectionOf: (job: Job) => Promise<Connection>;
  /** The report of a job as its latest run left it, one HTML page; null where none can be made. */
  readonly reportOf: ((job: Job) => Promise<string>) | null;
  /** The folder in which uploads and outputs lie. */
  readonly workspace: string;
  /** From where a path that the user types is read. */
  readonly workingFolder: string;
  /** A file that was named at the start, to be shown first. */
  readonly first: string | null;
  /** Largest upload, in bytes. */
  readonly mostUpload: number;
  /** No run may have a larger budget; null where nobody said one. */
  readonly mostBudget: number | null;
}
