import {
  type MeasurementSlug,
  type ProximitySlug,
  TOPIC_SLUGS,
  type TopicSlug,
  topicOf,
} from '../../contract/topics.ts';
import { datasetOfLayer } from '../zones/zone-layers.ts';
import { type CountyRatings, readCountyRatings } from './county-ratings.ts';
import { type DataDatabase, type DataVersion, oncePerVersion } from './data-database.ts';
import { outdatedDatasets } from './layer-descriptions.ts';
import type { Layer } from './layers.ts';
import {
  allParts,
  type DatasetPart,
  keyOfParts,
  type PartRecord,
  readRemovals,
  WHOLE_US,
} from './parts.ts';
import {
  type DatasetInfo,
  type DatasetName,
  EVENTS,
  type Level,
  MEASUREMENT_DATASETS,
} from './records.ts';
import { STATES, TERRITORIES } from './states.ts';

/** Names the sample data in stores. Raise it when the generator (`sample/`) changes its records, or `topics/sample-ratings.ts` what is made
 * of them. It is here because a plan needs it without loading the generator. */
export const SAMPLE_VINTAGE = 'sample-4';

/** A dataset, and what is loaded of it. */
export interface LoadedDataset extends Omit<DatasetInfo, 'files'> {
  /** The level of its areas; empty for what is not of areas. */
  readonly level: Level;
  /** Records in it. */
  readonly rows: number;
  /** When its records last changed, in milliseconds since 1970. */
  readonly loadedAt: number;
  /** What is replaced and removed as a whole: a state, or the whole US. */
  readonly parts: readonly LoadedPart[];
}

/** The part of a dataset that is replaced and removed as a whole: a state, or the whole US. */
type LoadedPart = Pick<
  DatasetPart,
  'state' | 'reach' | 'files' | 'vintage' | 'rows' | 'territories' | 'loadedAt'
>;

export interface DataDescription {
  readonly datasets: readonly LoadedDataset[];
  /** The layers whose records were loaded by another description: they must be loaded again, and have no answer. */
  readonly outdated: readonly TopicSlug[];
  /** The topics with an answer, in contract order. */
  readonly topics: readonly TopicSlug[];
  /** The other topics, each with the datasets it needs. */
  readonly unavailable: readonly {
    readonly topic: TopicSlug;
    readonly missing: readonly DatasetName[];
  }[];
  /** Topics that are answered without some of their records, each with the datasets that are missing. */
  readonly withoutRecords: readonly {
    readonly topic: TopicSlug;
    readonly missing: readonly DatasetName[];
  }[];
  readonly removals: ReadonlyMap<DatasetName, number>;
  /** Where places get the rating of their county; null if no place does. */
  readonly countyRatings: CountyRatings | null;
  /** True if any dataset is sample data: no answer counts as real. */
  readonly sample: boolean;
}

interface DatasetRow {
  readonly name: DatasetName;
  readonly level: Level;
  readonly sample: 0 | 1;
  readonly rows: number;
  readonly loaded_at: number;
}

/** Lists the loaded datasets by name, and what follows from them. */
export function describeData(database: DataDatabase): DataDescription {
  const rows = database
    .prepare<[], DatasetRow>('SELECT * FROM datasets ORDER BY name, level')
    .all();
  const parts = allParts(database);
  const outdated = outdatedDatasets(database);
  const loaded = new Set(rows.flatMap(({ name }) => (outdated.has(name) ? [] : [name])));
  const missingOf = (namesOf: (topic: TopicSlug) => readonly DatasetName[]) =>
    TOPIC_SLUGS.map((topic) => ({
      topic,
      missing: namesOf(topic).filter((name) => !loaded.has(name)),
    }));
  const [needs, withoutEvents] = [missingOf(needsOf), missingOf(eventDatasetsOf)];
  const isAnswered = new Set(
    needs.filter(({ missing }) => missing.length === 0).map(({ topic }) => topic),
  );
  return {
    datasets: rows.map((row) =>
      described(database, row, parts.get(keyOfParts(row.name, row.level))!),
    ),
    outdated: TOPIC_SLUGS.filter((topic) => needsOf(topic).some((name) => outdated.has(name))),
    topics: [...isAnswered],
    unavailable: needs.filter(({ missing }) => missing.length > 0),
    withoutRecords: withoutEvents.filter(
      ({ topic, missing }) => missing.length > 0 && isAnswered.has(topic),
    ),
    removals: readRemovals(database),
    countyRatings: readCountyRatings(database),
    sample: rows.some(({ sample }) => sample === 1),
  };
}

