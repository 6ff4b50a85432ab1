import type { Geometry, MultiPolygon, Polygon } from 'geojson';
import type { Rating } from '../../contract/topic-values.ts';
import type { NaturalSlug, ProximitySlug } from '../../contract/topics.ts';

/*
 * What the service's database is made of, whoever delivers it: the sample generator or a loader of an agency's file.
 * Words: a data set is what one load brings and replaces as a whole; an area is a census tract or a county; a record is
 * one element of a live event (an earthquake, a hail report); a reading is what one monitor measured.
 */

/** The topics' data and the data behind several topics, each replaced as a whole. */
export type DatasetName =
  | 'areas'
  | 'nri'
  | 'airQuality'
  | 'radon'
  | 'readings'
  | `sites:${ProximitySlug}`
  | `records:${EventKind}`;

export type EventKind =
  | 'earthquake'
  | 'hail'
  | 'hurricane'
  | 'tornado'
  | 'wildfire.current'
  | 'wildfire.historical'
  | 'wildfire.perimeters';

/** What is said of a data set wherever it is listed. */
export interface DatasetInfo {
  readonly name: DatasetName;
  readonly source: string;
  readonly vintage: string;
  /** The sentence that the publisher's licence asks for, or ''. */
  readonly licence: string;
  readonly sample: boolean;
  /** The states that it is of, as two letters; left out where it is of the whole US. Elsewhere its topics are unavailable. */
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
}

export interface SiteRecord {
  /** The feature's own id, where its file gives one. */
  readonly id?: string | number;
  readonly geometry: Geometry;
  /** As the publisher gives them; a load makes each of one type (property-types.ts). */
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface EventRecord {
  readonly id?: string | number;
  readonly geometry: Geometry;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface AirQualityRecord {
  /** Five digits. */
  readonly countyGeoid: string;
  readonly year: number;
  readonly daysWithAqi: number;
  readonly goodDays: number;
  readonly moderateDays: number;
  readonly unhealthyForSensitiveGroupsDays: number;
  readonly unhealthyDays: number;
  readonly veryUnhealthyDays: number;
  readonly hazardousDays: number;
  readonly maxAqi: number;
  readonly medianAqi: number;
}

export interface RadonRecord {
  readonly countyGeoid: string;
  readonly zone: 1 | 2 | 3;
}

export interface ReadingRecord {
  readonly pollutant: 'ozone' | 'pm25' | 'pm10';
  readonly monitor: string;
  readonly lat: number;
  readonly lng: number;
  /** µg/m³ */
  readonly concentration: number;
  /** Milliseconds since the epoch. */
  readonly measuredAt: number;
}

/** What areas and ratings come by; the other data sets have no levels. */
export type Level = 'tract' | 'county' | '';

/** One data set with its records. Of areas and ratings a `level` may be given: then only that level is replaced. */
export type Dataset =
  | {
      readonly kind: 'areas';
      readonly level?: 'tract' | 'county';
      readonly info: DatasetInfo;
      readonly records: Iterable<AreaRecord>;
    }
  | {
      readonly kind: 'nri';
      readonly level?: 'tract' | 'county';
      readonly info: DatasetInfo;
      readonly records: Iterable<NaturalRatingRecord>;
    }
  | {
      readonly kind: 'sites';
      readonly topic: ProximitySlug;
      readonly info: DatasetInfo;
      readonly records: Iterable<SiteRecord>;
    }
  | {
      readonly kind: 'records';
      readonly event: EventKind;
      readonly info: DatasetInfo;
      readonly records: Iterable<EventRecord>;
    }
  | { readonly kind: 'airQuality'; readonly info: DatasetInfo; readonly records: Iterable<AirQualityRecord> }
  | { readonly kind: 'radon'; readonly info: DatasetInfo; readonly records: Iterable<RadonRecord> }
  | { readonly kind: 'readings'; readonly info: DatasetInfo; readonly records: Iterable<ReadingRecord> };

/** What a delivery replaces. */
export type LoadTarget = Dataset extends infer D ? (D extends Dataset ? Omit<D, 'info' | 'records'> : never) : never;

/** A delivery whose records may come over time; its `info` is read when they have all come. */
export type StreamedDataset = Dataset extends infer D
  ? D extends { readonly records: Iterable<infer T> }
    ? Omit<D, 'records'> & { readonly records: Iterable<T> | AsyncIterable<T> }
    : never
  : never;
