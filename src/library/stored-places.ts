import { addedColumns, enrichedFields } from '../columns/row.ts';
import { cellStatus } from '../columns/row-status.ts';
import type { Field } from '../contract/answer.ts';
import type { Job } from '../job/settings.ts';
import { makeFreshness } from '../run/plan/freshness.ts';
import { openSampleRows, type SampleRows } from '../run/sample-rows.ts';
import { locate } from '../run/scan/locate.ts';
import type { Store } from '../store/port.ts';
import { type AnswerSource, connectSource } from './answer-source.ts';
import type { AnswerStore } from './answer-store.ts';
import type { ConnectionContext } from './connection.ts';
import type { Located } from './enrich.ts';

/** The answers that a store has of single places, for the look-ups of one source with equal settings. */
export interface StoredPlaces {
  readonly job: Job;
  readonly names: readonly string[];
  readonly source: number;
  readonly store: Store;
  readonly sampleRows: SampleRows;
}

/** By the look-ups' store and source, then by their settings: to open a connection takes longer than to read an answer. */
const OPENED = new WeakMap<AnswerStore, WeakMap<AnswerSource, Map<string, Promise<StoredPlaces>>>>();

/** The stored places of a source; its connection is opened the first time, and closed. @param settings as text */
export async function storedPlaces(
  handle: AnswerStore,
  source: AnswerSource,
  settings: string,
  open: () => { readonly job: Job; readonly store: Store; readonly host: ConnectionContext },
): Promise<StoredPlaces> {
  const ofStore = OPENED.get(handle) ?? new WeakMap();
  OPENED.set(handle, ofStore);
  const ofSource: Map<string, Promise<StoredPlaces>> = ofStore.get(source) ?? new Map();
  ofStore.set(source, ofSource);
  const opened = ofSource.get(settings);
  if (opened !== undefined) return await opened;
  const { job, store, host } = open();
  const opening = openPlaces(source, job, store, host);
  ofSource.set(settings, opening);
  // A key that is missing now may be there for the next look-up.
  opening.catch(() => ofSource.delete(settings));
  return await opening;
}

async function openPlaces(
  answerSource: AnswerSource,
  job: Job,
  store: Store,
  host: ConnectionContext,
): Promise<StoredPlaces> {
  await using opened = await connectSource(answerSource, job, host);
  const { connection } = opened;
  const source = await store.source(connection.source);
  const sampleRows = await openSampleRows(connection, store, source);
  return { job, names: addedColumns(job.topics, '', job.counts).map(({ name }) => name), source, store, sampleRows };
}

/** The place of a location, the same for all that round to it; '' for no usable location. */
export function placeOf(location: Partial<Located>, job: Job): string {
  const located = locatedIn(location, job);
  return located.ok ? `${located.cell.lat7} ${located.cell.lng7}` : '';
}

function locatedIn({ lat, lng }: Partial<Located>, job: Job) {
  return locate({ number: 1, line: 1, fields: [String(lat ?? ''), String(lng ?? '')] }, job, { pair: null });
}

/** The fields of a place by one read of the store; null where an answer is missing or stale. */
export async function storedFields(
  { job, source, store, sampleRows }: StoredPlaces,
  location: Partial<Located>,
  now: number,
): Promise<readonly Field[] | null> {
  const located = locatedIn(location, job);
  if (!located.ok) return null;
  const [record] = await store.read(source, [located.cell]);
  if (record == null) return null;
  const { freshSince, startedAt } = makeFreshness(job, now);
  const result = cellStatus(record, job.topics, freshSince, startedAt);
  return result.status === 'ok'
    ? enrichedFields(record, job.topics, result, sampleRows.has, job.counts, startedAt)
    : null;
}
