import { PROXIMITY_SLUGS } from '../contract/topics.ts';
import { SAMPLE_VINTAGE } from '../data/tables/describe-data.ts';
import type { AreaRecord, Dataset, DatasetInfo, DatasetName } from '../data/tables/records.ts';
import { type Land, readLand } from './land.ts';
import { hurricaneTracks } from './lines.ts';
import { points } from './points.ts';
import { type Random, randomOf } from './random.ts';
import { airQualityYears, monitorReadings, naturalRatings, radonZones } from './ratings.ts';

export interface SampleOptions {
  readonly seed: number;
  /** The day that the sample pretends to be of, in milliseconds since the epoch. */
  readonly now: number;
}

const WILDFIRES = ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'] as const;
const EVENTS = ['earthquake', 'hail', 'hurricane', 'tornado', ...WILDFIRES] as const;

/** Made-up data for all 37 topics everywhere in the US, one dataset after the other. Records are generated when read;
 * equal options give equal records, whichever datasets are read and however often. */
export function* sampleDatasets({ seed, now }: SampleOptions): Generator<Dataset> {
  const land = readLand();
  const { counties } = land;
  const generated = <T>(name: DatasetName, records: (random: Random) => Iterable<T>) => ({
    info: infoOf(name),
    records: { [Symbol.iterator]: () => records(randomOf(seed, name))[Symbol.iterator]() },
  });

  yield { kind: 'areas', ...generated('areas', () => areas(land)) };
  yield { kind: 'nri', ...generated('nri', (random) => naturalRatings(counties, random)) };
  for (const topic of PROXIMITY_SLUGS) {
    yield { kind: 'sites', topic, ...generated(`sites:${topic}`, (random) => points(topic, land, now, random)) };
  }
  for (const event of EVENTS) {
    const records = (random: Random) =>
      event === 'hurricane' ? hurricaneTracks(now, random) : points(event, land, now, random);
    yield { kind: 'records', event, ...generated(`records:${event}`, records) };
  }
  yield { kind: 'airQuality', ...generated('airQuality', (random) => airQualityYears(counties, now, random)) };
  yield { kind: 'radon', ...generated('radon', (random) => radonZones(counties, random)) };
  yield { kind: 'readings', ...generated('readings', (random) => monitorReadings(counties, now, random)) };
}

function infoOf(name: DatasetName): DatasetInfo {
  return { name, source: 'Perilbook sample generator', vintage: SAMPLE_VINTAGE, licence: '', sample: true };
}

function* areas({ counties }: Land): Generator<AreaRecord> {
  for (const { geoid, name, state, geometry } of counties) yield { geoid, level: 'county', name, state, geometry };
}
