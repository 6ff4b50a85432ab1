import { addedColumns } from '../columns/row.ts';
import type { TopicName } from '../run/settings/topic-choice.ts';
import { jobOfSource, localPlaces } from './answer-source.ts';
import { type AnswerStore, defaultFolders } from './answer-store.ts';
import { checkOptions, isObject, requireType } from './checked-settings.ts';
import { type AnswerSettings, type EnrichedRow, enrich, enrichedRow, type Located } from './enrich.ts';
import { libraryHost } from './run-host.ts';

export interface PlaceOptions extends AnswerSettings {
  /** Needed for all sources but local data, whose answers are not stored. */
  readonly store?: AnswerStore;
}

/**
 * Answers topics at one location. From local data it needs no store; from a service it buys what the store lacks, within `budget`
 * credits for this look-up, and what was bought before is free.
 *
 * @throws PerilbookError as `enrich`
 */
export async function lookup<Place extends Located>(
  location: Place,
  topics: TopicName | readonly TopicName[],
  options: PlaceOptions,
): Promise<EnrichedRow<Place>> {
  checkOptions(options);
  requireType('location', location, isObject, 'Pass { lat, lng } in decimal degrees.');
  const { source, store, signal, onEvent = () => {}, ...settings } = options;
  const places = localPlaces(source);
  if (places === null) {
    let enriched: EnrichedRow<Place> | undefined;
    // Read to the end: leaving the loop early would record an interrupted run in the ledger.
    const asked = enrich<Located>([location], { ...options, topics, store: store!, batch: 1 });
    for await (const answered of asked) enriched = { ...answered, row: location };
    return enriched!;
  }
  signal?.throwIfAborted();
  const job = jobOfSource(source, { ...settings, topics });
  const host = libraryHost(defaultFolders(), {}, onEvent);
  const fields = places.fields(String(location.lat ?? ''), String(location.lng ?? ''), job, host);
  return enrichedRow(
    location,
    addedColumns(job.topics, '', job.counts).map(({ name }) => name),
    fields,
  );
}
