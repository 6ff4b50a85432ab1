import { systemClock } from '../base/clock.ts';
import { addedColumns } from '../columns/row.ts';
import type { TopicName } from '../job/topic-choice.ts';
import { jobOfSource, localPlaces } from './answer-source.ts';
import { type AnswerStore, defaultFolders, runOfStore, storeBehind } from './answer-store.ts';
import { checkOptions, isObject, requireType, throwIfAborted } from './checked-settings.ts';
import { type AnswerSettings, type EnrichedRow, enrichedRow, enrichInRun, type Located } from './enrich.ts';
import { libraryHost } from './run-host.ts';
import { placeOf, storedFields, storedPlaces } from './stored-places.ts';

export interface PlaceOptions extends AnswerSettings {
  /** Needed for all sources but local data, whose answers are not stored. */
  readonly store?: AnswerStore;
}

/** Answers topics at one location. From local data it needs no store; from a service it buys what the store lacks, within `budget`
 * credits for this look-up, and what was bought before is free.
 * @throws PerilbookError as `enrich` */
export async function lookup<Place extends Located>(
  location: Place,
  topics: TopicName | readonly TopicName[],
  options: PlaceOptions,
): Promise<EnrichedRow<Place>> {
  checkOptions(options);
  requireType('location', location, isObject, 'Pass { lat, lng } in decimal degrees.');
  const { source, store, signal, onEvent = () => {}, ...settings } = options;
  throwIfAborted(signal);
  const places = localPlaces(source);
  if (places === null) return await lookUpStored(location, topics, options);
  const job = jobOfSource(source, { ...settings, topics });
  const host = libraryHost(defaultFolders(), {}, onEvent);
  const fields = places.fields(String(location.lat ?? ''), String(location.lng ?? ''), job, host);
  return enrichedRow(
    location,
    addedColumns(job.topics, '', job.counts).map(({ name }) => name),
    fields,
  );
}

/** The answers in the store by one read; else those that a run of this process buys, which later look-ups continue. */
async function lookUpStored<Place extends Located>(
  location: Place,
  topics: TopicName | readonly TopicName[],
  options: PlaceOptions,
): Promise<EnrichedRow<Place>> {
  const { source, store: handle, signal: _, onEvent = () => {}, budget, ...settings } = options;
  const store = storeBehind(handle);
  const places = await storedPlaces(handle!, source, JSON.stringify([topics, settings]), () => ({
    job: jobOfSource(source, { ...settings, budget, topics }, handle!.address),
    store,
    host: libraryHost(defaultFolders(), {}, onEvent),
  }));
  const fields = await storedFields(places, location, systemClock.now());
  if (fields !== null) return enrichedRow(location, places.names, fields);
  const run = runOfStore(handle!, places.source, places.job);
  const place = placeOf(location, places.job);
  const before = run.purchases.get(place);
  const purchase = buy();
  run.purchases.set(place, purchase);
  try {
    return await purchase;
  } finally {
    if (run.purchases.get(place) === purchase) run.purchases.delete(place);
  }

  async function buy(): Promise<EnrichedRow<Place>> {
    await before?.catch(() => {});
    const stored = before && (await storedFields(places, location, systemClock.now()));
    if (stored) return enrichedRow(location, places.names, stored);
    let enriched: EnrichedRow<Place> | undefined;
    // Read to the end: leaving the loop early would record an interrupted run in the ledger.
    const asked = enrichInRun<Located>([location], { ...options, topics, store: handle!, batch: 1 }, run);
    for await (const answered of asked) enriched = { ...answered, row: location };
    await places.sampleRows.refresh();
    return enriched!;
  }
}
