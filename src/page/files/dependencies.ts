import { PassThrough } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { JobFile } from '../../job/job-file.ts';
import type { Job } from '../../job/settings.ts';
import type { Report } from '../../report/figures/gather-facts.ts';
import type { Connection } from '../../run/frame/connection-kinds.ts';
import type { Effects } from '../../run/frame/run-context.ts';
import type { Store } from '../../store/port.ts';

/** What the page needs from its caller, which closes the handles in it after the page. */
export interface UiDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: () => number;
  /** Makes a job from the page's settings, with the account and the service that the ui was started with. */
  readonly jobOf: (settings: JobFile) => Job;
  /** The connection for a job, with its keys. The page never gets it. */
  readonly connectionOf: (job: Job) => Promise<Connection>;
  /** The boundaries that find tracts and counties. @throws SERVICE_DATA when they are not here */
  readonly openAreas: NonNullable<Effects['openAreas']>;
  /** Checks that the boundaries are here without reading them, because the page asks often. @throws SERVICE_DATA */
  readonly requireAreas: (job: Job) => void;
  readonly reportOf: (job: Job) => Promise<Report>;
  /** Lists the public data that the topics of a job lack on this machine; null if there is none to download. With approval it downloads
   * and loads the data, and lists what was loaded. */
  readonly dataFor: (job: Job, isApproved: boolean) => Promise<string | null>;
  /** The folder for uploads and outputs. */
  readonly workspace: string;
  /** Paths that the user types are relative to it. */
  readonly workingFolder: string;
  readonly first: string | null;
  /** Largest budget of a run; null: no limit. */
  readonly mostBudget: number | null;
  /** 0: any free port. */
  readonly port: number;
  readonly onBug: (error: unknown) => void;
}

/** What the runs of the page get. Its jobs do not use the standard streams. */
export function pageEffects(
  { clock, random, openAreas }: UiDependencies,
  notice: Effects['notice'],
): Effects {
  return {
    clock,
    random,
    openAreas,
    notice,
    streams: { stdin: new PassThrough().end(), stdout: new PassThrough() },
  };
}
