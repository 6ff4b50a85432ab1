import type { Field } from '../contract/answer.ts';
import type { CallKind } from '../contract/credits.ts';
import type { Category, TopicSlug } from '../contract/topics.ts';
import type { LineReference } from '../rows/port.ts';
import type { Comparison } from './compare/comparison.ts';
import type { Units } from './scales.ts';
import type { Rated, Sum } from './sums.ts';

/**
 * All facts of a run, as plain data whose size does not grow with the input: the report draws it, `report --json` prints it.
 *
 * A row is a line of the input. A location is a row with usable coordinates in the US. A place is where locations lie, rounded to the
 * job's precision: it is asked for once. Values are in `currency`. Each share is of a sum that is here too.
 */
export interface Facts {
  /** The most important sentence. */
  readonly story: string;
  readonly job: string;
  /** The name of the input, without its folder: the report may be sent to others. */
  readonly input: string;
  /** The name of the output that holds all rows; null before the first run, and for standard output. */
  readonly output: string | null;
  /** ISO 8601, as are all times. */
  readonly madeAt: string;
  /** When the run that is shown began; null before the first run. */
  readonly runAt: string | null;
  /** The service. */
  readonly source: string;
  readonly sample: boolean;
  /** The datasets of this machine that the answers come from; null where a service gave them. */
  readonly datasets: readonly LocalDataset[] | null;
  /** The times of the oldest and the newest answer. */
  readonly oldest: string | null;
  readonly newest: string | null;
  /** The unit of row numbers in the file: `line`, `row`, `feature`. */
  readonly unit: string;
  /** Of distances. */
  readonly units: Units;
  /** The value columns, e.g. `BuildingTIV + ContentsTIV`; null if the job has none. */
  readonly valueName: string | null;
  /** The currency of the values; null: not known. */
  readonly currency: string | null;
  /** By currency, most locations first. Values of different currencies are never added. Empty without values. */
  readonly currencies: readonly CurrencySum[];
  readonly rows: number;
  readonly invalid: number;
  readonly outsideUs: number;
  readonly places: number;
  /** All locations. */
  readonly all: Sum;
  /** By the highest of a location's natural ratings; null without natural topics. */
  readonly highest: Rated | null;
  readonly topics: readonly TopicFacts[];
  readonly counties: AreaList;
  readonly states: AreaList;
  /** The circles of a mile or a kilometer with the largest value; with most locations where there are no values. */
  readonly circles: readonly CircleFacts[];
  /** The places of largest value at risk: the first of each natural topic, and of all together. */
  readonly locations: readonly PlaceAtRisk[];
  /** What changed since an earlier output; null if none was named. */
  readonly changes: Comparison | null;
  /** Problems of rows. */
  readonly problems: readonly RowProblem[];
  readonly missing: Missing;
  /** Null where the answers come from local data. */
  readonly credits: Credits | null;
}

interface CurrencySum extends Sum {
  /** Null where a row names none. */
  readonly currency: string | null;
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

export interface TopicFacts extends Rated {
  readonly topic: TopicSlug;
  readonly title: string;
  readonly category: Category;
  /** The counties with most of what is Very High (of what is severe, where nothing is), the largest first; empty where nothing is. */
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
  /** Of what was answered: Very High for at least one natural hazard. With Relatively High it would be nearly all of most portfolios. */
  readonly veryHigh: Sum;
  /** Of each natural topic: what was answered, and what of that is rated Relatively High or Very High. */
  readonly perils: readonly { readonly topic: TopicSlug; readonly answered: Sum; readonly severe: Sum }[];
}

/** Where a place is in the input, and the texts by which people know it; '' for none. */
export interface PlaceLabel extends LineReference {
  /** The number of its first row: 1 for the first of the input. */
  readonly order: number;
  readonly id: string;
  readonly name: string;
  readonly lat: number;
  readonly lng: number;
  readonly county: string;
}

/** A circle around a place. */
interface CircleFacts extends PlaceLabel, Sum {
  readonly places: number;
}

export interface PlaceAtRisk extends PlaceLabel, Sum {
  /** Those that are Very High first, then those that are Relatively High. */
  readonly ratings: readonly TopicRating[];
}

/** What was answered of a place, as it stands in the output. */
interface TopicRating {
  readonly topic: TopicSlug;
  readonly rating: 'Very High' | 'Relatively High';
  readonly score: Field;
  readonly frequency: Field;
}

interface RowProblem {
  readonly note: string;
  readonly rows: number;
  /** The first rows in which it was found. */
  readonly places: readonly LineReference[];
}

export interface Missing {
  /** Rows by `hazard_status`, those that are not locations too. */
  readonly status: readonly { readonly status: string; readonly rows: number }[];
  /** Why rows are not complete, the commonest reason first. */
  readonly reasons: readonly { readonly note: string; readonly rows: number }[];
  /** Credits that the missing answers cost now. */
  readonly credits: number;
  readonly places: number;
  /** Why the last run stopped early, or null. */
  readonly stopped: string | null;
  readonly resumeAfter: string | null;
  /** What each account has left in its period, and when that resets. */
  readonly accounts: readonly {
    readonly account: string;
    readonly allowance: number;
    readonly left: number;
    readonly resetsAt: string;
  }[];
}

export interface Credits {
  /** What the last run planned, spent, and may have spent. */
  readonly planned: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
  /** Most that it might spend; null before the first run. */
  readonly allowed: number | null;
  /** What that plan saves, of all places. With `planned` it is the price without savings. */
  readonly saved: { readonly byCells: number; readonly byCache: number; readonly byAreas: number };
  readonly ledger: readonly LedgerLine[];
  readonly runs: readonly RunLine[];
}

/** The calls of one kind, over all runs of the job. `free` calls failed and cost nothing. */
export interface LedgerLine {
  readonly kind: CallKind;
  readonly calls: Readonly<Record<'charged' | 'free' | 'unknown' | 'inFlight', number>>;
  readonly credits: Readonly<Record<'charged' | 'unknown' | 'inFlight', number>>;
}

interface RunLine {
  readonly run: number;
  readonly startedAt: string;
  readonly state: string;
  readonly planned: number;
  readonly charged: number;
  readonly unknown: number;
  readonly inFlight: number;
}

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
