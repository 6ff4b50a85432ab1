import type { Field } from '../../contract/answer.ts';
import type { CallKind } from '../../contract/credits.ts';
import type { Category, TopicSlug } from '../../contract/topics.ts';
import type { LineReference } from '../../rows/port.ts';
import type { PlanSummary } from '../../run/summary.ts';
import type { StatementRow } from '../../store/ledger/port.ts';
import type { Comparison } from '../compare/match-rows.ts';
import type { Units } from './scales.ts';
import type { Rated, Sum } from './sums.ts';

/** All facts of a run, as plain data whose size does not grow with the input: the report draws it, `report --json` prints it.
 * A row is a line of the input. A location is a row with usable coordinates in the US. A place is a location rounded to the
 * job's precision, and is bought once. Values are in `currency`. The denominator of each share is here too. */
export interface Facts {
  /** The most important sentence. */
  readonly story: string;
  readonly job: string;
  /** The name of the input, without its folder: the report may be sent to others. */
  readonly input: string;
  /** The name of the output; null before the first run, and for standard output. */
  readonly output: string | null;
  /** ISO 8601, as are all times. */
  readonly madeAt: string;
  /** The start of the shown run; null before the first run. */
  readonly runAt: string | null;
  readonly source: string;
  readonly sample: boolean;
  /** The datasets on this machine with the answers; null if a service gave them. */
  readonly datasets: readonly LocalDataset[] | null;
  readonly oldest: string | null;
  readonly newest: string | null;
  /** The unit of row numbers in the file: `line`, `row`, `feature`. */
  readonly unit: string;
  readonly units: Units;
  /** The value columns, e.g. `BuildingTIV + ContentsTIV`; null if the job has none. */
  readonly valueName: string | null;
  /** The currency of the values; null: unknown. */
  readonly currency: string | null;
  /** By currency (null where a row names none), most locations first. Values of different currencies are never added. Empty without values. */
  readonly currencies: readonly (Sum & { readonly currency: string | null })[];
  readonly rows: number;
  readonly invalid: number;
  readonly outsideUs: number;
  readonly places: number;
  readonly all: Sum;
  readonly complete: Sum;
  /** By the highest of a location's natural ratings; null without natural topics. */
  readonly highest: Rated | null;
  readonly topics: readonly TopicFacts[];
  readonly counties: AreaList;
  readonly states: AreaList;
  /** The circles of a mile or a kilometer with the largest value; without values, with most locations. */
  readonly circles: readonly (PlaceLabel & Sum & { readonly places: number })[];
  /** The places of largest value at risk: the first of each natural topic, and of all together. */
  readonly locations: readonly PlaceAtRisk[];
  /** What changed since an earlier output; null if none was named. */
  readonly changes: Comparison | null;
  readonly problems: readonly RowProblem[];
  readonly missing: Missing;
  /** Null for answers from local data. */
  readonly credits: Credits | null;
}

/** `states` is null for the whole US. */
export type LocalDataset = Omit<
  Extract<PlanSummary['source'], { readonly kind: 'local' }>['datasets'][number],
  'loaded_at'
>;

export interface TopicFacts extends Rated {
  readonly topic: TopicSlug;
  readonly title: string;
  readonly category: Category;
  /** The counties with most of the Very High sum (if it is 0: of the severe sum), the largest first; empty if both are 0. */
  readonly mostIn: readonly (Sum & { readonly county: string })[];
}

/** The largest states or counties, the rest together, and all. */
export interface AreaList {
  readonly count: number;
  readonly largest: readonly AreaFacts[];
  readonly others: AreaFacts | null;
  readonly all: AreaFacts;
}

export interface AreaFacts extends Sum {
  readonly name: string;
  /** With an answer to at least one natural topic. */
  readonly answered: Sum;
  /** Of the answered locations: Very High for at least one natural hazard. Relatively High would cover nearly all of most portfolios. */
  readonly veryHigh: Sum;
  /** For each natural topic: the answered sum, and its part rated Relatively High or Very High. For flood zones: the sum whose zone is
   * determined, and its part in a Special Flood Hazard Area. */
  readonly perils: readonly { readonly topic: TopicSlug; readonly answered: Sum; readonly severe: Sum }[];
}

/** The line of a place in the input, and its id and name; '' for none. */
export interface PlaceLabel extends LineReference {
  /** The number of its first row: 1 for the first of the input. */
  readonly order: number;
  readonly id: string;
  readonly name: string;
  readonly lat: number;
  readonly lng: number;
  readonly county: string;
}

export interface PlaceAtRisk extends PlaceLabel, Sum {
  /** The Very High ratings first, then the Relatively High ones. */
  readonly ratings: readonly TopicRating[];
}

/** The answers of a place, as in the output. */
interface TopicRating {
  readonly topic: TopicSlug;
  readonly rating: 'Very High' | 'Relatively High';
  readonly score: Field;
  readonly frequency: Field;
}

interface RowProblem {
  readonly note: string;
  readonly rows: number;
  /** The first rows with the problem. */
  readonly places: readonly LineReference[];
}

interface Missing {
  /** All rows by `hazard_status`. */
  readonly status: readonly { readonly status: string; readonly rows: number }[];
  /** Why rows are not complete, the commonest reason first. */
  readonly reasons: readonly { readonly note: string; readonly rows: number }[];
  /** Credits that the missing answers cost now. */
  readonly credits: number;
  readonly places: number;
  /** Why the last run stopped early, or null. */
  readonly stopped: string | null;
  readonly resumeAfter: string | null;
  /** The credits left of the account in its period, and the time of the reset; null for local data. */
  readonly account: {
    readonly name: string;
    readonly allowance: number;
    readonly left: number;
    /** The subscription that is assumed; null where a job or an option names it. */
    readonly assumed: string | null;
    readonly resetsAt: string;
  } | null;
}

export interface Credits {
  /** Of the sample, which charges none: these are what a paid service would charge. */
  readonly isMadeUp: boolean;
  /** The credits that the last run planned, spent, and may have spent. */
  readonly planned: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
  /** The run's spending limit; null before the first run. */
  readonly allowed: number | null;
  /** The plan's saving over all places. With `planned` it is the price without savings. */
  readonly saved: { readonly byCells: number; readonly byCache: number; readonly byAreas: number };
  readonly ledger: readonly LedgerLine[];
}

/** The calls of one kind, over all runs of the job. `free` calls failed and cost nothing. */
export type LedgerLine = Pick<StatementRow, 'calls' | 'credits'> & { readonly kind: CallKind };

/** Facts as `--json` prints them: the same names in snake case. */
export function factsJson(facts: Facts): object {
  return snakeCased(facts) as object;
}

function snakeCased(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(snakeCased);
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [snake(name), snakeCased(value)]));
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
