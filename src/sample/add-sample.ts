import type { Clock } from '../base/clock.ts';
import type { PolygonLayer } from '../contract/layers/layer-description.ts';
import {
  type BroughtLayer,
  isBrought,
  PROXIMITY_SLUGS,
  TOPIC_SLUGS,
  TOPICS,
  type TopicSlug,
} from '../contract/topics.ts';
import type { DataDatabase } from '../data/tables/data-database.ts';
import {
  describeData,
  eventDatasetsOf,
  needsOf,
  SAMPLE_VINTAGE,
} from '../data/tables/describe-data.ts';
import { importDataset } from '../data/tables/import-dataset.ts';
import {
  type AreaRecord,
  type CountyDataset,
  type Dataset,
  type DatasetName,
  EVENTS,
  type ZoneRecord,
} from '../data/tables/records.ts';
import { zoneDatasetOf } from '../data/zones/zone-layers.ts';
import { type Land, readLand } from './land.ts';
import { hurricaneTracks, points } from './points.ts';
import { makeRandom, type Random } from './random.ts';
import { airQualityYears, monitorReadings, naturalRatings, radonZones } from './ratings.ts';
import { coastalBarriers, fireZones, floodZones } from './zones.ts';

/** Monitors report hourly. */
const READINGS_FRESH_MS = 3_600_000;

/** The longest wait for another process that adds sample data: all of it takes some seconds on a busy machine. */
const BUSY_TIMEOUT_MS = 60_000;

/** Whether the database lacks a dataset that these topics are answered from. */
export function lacksSample(database: DataDatabase, topics: readonly TopicSlug[]): boolean {
  return missingDatasets(database, topics).size > 0;
}

/** Adds the sample datasets that these topics are answered from and the database lacks; all of them are about 12 MB. */
export function addSample(
  database: DataDatabase,
  topics: readonly TopicSlug[],
  clock: Clock,
): void {
  importAlone(database, () => importGenerated(database, clock, missingDatasets(database, topics)));
}

/** Replaces all datasets by those of the sample. */
export function importSample(database: DataDatabase, clock: Clock): void {
  importGenerated(database, clock, datasetsOfTopics(TOPIC_SLUGS));
}

/** Renews the near real-time readings: a database made last week would answer with last week's air. */
export function refreshSampleReadings(database: DataDatabase, clock: Clock): void {
  if (!hasOldReadings(database, clock)) return;
  importAlone(database, () => {
    if (hasOldReadings(database, clock)) importGenerated(database, clock, new Set(['readings']));
  });
}

function hasOldReadings(database: DataDatabase, clock: Clock): boolean {
  const readings = describeData(database).datasets.find(({ name }) => name === 'readings');
  return (
    readings?.sample === true && Math.abs(clock.now() - readings.loadedAt) >= READINGS_FRESH_MS
  );
}

/** Imports in one transaction: a second process that needs the same datasets waits, and one that is killed adds none of them. */
function importAlone(database: DataDatabase, work: () => void): void {
  const timeout = database.pragma('busy_timeout', { simple: true });
  database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
  try {
    database.transaction(work).immediate();
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

function missingDatasets(
  database: DataDatabase,
  topics: readonly TopicSlug[],
): ReadonlySet<DatasetName> {
  const missing = datasetsOfTopics(topics);
  // An earlier version's sample is not what this one's answers say that they are from.
  const present = database
    .prepare<[string], DatasetName>('SELECT dataset FROM parts WHERE vintage = ?')
    .pluck();
  for (const name of present.iterate(SAMPLE_VINTAGE)) missing.delete(name);
  return missing;
}

/** With the boundaries, by which the service knows what lies in the US: a layer needs them for nothing else. */
function datasetsOfTopics(topics: readonly TopicSlug[]): Set<DatasetName> {
  const ofTopics = topics.flatMap((topic) => [...needsOf(topic), ...eventDatasetsOf(topic)]);
  return new Set<DatasetName>(['areas', ...ofTopics]);
}

function importGenerated(
  database: DataDatabase,
  clock: Clock,
  names: ReadonlySet<DatasetName>,
): void {
  for (const dataset of sampleDatasets(clock.now())) {
    if (names.has(dataset.info.name)) importDataset(database, dataset, clock);
  }
}

type SampleTable = 'areas' | 'nri' | 'readings' | CountyDataset;

/** The zones of the layers that Perilbook brings. */
const BROUGHT_ZONES: Readonly<
  Record<BroughtLayer, (land: Land, random: Random) => Iterable<ZoneRecord>>
> = { ca_fire_zone: fireZones, coastal_barrier: coastalBarriers };

/** Made-up data for all topics everywhere in the US, one dataset after the other. Records are generated when read;
 * equal arguments give equal records, whichever datasets are read and however often.
 * @param now the day that the sample pretends to be of, in milliseconds since the epoch */
export function* sampleDatasets(now: number, seed = 1): Generator<Dataset> {
  const land = readLand();
  const { counties } = land;
  const generated = <T>(name: DatasetName, records: (random: Random) => Iterable<T>) => ({
    info: {
      name,
      source: 'Perilbook sample generator',
      vintage: SAMPLE_VINTAGE,
      licence: '',
      sample: true,
    },
    records: { [Symbol.iterator]: () => records(makeRandom(seed, name))[Symbol.iterator]() },
  });

  const years = generated('airQuality', (random) => airQualityYears(counties, now, random));
  const tables: { readonly [Kind in SampleTable]: Extract<Dataset, { readonly kind: Kind }> } = {
    areas: { kind: 'areas', ...generated('areas', () => areas(land)) },
    nri: { kind: 'nri', ...generated('nri', (random) => naturalRatings(counties, random)) },
    airQuality: { kind: 'airQuality', ...years },
    radon: { kind: 'radon', ...generated('radon', (random) => radonZones(counties, random)) },
    readings: {
      kind: 'readings',
      ...generated('readings', (random) => monitorReadings(counties, now, random)),
    },
  };
  yield* Object.values(tables);
  yield {
    kind: 'zones',
    ...generated('floodZones', (random) => floodZones(land, now, random)),
  };
  // Tables are made for layers that are declared.
  for (const { layer } of TOPICS.filter(isBrought)) {
    const name = zoneDatasetOf(layer as PolygonLayer);
    const zones = BROUGHT_ZONES[layer!.layer as BroughtLayer];
    yield { kind: 'zones', ...generated(name, (random) => zones(land, random)) };
  }
  for (const topic of PROXIMITY_SLUGS) {
    yield {
      kind: 'sites',
      topic,
      ...generated(`sites:${topic}`, (random) => points(topic, land, now, random)),
    };
  }
  for (const event of Object.values(EVENTS).flat()) {
    const records = (random: Random) =>
      event === 'hurricane' ? hurricaneTracks(now, random) : points(event, land, now, random);
    yield { kind: 'records', event, ...generated(`records:${event}`, records) };
  }
}

function* areas({ counties }: Land): Generator<AreaRecord> {
  for (const { geoid, name, state, geometry } of counties)
    yield { geoid, level: 'county', name, state, geometry };
}
