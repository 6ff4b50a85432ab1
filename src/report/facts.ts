import type { CallKind } from '../contract/credits.ts';
import type { TopicSlug } from '../contract/topics.ts';
import type { RowPlace } from '../job/noted-rows.ts';
import type { Circle } from './circles.ts';
import type { Comparison } from './compare/comparison.ts';
import type { CurrencyTotal } from './currencies.ts';
import type { ReportFigures } from './figures.ts';
import type { Units } from './scales.ts';

/** What the page shows: figures of the locations, the run and the ledger. Times are milliseconds. */
export interface Facts {
  readonly job: string;
  /** The name of the input. */
  readonly input: string;
  readonly madeAt: number;
  /** When the run that is shown began; null before the first run. */
  readonly runAt: number | null;
  /** The service. */
  readonly source: string;
  readonly sample: boolean;
  /** The datasets that the answers come from; left out where a service gave them. */
  readonly local?: readonly LocalDataset[];
  readonly topics: readonly TopicSlug[];
  /** The value columns, e.g. `BuildingTIV + ContentsTIV`; null if the job has none. */
  readonly valueName: string | null;
  /** The currency of the values; null: not known. */
  readonly currency: string | null;
  /** Sums of value are in units of 10^-decimals of the currency (`CellTable`). */
  readonly decimals: number;
  readonly currencies: readonly CurrencyTotal[];
  readonly units: Units;
  readonly rows: number;
  readonly invalid: number;
  readonly outsideUs: number;
  readonly findings: readonly FindingFacts[];
  /** The unit of row numbers in the file: `line`, `row`, `feature`. */
  readonly unit: string;
  readonly figures: ReportFigures;
  /** The circles of a mile or a kilometer with the largest value; with most locations where there are no values. */
  readonly circles: readonly PlacedCircle[];
  /** Where the locations of the lists stand in the input, by cell. */
  readonly labels: ReadonlyMap<number, LocationLabel>;
  /** What changed since an earlier output; null if none was named. */
  readonly comparison: Comparison | null;
  readonly money: Money;
  readonly missing: Missing;
  readonly ledger: readonly LedgerLine[];
  readonly runs: readonly RunLine[];
}

export interface LocalDataset {
  readonly name: string;
  readonly level: string;
  readonly vintage: string;
  /** Null for the whole US. */
  readonly states: readonly string[] | null;
  readonly source: string;
  readonly licence: string;
}

/** A circle with the location and the county of its center. */
export interface PlacedCircle extends Circle {
  readonly lat: number;
  readonly lng: number;
  readonly county: string;
}

/** Where a location's first row is in the input, and the texts by which people know it; '' for none. */
interface LocationLabel extends RowPlace {
  /** 1 for the first row of the input. */
  readonly order: number;
  readonly id: string;
  readonly name: string;
}

interface FindingFacts {
  readonly note: string;
  readonly rows: number;
  /** The first rows in which it was found. */
  readonly places: readonly RowPlace[];
}

export interface Money {
  /** What the last run planned, spent, and may have spent. Credits. */
  readonly planned: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
  /** Most that it might spend; null before the first run. */
  readonly allowed: number | null;
  /** What that plan saves, of all places. With `planned` it is the price without savings. */
  readonly saved: { readonly byCells: number; readonly byCache: number; readonly byAreas: number };
}

export interface Missing {
  /** Credits that the missing answers cost now. */
  readonly credits: number;
  readonly cells: number;
  /** Why the last run stopped early, or null. */
  readonly stopped: string | null;
  readonly resumeAfter: number | null;
  /** What each account has left in its period, and when that resets. */
  readonly accounts: readonly {
    readonly account: string;
    readonly allowance: number;
    readonly left: number;
    readonly resetsAt: number;
  }[];
}

/** The calls of one kind, over all runs of the job. `free` calls failed and cost nothing. */
export interface LedgerLine {
  readonly kind: CallKind;
  readonly calls: Readonly<Record<'charged' | 'free' | 'unknown' | 'inFlight', number>>;
  readonly credits: Readonly<Record<'charged' | 'unknown' | 'inFlight', number>>;
}

interface RunLine {
  readonly run: number;
  readonly startedAt: number;
  readonly state: string;
  readonly planned: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
}
