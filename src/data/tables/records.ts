import type { Geometry, MultiPolygon, Polygon } from 'geojson';
import type { AIR_QUALITY_DAYS, Rating } from '../../contract/topic-values.ts';
import {
  type CountySlug,
  type NaturalSlug,
  ofPollutants,
  type PollutantSlug,
  type ProximitySlug,
} from '../../contract/topics.ts';
import type { StoredFacts } from '../zones/zone-layer.ts';
import type { ZoneDataset } from '../zones/zone-layers.ts';

/* The stored records. An area is a census tract or a county; an event is an earthquake, a hail report and the like; a reading is a monitor's
 * measurement. The names `records:…` of events are stored in databases. */

/** The datasets that are neither the sites of a topic nor events. */
type TableName = 'areas' | 'nri' | 'readings' | CountyDataset | ZoneDataset;

export type CountyDataset = keyof typeof COUNTY_TABLES;

/** All datasets, each replaced as a whole. */
export type DatasetName = TableName | `sites:${ProximitySlug}` | `records:${EventKind}`;

/** The kinds of events of a topic. */
export const EVENTS = {
  earthquake: ['earthquake'],
  hail: ['hail'],
  hurricane: ['hurricane'],
  tornado: ['tornado'],
  wildfire: ['wildfire.current', 'wildfire.historical', 'wildfire.perimeters'],
} as const satisfies Partial<Record<NaturalSlug, readonly string[]>>;

export type EventKind = (typeof EVENTS)[keyof typeof EVENTS][number];

export interface DatasetInfo {
  /** The name of the dataset. */
  readonly name: DatasetName;
  /** Where it comes from, in words. */
  readonly source: string;
  /** The date or the version of the data, in words. */
  readonly vintage: string;
  /** The attribution that the publisher's licence requires; empty where it requires none. */
  readonly licence: string;
  /** Whether it is made up. */
  readonly sample: boolean;
  /** Its states, two letters each; absent for the whole US. Elsewhere its topics are unavailable. */
  readonly states?: readonly string[];
}

export interface AreaRecord {
  /** Census code: 11 digits for a tract, 5 for a county, zero-padded text. */
  readonly geoid: string;
  readonly level: 'tract' | 'county';
  readonly name: string;
  /** Two letters. */
  readonly state: string;
  readonly geometry: Polygon | MultiPolygon;
}

export interface NaturalRatingRecord {
  readonly geoid: string;
  readonly topic: NaturalSlug;
  readonly rating: Rating;
  readonly score: number | null;
  readonly frequency: number | null;
  /** Dollars of expected annual loss for each dollar of building value; null or left out: the index has none. */
  readonly lossRate?: number | null;
}

export interface SiteRecord {
  /** The feature's own id, if its file gives one. A server may number its features anew. */
  readonly id?: string | number;
  /** The agency's id, if it is unique (record-rows.ts). */
  readonly key?: string | number;
  readonly geometry: Geometry;
  /** As published; a load gives each property one type (property-types.ts). */
  readonly properties: Readonly<Record<string, unknown>>;
}

export type EventRecord = SiteRecord;

export interface AirQualityRecord
  extends Readonly<Record<(typeof AIR_QUALITY_DAYS)[number], number>> {
  /** Five digits. */
  readonly countyGeoid: string;
  readonly year: number;
}

export interface RadonRecord {
  readonly countyGeoid: string;
  readonly zone: 1 | 2 | 3;
}

/** The measurements of counties: their table, and the values of a record in the order of its columns, the geoid first. */
export const COUNTY_TABLES = {
  airQuality: {
    table: 'air_quality',
    valuesOf: ({ countyGeoid, year, ...days }: AirQualityRecord) => [
      countyGeoid,
      year,
      JSON.stringify(days),
    ],
  },
  radon: { table: 'radon', valuesOf: ({ countyGeoid, zone }: RadonRecord) => [countyGeoid, zone] },
};

export const MEASUREMENT_DATASETS: Readonly<
  Record<CountySlug, CountyDataset> & Record<PollutantSlug, 'readings'>
> = {
  airQuality: 'airQuality',
  ...ofPollutants(() => 'readings' as const),
  radon: 'radon',
};

export interface ReadingRecord {
  readonly pollutant: PollutantSlug;
  readonly monitor: string;
  readonly lat: number;
  readonly lng: number;
  /** µg/m³ */
  readonly concentration: number;
  /** Milliseconds since the epoch. */
  readonly measuredAt: number;
}

/** A zone of a map, a sheet (panel) of the map, or a box outside of which the zones of its state were not loaded. */
export interface ZoneRecord {
  readonly kind: 'zone' | 'panel' | 'tile';
  /** The id of its study, which begins with the two digits of its state; '' where the layer has none. */
  readonly geoid: string;
  /** Of a zone its code, of a panel its number, of a tile ''. */
  readonly code: string;
  /** Of a zone its subtype in words, of a panel the day since which it is in force (2019-11-15); '' for none. */
  readonly detail: string;
  /** Of a zone. */
  readonly facts: StoredFacts | null;
  /** Null for a row of a table. */
  readonly geometry: Polygon | MultiPolygon | null;
}

/** The levels of areas and ratings; the other datasets have none. */
export type Level = 'tract' | 'county' | '';

/** A dataset with its records. Areas and ratings may have a `level`: then only that level is replaced. */
export type Dataset =
  | Records<AreaRecord, { readonly kind: 'areas'; readonly level?: 'tract' | 'county' }>
  | Records<NaturalRatingRecord, { readonly kind: 'nri'; readonly level?: 'tract' | 'county' }>
  | Records<SiteRecord, { readonly kind: 'sites'; readonly topic: ProximitySlug }>
  | Records<EventRecord, { readonly kind: 'records'; readonly event: EventKind }>
  | CountyRecords[CountyDataset]
  | Records<ReadingRecord, { readonly kind: 'readings' }>
  | Records<ZoneRecord, { readonly kind: 'zones' }>;

type CountyRecords = {
  [Name in CountyDataset]: Records<
    Parameters<(typeof COUNTY_TABLES)[Name]['valuesOf']>[0],
    { readonly kind: Name }
  >;
};

type Records<T, Target> = Target & { readonly info: DatasetInfo; readonly records: Iterable<T> };

/** What a load replaces: a dataset, or one level of it; '' for all of its levels. */
export interface LoadTarget {
  readonly name: DatasetName;
  readonly level: Level;
}