function described(
  database: DataDatabase,
  { name, level, sample, rows, loaded_at: loadedAt }: DatasetRow,
  parts: readonly PartRecord[],
): LoadedDataset {
  // The states with boundaries are read from the boundaries, because loads never list them.
  const ofAreas = () =>
    database
      .prepare<[], string>(`SELECT DISTINCT state FROM areas_${level} ORDER BY state`)
      .pluck()
      .all();
  const of = name === 'areas' ? ofAreas() : parts.map(({ state }) => state);
  const states = of.includes(WHOLE_US) ? null : partOfUs(of);
  return {
    name,
    level,
    source: listSources(parts),
    vintage: listVintages(parts).join('; '),
    licence: distinct(parts.map(({ licence }) => licence)).join('; '),
    sample: sample === 1,
    rows,
    loadedAt,
    ...(states === null ? {} : { states }),
    parts: parts.map(summaryOf),
  };
}

function summaryOf({
  state,
  reach,
  files,
  vintage,
  rows,
  territories,
  loadedAt,
}: PartRecord): LoadedPart {
  return { state, reach, files, vintage, rows, territories, loadedAt };
}

const SHOWN_FILES = 3;

/** `EPA Map of Radon Zones (radon-US.csv)`: the sources of a dataset's parts, each with its files. */
function listSources(parts: readonly PartRecord[]): string {
  const bySource = Map.groupBy(parts, ({ source }) => source);
  return [...bySource]
    .map(([source, own]) => {
      const files = distinct(own.flatMap((part) => part.files.map(({ name }) => name)));
      const rest = files.length - SHOWN_FILES;
      const named = rest > 1 ? [...files.slice(0, SHOWN_FILES), `${rest} more`] : files;
      return named.length === 0 ? source : `${source} (${named.join(', ')})`;
    })
    .join('; ');
}

/** Of the vintages "to DATE" only the oldest and the newest: sources that change daily add one each time a state is updated. */
function listVintages(parts: readonly PartRecord[]): string[] {
  const vintages = distinct(parts.map(({ vintage }) => vintage));
  const dates = vintages.filter((vintage) => /^to \d{4}-\d{2}-\d{2}$/.test(vintage)).sort();
  const middle = dates.slice(1, -1);
  return vintages.filter((vintage) => !middle.includes(vintage));
}

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].filter(Boolean);

/** Null for the whole US: all 50 states and DC. The territories are not in every file of the whole US. */
export function partOfUs(states: readonly string[]): readonly string[] | null {
  const here = new Set(states);
  return [...STATES].every((state) => here.has(state) || TERRITORIES.has(state)) ? null : states;
}

/** Makes the function that tells whether any dataset is sample data. */
export function createSampleWatch(database: DataDatabase, versionOf: DataVersion): () => boolean {
  const anySample = database
    .prepare<[], 0 | 1>('SELECT EXISTS (SELECT 1 FROM datasets WHERE sample = 1)')
    .pluck();
  return oncePerVersion(versionOf, () => anySample.get() === 1);
}

/** The datasets that a topic needs: `areas`, which define what is in the US, but for layers. A rating without its events is an
 * answer. */
export function needsOf(topic: TopicSlug): readonly DatasetName[] {
  const { category, layer } = topicOf(topic);
  // Descriptions say themselves what they cover.
  if (layer !== null) {
    const { level = 'zip' } = (layer.kind === 'areas' ? layer.area : null) ?? {};
    return [...(level !== 'zip' ? (['areas'] as const) : []), datasetOfLayer(layer)];
  }
  if (category === 'natural') return ['areas', 'nri'];
  if (category === 'proximity') return ['areas', `sites:${topic as ProximitySlug}`];
  return ['areas', MEASUREMENT_DATASETS[topic as MeasurementSlug]];
}

/** Whether a topic's answer is that of a tract or county, not of what is near a place. */
export function isOfArea(topic: TopicSlug): boolean {
  return topicOf(topic).area !== null;
}

/** The datasets of the events in a topic's details. */
export function eventDatasetsOf(topic: TopicSlug): readonly DatasetName[] {
  return topicOf(topic).category === 'proximity' ? [] : layersOf(topic);
}

/** The layers that are searched for a topic: its sites, or its events in the order of its `countColumns`. */
export function layersOf(topic: TopicSlug): readonly Layer[] {
  if (topicOf(topic).category === 'proximity') return [`sites:${topic as ProximitySlug}`];
  return (EVENTS[topic as keyof typeof EVENTS] ?? []).map((event): Layer => `records:${event}`);
}
