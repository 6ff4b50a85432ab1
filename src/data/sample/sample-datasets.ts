import { PROXIMITY_SLUGS, type ProximitySlug } from '../../contract/topics.ts';
import type {
  AreaRecord,
  Dataset,
  DatasetInfo,
  DatasetName,
  EventKind,
  EventRecord,
  SiteRecord,
} from '../tables/records.ts';
import { wildfires } from './fires.ts';
import { type Land, readLand, type SampleCounty } from './land.ts';
import { airQualityYears, monitorReadings, radonZones } from './measurements.ts';
import { earthquakes } from './quakes.ts';
import { type Random, randomOf } from './random.ts';
import { naturalRatings } from './ratings.ts';
import { SAMPLE_VINTAGE } from './sample-vintage.ts';
import { sitePlaces } from './site-places.ts';
import { siteProperties } from './site-properties.ts';
import { siteShape } from './site-shapes.ts';
import { hailReports, hurricaneTracks, tornadoReports } from './storms.ts';

export interface SampleOptions {
  readonly seed: number;
  /** The day that the sample pretends to be of, in milliseconds since the epoch. */
  readonly now: number;
}

const EVENTS: Readonly<Record<EventKind, (land: Land, now: number, random: Random) => Iterable<EventRecord>>> = {
  earthquake: earthquakes,
  hail: hailReports,
  hurricane: (_land, now, random) => hurricaneTracks(now, random),
  tornado: tornadoReports,
  'wildfire.current': (land, now, random) => wildfires('wildfire.current', land, now, random),
  'wildfire.historical': (land, now, random) => wildfires('wildfire.historical', land, now, random),
  'wildfire.perimeters': (land, now, random) => wildfires('wildfire.perimeters', land, now, random),
};

/** Made-up data for all 37 topics everywhere in the US, one dataset after the other. Records are generated when read;
 * equal options give equal records, whichever datasets are read and however often. */
export function* sampleDatasets({ seed, now }: SampleOptions): Generator<Dataset> {
  const land = readLand();
  const { counties } = land;
  const generated = <T>(name: DatasetName, records: (random: Random) => Iterable<T>) => ({
    info: infoOf(name),
    records: { [Symbol.iterator]: () => records(randomOf(seed, name))[Symbol.iterator]() },
  });

  yield { kind: 'areas', ...generated('areas', () => areas(counties)) };
  yield { kind: 'nri', ...generated('nri', (random) => naturalRatings(counties, random)) };
  for (const topic of PROXIMITY_SLUGS) {
    yield { kind: 'sites', topic, ...generated(`sites:${topic}`, (random) => sites(topic, land, now, random)) };
  }
  for (const event of Object.keys(EVENTS) as EventKind[]) {
    yield { kind: 'records', event, ...generated(`records:${event}`, (random) => EVENTS[event](land, now, random)) };
  }
  yield { kind: 'airQuality', ...generated('airQuality', (random) => airQualityYears(counties, now, random)) };
  yield { kind: 'radon', ...generated('radon', (random) => radonZones(counties, random)) };
  yield { kind: 'readings', ...generated('readings', (random) => monitorReadings(land, now, random)) };
}

function infoOf(name: DatasetName): DatasetInfo {
  return { name, source: 'Perilbook sample generator', vintage: SAMPLE_VINTAGE, licence: '', sample: true };
}

function* areas(counties: readonly SampleCounty[]): Generator<AreaRecord> {
  for (const { geoid, name, state, geometry } of counties) yield { geoid, level: 'county', name, state, geometry };
}

function* sites(topic: ProximitySlug, land: Land, now: number, random: Random): Generator<SiteRecord> {
  let index = 0;
  for (const place of sitePlaces(topic, land, random)) {
    index += 1;
    const geometry = siteShape(topic, place, random);
    yield { geometry, properties: siteProperties(topic, place, index, now, random) };
  }
}
