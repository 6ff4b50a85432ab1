import type { Clock } from '../../base/clock.ts';
import { memo } from '../../base/memo.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { CellAreaFinder } from '../../data/tables/cell-area-finder.ts';
import type { Job } from '../../job/settings.ts';
import { divideTopics } from '../../job/topic-choice.ts';
import type { Streams } from '../../rows/open/open-row-file.ts';
import type { Store } from '../../store/port.ts';
import { type JobOfAccount, withLastTerms } from './account-state.ts';
import { ApiKeys } from './api-keys.ts';
import {
  type Connection,
  lossSourceOf,
  openSampleRows,
  type SampleRows,
} from './connection-kinds.ts';
import { type Freshness, makeFreshness } from './freshness.ts';
import { changedSince, type LocalData } from './local-data.ts';
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

/** A source of a run's answers, and what it answers. */
export interface RunSource {
  /** With the topics that this source answers. */
  readonly job: Job;
  readonly connection: Connection;
  /** The number of the connection's source in the store. */
  readonly source: number;
  readonly freshness: Freshness;
}

/** The shared values of all stages of a run, made before the scan and never changed. A stage takes them and the previous stage's result. Its
 * job has all topics; connection and source are those of the first of `sources`. */
export interface RunContext extends RunSource, Omit<RunEnds, 'job'> {
  /** What the job asks, and after it the public data on this machine that answers what no service sells. */
  readonly sources: readonly [RunSource, ...RunSource[]];
  /** What the last run of the job's account used; null: not known. */
  readonly lastTerms: JobOfAccount['last'];
  readonly store: Store;
  /** Where loss rates come from; null for a job without losses, or without the data. */
  readonly losses: { readonly data: LocalData; readonly source: number } | null;
  readonly effects: Effects;
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
  const openSource = async (of: Connection, topics: Job['topics']): Promise<RunSource> => {
    const data = of.kind === 'local' ? of.data : null;
    const { asOf = data?.asOf ?? effects.clock.now() } = options;
    const own = { ...job, topics };
    const changed =
      data === null ? undefined : (topic: TopicSlug) => changedSince(data, topic, asOf);
    const source = await store.source(of.source);
    return { job: own, connection: of, source, freshness: makeFreshness(own, asOf, changed) };
  };
  const local = connection.kind === 'service' ? connection.beside : undefined;
  const { asked, beside } =
    local === undefined
      ? { asked: job.topics, beside: [] }
      : divideTopics(job.service.kind, job.topics);
  const first = await openSource(connection, asked);
  const besides = local === undefined ? [] : [await openSource(local, beside)];
  const { source, freshness } = first;
  const rates = lossSourceOf(connection, job);
  return {
    job,
    sources: [first, ...besides],
    lastTerms,
    connection,
    store,
    source,
    losses: rates && { data: rates.data, source: await store.source(rates.source) },
    effects,
    freshness: besides.length === 0 ? freshness : joinFreshness([first, ...besides]),
    apiKeys: await ApiKeys.open(connection.kind === 'local' ? [] : connection.keys, store, source),
    sampleRows: await openSampleRows(connection, store, source),
    isContinued,
    setAside: new Map(),
    progress,
    deadline: deadlineOf(job, effects.clock),
    interrupt,
  };
}

/** Each topic is as fresh as its source says; times are measured from the start of the first one. */
function joinFreshness([first, ...others]: RunContext['sources']): Freshness {
  const of = (topic: TopicSlug) => others.find(({ job }) => job.topics.includes(topic)) ?? first;
  return { ...first.freshness, freshSince: memo((topic) => of(topic).freshness.freshSince(topic)) };
}

/** The context of one source of a run: a stage that gets it knows no other topics. */
export function contextOf(context: RunContext, source: RunSource): RunContext {
  return { ...context, ...source, sources: [source] };
}
