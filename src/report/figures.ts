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
  /** The natural topics among them, in the order of `AreaFigures.perils` and `LocationAtRisk.classes`. */
  readonly natural: readonly TopicSlug[];
  readonly map: MapFigures;
  readonly states: readonly AreaFigures[];
  readonly counties: readonly AreaFigures[];
  readonly locations: readonly LocationAtRisk[];
  /** Rows by `hazard_status`, of the located ones. */
  readonly status: Readonly<Record<string, number>>;
  /** Why rows are not complete, the commonest reason first. */
  readonly notes: readonly { readonly note: string; readonly rows: number }[];
  /** The times of the oldest and the newest answer, ISO 8601. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

/** The value is in units (`CellTable`). */
export interface RowsAndValue {
  readonly rows: number;
  readonly value: number;
}

interface TopicFigures {
  readonly slug: TopicSlug;
  readonly scale: Scale;
  readonly distribution: Distribution;
}

/** A state or a county. */
export interface AreaFigures extends RowsAndValue {
  readonly name: string;
  /** With an answer to at least one natural topic. */
  readonly answered: RowsAndValue;
  /** Rated Very High for at least one natural hazard. With Relatively High it would be nearly all of most portfolios. */
  readonly veryHigh: RowsAndValue;
  /** By natural topic: what was answered, and what of that is rated Relatively High or Very High. */
  readonly perils: readonly { readonly answered: RowsAndValue; readonly atRisk: RowsAndValue }[];
}

export interface MapFigures {
  readonly frame: Frame;
  readonly kind: 'point' | 'hexagon';
  /** The same locations in bins of different sizes: the fine ones, and larger ones for narrow screens. Points have one level. */
  readonly levels: readonly MapLevel[];
  /** Locations outside the states and the territories. */
  readonly notDrawn: RowsAndValue;
}

export interface MapLevel {
  /** Of a hexagon; 0 for points. */
  readonly radius: number;
  readonly bins: readonly (RowsAndValue & { readonly at: MapPoint })[];
  /** For the highest rating and then each topic: the typical class of what was answered in each bin as one letter of
   * `CLASS_LETTERS`, by rows and by value, and how many of its rows were answered. */
  readonly layers: readonly {
    readonly slug: TopicSlug | null;
    readonly rows: string;
    readonly value: string;
    readonly answered: readonly number[];
  }[];
}

/** A location that is rated Relatively High or Very High for some hazard. */
export interface LocationAtRisk extends RowsAndValue {
  /** The number of its cell. */
  readonly cell: number;
  readonly lat: number;
  readonly lng: number;
  readonly county: string;
  /** The class for each natural topic, as letters of `CLASS_LETTERS`. */
  readonly classes: string;
}

/** A class as one character. */
export const CLASS_LETTERS = '0123456789';
