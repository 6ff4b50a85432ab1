import type { Clock } from '../../base/clock.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { CellAreaFinder } from '../../data/tables/cell-area-finder.ts';
import type { Job } from '../../job/settings.ts';
import type { Streams } from '../../rows/open/open-row-file.ts';
import type { Store } from '../../store/port.ts';
import { type JobOfAccount, withLastTerms } from './account-state.ts';
import { ApiKeys } from './api-keys.ts';
import { type Connection, openSampleRows, type SampleRows } from './connection-kinds.ts';
import { type Freshness, makeFreshness } from './freshness.ts';
import { changedSince } from './local-data.ts';
import { newProgress, type Progress } from './progress.ts';
import { deadlineOf, type RunEnds } from './stop.ts';

/** Effects that a run gets from its caller. */
export interface Effects {
  readonly clock: Clock;
  readonly random: () => number;
  readonly streams: Streams;
  /** Called with messages that the user should see at once. */
  readonly notice: (message: string) => void;
  /** Called with a line for each request and each answer, for debugging; never with a key. */
  readonly trace?: (line: string) => void;
  /** How many threads read and write the rows beside the main one. Left out: the other cores, for large files. */
  readonly rowThreads?: number;
  /** How many bytes of the places' fields stay in memory, the rest is in a temporary file. Left out: 64 MB. */
  readonly placeBytes?: number;
  /** Opens the boundaries that a job with `areas` needs. @throws SERVICE_DATA when they are not here */
  readonly openAreas?: (job: Job) => OpenedAreas;
}

export interface OpenedAreas extends Disposable {
  readonly find: CellAreaFinder;
}

/** The shared values of all stages of a run, made before the scan and never changed. A stage takes them and the previous stage's result. */
export interface RunContext extends RunEnds {
  readonly job: Job;
  /** What the last run of the job's account used; null: not known. */
  readonly lastTerms: JobOfAccount['last'];
  readonly connection: Connection;
  readonly store: Store;
  /** The number of the connection's source in the store. */
  readonly source: number;
  readonly effects: Effects;
  readonly freshness: Freshness;
  readonly apiKeys: ApiKeys;
  readonly sampleRows: SampleRows;
  /** The rows are a batch of a run that began earlier. Its failed calls are not tried again, since they may have been charged. */
  readonly isContinued: boolean;
  /** The topics that the service was found to lack, with what a row says about them: buying adds to it. */
  readonly setAside: Map<TopicSlug, string>;
  readonly progress: Progress;
}

export interface RunOptions extends Pick<RunContext, 'connection' | 'store' | 'effects'> {
  readonly progress?: Progress;
  readonly interrupt?: AbortSignal;
  readonly isContinued?: boolean;
  /** The time at which ages are measured. Default: now; for local data the time of reading, as no answer may be later than the start. */
  readonly asOf?: number;
}

/** Makes the context of a job's run. @throws STORE_* */
export async function openContext(given: Job, options: RunOptions): Promise<RunContext> {
  const {
    connection,
    store,
    effects,
    progress = newProgress(),
    interrupt = new AbortController().signal,
  } = options;
  const { isContinued = false } = options;
  const { job, last: lastTerms } = await withLastTerms(given, store);
  const source = await store.source(connection.source);
  const data = connection.kind === 'local' ? connection.data : null;
  const { asOf = data === null ? effects.clock.now() : data.asOf } = options;
  return {
    job,
    lastTerms,
    connection,
    store,
    source,
    effects,
    freshness: makeFreshness(
      job,
      asOf,
      data === null ? undefined : (topic) => changedSince(data, topic, asOf),
    ),
    apiKeys: await ApiKeys.open(connection.kind === 'local' ? [] : connection.keys, store, source),
    sampleRows: await openSampleRows(connection, store, source),
    isContinued,
    setAside: new Map(),
    progress,
    deadline: deadlineOf(job, effects.clock),
    interrupt,
  };
}
