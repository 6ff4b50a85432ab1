import type { TopicSlug } from '../contract/topics.ts';
import type { Distribution } from './class-sums.ts';
import type { Frame, MapPoint } from './map/frame.ts';
import type { Scale } from './scales.ts';

/** Statistics of the locations: plain data whose size does not grow with the input. */
export interface ReportFigures {
  readonly cells: number;
  /** Rows with a location in the US, and their value. */
  readonly rows: number;
  readonly value: number;
  /** By the highest of a location's natural ratings; null without natural topics. */
  readonly highest: Distribution | null;
  readonly topics: readonly TopicFigures[];
  readonly map: MapFigures;
  readonly states: readonly AreaFigures[];
  readonly counties: readonly AreaFigures[];
  readonly worst: readonly WorstLocation[];
  /** Rows by `hazard_status`, of the located ones. */
  readonly status: Readonly<Record<string, number>>;
  /** Why rows are not complete, the commonest reason first. */
  readonly notes: readonly { readonly note: string; readonly rows: number }[];
  /** The times of the oldest and the newest answer, ISO 8601. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

interface Share {
  readonly rows: number;
  readonly value: number;
}

export interface TopicFigures {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly distribution: Distribution;
}

/** A state or a county, the one with most locations first. */
export interface AreaFigures extends Share {
  readonly name: string;
  /** Rated Very High for at least one natural hazard. With Relatively High it would be nearly all of most portfolios. */
  readonly veryHigh: Share;
}

export interface MapFigures {
  readonly frame: Frame;
  readonly kind: 'point' | 'hexagon';
  readonly bins: readonly (Share & { readonly at: MapPoint })[];
  /** For the highest rating and then each topic: the typical class of each bin as one letter of `CLASS_LETTERS`, by rows
   * and by value. */
  readonly layers: readonly { readonly slug: TopicSlug | null; readonly rows: string; readonly value: string }[];
  /** Territories that the projection leaves out. */
  readonly notDrawn: readonly (Share & { readonly name: string })[];
}

/** A location with high ratings. */
export interface WorstLocation extends Share {
  /** The number of its cell. */
  readonly cell: number;
  readonly lat: number;
  readonly lng: number;
  readonly county: string;
  readonly veryHigh: readonly TopicSlug[];
  readonly high: readonly TopicSlug[];
}

/** A class as one character. */
export const CLASS_LETTERS = '0123456789';
