import { systemClock } from '../base/clock.ts';
import { enrichedFields } from '../columns/row.ts';
import { cellStatus } from '../columns/row-status.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { ConnectionContext } from '../host/connection.ts';
import { libraryHost } from '../host/run-host.ts';
import type { Job } from '../job/settings.ts';
import type { TopicName } from '../job/topic-choice.ts';
import { openSampleRows } from '../run/frame/connection-kinds.ts';
import { makeFreshness, timesOf } from '../run/frame/freshness.ts';
import { locate } from '../run/scan/read-row.ts';
import type { Store } from '../store/port.ts';
import { type AnswerSource, connectSource, jobOfSource, localPlaces } from './answer-source.ts';
import { type AnswerStore, defaultFolders, storeBehind } from './answer-store.ts';
import { checkOptions, isObjectOrArray, requireType, throwIfAborted } from './checked-settings.ts';
import {
  type AnswerSettings,
  columnNames,
  type EnrichedRow,
  enrich,
  enrichedRow,
  type Located,
} from './enrich.ts';

export interface PlaceOptions extends AnswerSettings {
  /** Needed for all sources but local data, whose answers are not stored. */
  readonly store?: AnswerStore;
}

/** Answers topics at one location. From local data it needs no store; from a service it buys what the store lacks, within `budget`
 * credits for this look-up, and what was bought before is free. @throws PerilbookError as `enrich` */
export async function lookup<Place extends Located>(
  location: Place,
  topics: TopicName | readonly TopicName[],
  options: PlaceOptions,
): Promise<EnrichedRow<Place>> {
  checkOptions(options);
  requireType('location', location, isObjectOrArray, 'Pass { lat, lng } in decimal degrees.');
  const { source, store, signal, onEvent = () => {}, acceptPrice: _, ...settings } = options;
  throwIfAborted(signal);
  const places = localPlaces(source);
  if (places === null) return await lookUpStored(location, topics, options);
  const job = jobOfSource(source, { ...settings, topics, losses: false });
  const host = libraryHost(defaultFolders(), {}, onEvent);
  const fields = places.fields(String(location.lat ?? ''), String(location.lng ?? ''), job, host);
  return enrichedRow(location, columnNames(job), fields);
}

/** The answers in the store by one read; else a run of one row, with a budget of its own. Of several that ask for one place at one time
 * the ledger lets one buy, as it does of several runs. */
async function lookUpStored<Place extends Located>(
  location: Place,
  topics: TopicName | readonly TopicName[],
  options: PlaceOptions,
): Promise<EnrichedRow<Place>> {
  const { acceptPrice: _, signal: __, budget, ...others } = options;
  const { source, store: handle, onEvent = () => {}, ...settings } = others;
  const store = storeBehind(handle);
  const places = await storedPlaces(handle!, source, JSON.stringify([topics, settings]), () => {
    const asked = { ...settings, budget, topics, losses: false };
    const job = jobOfSource(source, asked, handle!.address);
    return openPlaces(source, job, store, libraryHost(defaultFolders(), {}, onEvent));
  });
  const fields = await storedFields(places, location);
  if (fields !== null) return enrichedRow(location, places.names, fields);
  let enriched: EnrichedRow<Place> | undefined;
  const asked = enrich<Located>([location], {
    ...options,
    topics,
    losses: false,
    store: handle!,
    batch: 1,
  });
  // Read to the end: leaving the loop early would record an interrupted run in the ledger.
  for await (const answered of asked) enriched = { ...answered, row: location };
  await places.sampleRows.refresh();
  return enriched!;
}

type StoredPlaces = Awaited<ReturnType<typeof openPlaces>>;

/** By the look-ups' store and source, then by their settings: to open a connection takes longer than to read an answer. */
const OPENED = new WeakMap<
  AnswerStore,
  WeakMap<AnswerSource, Map<string, Promise<StoredPlaces>>>
>();

/** The stored places of a source; its connection is opened the first time, and closed. @param settings as text */
async function storedPlaces(
  handle: AnswerStore,
  source: AnswerSource,
  settings: string,
  open: () => Promise<StoredPlaces>,
): Promise<StoredPlaces> {
  const ofStore = OPENED.get(handle) ?? new WeakMap();
  OPENED.set(handle, ofStore);
  const ofSource: Map<string, Promise<StoredPlaces>> = ofStore.get(source) ?? new Map();
  ofStore.set(source, ofSource);
  const opened = ofSource.get(settings);
  if (opened !== undefined) return await opened;
  const opening = open();
  ofSource.set(settings, opening);
  // A key that is missing now may be there for the next look-up.
  opening.catch(() => ofSource.delete(settings));
  return await opening;
}

/** The answers that a store has of single places, for the look-ups of one source with equal settings. */
async function openPlaces(
  answerSource: AnswerSource,
  job: Job,
  store: Store,
  host: ConnectionContext,
) {
  await using opened = await connectSource(answerSource, job, host);
  const { connection } = opened;
  const source = await store.source(connection.source);
  const sampleRows = await openSampleRows(connection, store, source);
  return { job, names: columnNames(job), connection, source, store, sampleRows };
}

function locatedIn({ lat, lng }: Located, job: Job) {
  return locate({ number: 1, line: 1, fields: [String(lat ?? ''), String(lng ?? '')] }, job, {
    pair: null,
  });
}

/** The fields of a place by one read of the store; null where an answer is missing or stale. */
async function storedFields(
  { job, connection, source, store, sampleRows }: StoredPlaces,
  location: Located,
) {
  // Whether answers from local data still hold, a run finds out: it reads them free of charge.
  if (connection.kind === 'local' || connection.beside !== undefined) return null;
  const located = locatedIn(location, job);
  if (!located.ok) return null;
  const [record] = await store.read(source, [located.cell]);
  if (record == null) return null;
  const freshness = makeFreshness(job, systemClock.now());
  const { startedAt } = freshness;
  const times = (topic: TopicSlug) => timesOf(freshness, topic);
  const result = cellStatus(record, job.topics, times, startedAt);
  return result.status === 'ok'
    ? enrichedFields(record, job.topics, result, sampleRows.has, job.counts, startedAt)
    : null;
}
