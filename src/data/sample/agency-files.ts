import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Point } from 'geojson';
import type { ProximitySlug } from '../../contract/topics.ts';
import { SITE_FORMATS } from '../loaders/site-formats.ts';
import type { Dataset, EventKind, EventRecord } from '../tables/records.ts';
import {
  airQualityTable,
  csvLine,
  hailTable,
  radonTable,
  ratingTable,
  readingTables,
  tornadoTable,
  trackTable,
} from './agency-tables.ts';

/** Written files, and the loader that reads them. */
export interface AgencyFiles {
  readonly loader: string;
  readonly files: readonly string[];
  /** The loader's second file, if it has one. */
  readonly sites?: string;
}

/** The loader of a topic's sites; of brownfields the agency's own, not the FRS. */
function siteLoaderOf(topic: ProximitySlug): string {
  return Object.entries(SITE_FORMATS).find(([, format]) => format.topic === topic)![0];
}

/** Topics whose sites are not all points and are published as GeoJSON or shapefile. */
const SHAPES: readonly ProximitySlug[] = ['naturalGasPipeline', 'highVoltageLine', 'park'];

/** The agencies' names for the coordinates, where they are not Latitude and Longitude. */
const COORDINATES: Readonly<Partial<Record<ProximitySlug, readonly [lat: string, lng: string]>>> = {
  toxicReleaseInventory: ['12. LATITUDE', '13. LONGITUDE'],
  cellTower: ['latdec', 'londec'],
};

type EventTable = (records: Iterable<EventRecord>) => Iterable<string>;

/** The loader of each kind of event, and its table where it is not published as GeoJSON. */
const EVENT_LOADERS: Readonly<Record<EventKind, readonly [loader: string, table?: EventTable]>> = {
  hail: ['hail', hailTable],
  tornado: ['tornado', tornadoTable],
  hurricane: ['ibtracs', trackTable],
  earthquake: ['earthquakes'],
  'wildfire.current': ['wildfire-incidents'],
  'wildfire.historical': ['wildfire-history'],
  'wildfire.perimeters': ['wildfire-perimeters'],
};

/** Writes a dataset in the file format of its agency. */
export function writeAgencyFiles(dataset: Dataset, folder: string): AgencyFiles {
  const write = (loader: string, extension: string, chunks: Iterable<string>): AgencyFiles => ({
    loader,
    files: [writeFile(join(folder, `${loader}.${extension}`), chunks)],
  });
  switch (dataset.kind) {
    case 'areas':
      return write('counties', 'geojson', featureCollection(areaFeatures(dataset.records)));
    case 'nri':
      return write('nri', 'csv', ratingTable(dataset.records));
    case 'sites':
      return SHAPES.includes(dataset.topic)
        ? write(siteLoaderOf(dataset.topic), 'geojson', featureCollection(dataset.records))
        : write(siteLoaderOf(dataset.topic), 'csv', pointTable(dataset.records, COORDINATES[dataset.topic]));
    case 'records': {
      const [loader, table] = EVENT_LOADERS[dataset.event];
      return table === undefined
        ? write(loader, 'geojson', featureCollection(dataset.records))
        : write(loader, 'csv', table(dataset.records));
    }
    case 'airQuality':
      return write('air-quality', 'csv', airQualityTable(dataset.records));
    case 'radon':
      return write('radon', 'csv', radonTable(dataset.records));
    case 'readings': {
      const { hourly, sites } = readingTables(dataset.records);
      const written = write('airnow', 'dat', hourly);
      return { ...written, sites: writeFile(join(folder, 'airnow-sites.dat'), sites) };
    }
  }
}

const CHUNK_CHARACTERS = 1 << 20;

function writeFile(file: string, chunks: Iterable<string>): string {
  let text = '';
  writeFileSync(file, text);
  for (const chunk of chunks) {
    text += chunk;
    if (text.length < CHUNK_CHARACTERS) continue;
    appendFileSync(file, text);
    text = '';
  }
  appendFileSync(file, text);
  return file;
}

interface SampleFeature {
  readonly geometry: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

function* featureCollection(features: Iterable<SampleFeature>): Generator<string> {
  yield '{"type":"FeatureCollection","features":[';
  let separator = '\n';
  for (const { geometry, properties } of features) {
    yield `${separator}${JSON.stringify({ type: 'Feature', properties, geometry })}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

function* areaFeatures(areas: Extract<Dataset, { kind: 'areas' }>['records']): Generator<SampleFeature> {
  for (const { geoid, name, geometry } of areas) {
    const properties = { STATEFP: geoid.slice(0, 2), COUNTYFP: geoid.slice(2, 5), GEOID: geoid, NAME: name };
    yield { properties, geometry };
  }
}

function* pointTable(
  sites: Extract<Dataset, { kind: 'sites' }>['records'],
  coordinates: readonly [string, string] = ['Latitude', 'Longitude'],
): Generator<string> {
  let names: string[] | null = null;
  for (const { geometry, properties } of sites) {
    if (names === null) {
      names = Object.keys(properties);
      yield csvLine([...names, ...coordinates]);
    }
    const [lng, lat] = (geometry as Point).coordinates;
    yield csvLine([...names.map((name) => properties[name]), lat, lng]);
  }
}
