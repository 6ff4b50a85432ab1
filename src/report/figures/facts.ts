import { amount, counted, grouped, shareOf } from '../../base/format-numbers.ts';
import type { Field } from '../../contract/answer.ts';
import type { Category, TopicSlug } from '../../contract/topics.ts';
import type { LineReference } from '../../rows/port.ts';
import type { PlanSummary } from '../../run/summary-shapes.ts';
import type { Comparison } from '../compare/match-rows.ts';
import type { AreaList } from './concentration.ts';
import type { LossFacts } from './loss-facts.ts';
import type { PlaceLabel } from './named-rows.ts';
import type { Units } from './scales.ts';
import type { Credits, LeftOver } from './spending.ts';
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
  /** Whether that run is under way: the figures are of the answers so far. */
  readonly running: boolean;
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
  /** Null for a job without losses or without values, and where amounts in several currencies have no sum. */
  readonly losses: LossFacts | null;
  /** The circles of a mile or a kilometer with the largest value; without values, with most locations. */
  readonly circles: readonly (PlaceLabel & Sum & { readonly places: number })[];
  /** The places of largest value at risk: the first of each natural topic, and of all together. */
  readonly locations: readonly PlaceAtRisk[];
  /** What changed since an earlier output; null if none was named. */
  readonly changes: Comparison | null;
  /** With the first rows of each. */
  readonly problems: readonly {
    readonly note: string;
    readonly rows: number;
    readonly places: readonly LineReference[];
  }[];
  readonly missing: LeftOver & {
    /** All rows by `hazard_status`. */
    readonly status: readonly { readonly status: string; readonly rows: number }[];
    /** Why rows are not complete, the commonest reason first. */
    readonly reasons: readonly { readonly note: string; readonly rows: number }[];
  };
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

export interface PlaceAtRisk extends PlaceLabel, Sum {
  /** The answers as in the output: the Very High ratings first, then the Relatively High ones. */
  readonly ratings: readonly {
    readonly topic: TopicSlug;
    readonly rating: 'Very High' | 'Relatively High';
    readonly score: Field;
    readonly frequency: Field;
  }[];
}

/** Facts as `--json` prints them: the same names in snake case. */
export function factsJson(facts: Facts): object {
  return snakeCased(facts) as object;
}

function snakeCased(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(snakeCased);
  if (data === null || typeof data !== 'object') return data;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [snake(name), snakeCased(value)]),
  );
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export interface Measure {
  readonly by: 'locations' | 'value';
  /** The head of its column. */
  readonly name: string;
  readonly of: (sum: Sum) => number;
  /** `$92.7 B` or `36,600`. */
  readonly shown: (amount: number) => string;
  /** `$92.7 B` or `36,600 locations`. */
  readonly words: (sum: Sum) => string;
}

/** The measure of a report: the value if the input has one, else the number of locations. */
export function measureOf({ valueName, currency }: Pick<Facts, 'valueName' | 'currency'>): Measure {
  if (valueName === null) {
    const words = ({ locations }: Sum) => counted(locations, 'location');
    const of = ({ locations }: Sum) => locations;
    return { by: 'locations', name: 'Locations', of, shown: grouped, words };
  }
  const of = ({ value }: Sum) => value ?? 0;
  const shown = (value: number) => amount(value, currency);
  const name = currency === null ? 'Value' : `Value, ${currency}`;
  return { by: 'value', name, of, shown, words: (sum: Sum) => shown(of(sum)) };
}

/** A share in per cent: 12.3 %. 0 only for nothing, and 100 only for all. */
export function percent(part: number, whole: number, digits: 0 | 1 = 1): string {
  const share = shareOf(part, whole);
  if (share === null) return '–';
  const least = 10 ** -digits;
  const hundredths = share * 100;
  if (share > 0 && hundredths < least / 2) return `<${least} %`;
  if (share < 1 && hundredths >= 100 - least / 2) return `>${100 - least} %`;
  return `${share === 1 || share === 0 ? hundredths : hundredths.toFixed(digits)} %`;
}

/** `1,234`, or `a.csv:1,234` in a part file. */
export function lineText({ line, part }: LineReference): string {
  return part === undefined ? grouped(line) : `${part}:${grouped(line)}`;
}
