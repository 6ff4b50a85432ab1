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
  /** The name of the job. */
  readonly job: string;
  /** The name of the input, without its folder: the report may be sent to others. */
  readonly input: string;
  /** The name of the output; null before the first run, and for standard output. */
  readonly output: string | null;
  /** When the report was made, ISO 8601 in UTC, as are all times. */
  readonly madeAt: string;
  /** The start of the shown run; null before the first run. */
  readonly runAt: string | null;
  /** Whether that run is under way: the figures are of the answers so far. */
  readonly running: boolean;
  /** Where the answers come from, in words. */
  readonly source: string;
  /** Whether some answers are made up. */
  readonly sample: boolean;
  /** The datasets on this machine with the answers; null if a service gave them. */
  readonly datasets: readonly LocalDataset[] | null;
  /** When the oldest answer was given; null without an answer. */
  readonly oldest: string | null;
  /** When the newest answer was given; null without an answer. */
  readonly newest: string | null;
  /** The unit of row numbers in the file: `line`, `row`, `feature`. */
  readonly unit: string;
  /** The unit of the distances that it shows. */
  readonly units: Units;
  /** The value columns, e.g. `BuildingTIV + ContentsTIV`; null if the job has none. */
  readonly valueName: string | null;
  /** The currency of the values; null where it is not known. */
  readonly currency: string | null;
  /** Locations by currency, most first; empty without values. Values of different currencies are never added. */
  readonly currencies: readonly (Sum & {
    /** The currency; null where a row names none. */
    readonly currency: string | null;
  })[];
  /** Rows of the input. */
  readonly rows: number;
  /** Rows without a usable location. */
  readonly invalid: number;
  /** Rows outside the US. */
  readonly outsideUs: number;
  /** Distinct places: rows at one place are bought once. */
  readonly places: number;
  /** All locations. */
  readonly all: Sum;
  /** Locations with a fresh answer to each topic. */
  readonly complete: Sum;
  /** Locations by the highest of their natural ratings; null without natural topics. */
  readonly highest: Rated | null;
  /** One for each topic. */
  readonly topics: readonly TopicFacts[];
  /** The largest counties. */
  readonly counties: AreaList;
  /** The largest states. */
  readonly states: AreaList;
  /** Null for a job without losses or values, and where no value is in the report's currency. */
  readonly losses: LossFacts | null;
  /** The circles of a mile or a kilometer with the largest value; without values, with most locations. */
  readonly circles: readonly (PlaceLabel &
    Sum & {
      /** Distinct places in the circle. */
      readonly places: number;
    })[];
  /** The places of largest value at risk: the first of each natural topic, and of all together. */
  readonly locations: readonly PlaceAtRisk[];
  /** What changed since an earlier output; null if none was named. */
  readonly changes: Comparison | null;
  /** What is wrong with rows, one for each kind. */
  readonly problems: readonly {
    /** What is wrong, in words. */
    readonly note: string;
    /** How many rows. */
    readonly rows: number;
    /** The first of these rows. */
    readonly places: readonly LineReference[];
  }[];
  /** What has no answer yet. */
  readonly missing: LeftOver & {
    /** All rows, by `hazard_status`. */
    readonly status: readonly {
      /** The value of `hazard_status`. */
      readonly status: string;
      /** How many rows. */
      readonly rows: number;
    }[];
    /** Why rows are not complete, the commonest reason first. */
    readonly reasons: readonly {
      /** The reason, in words. */
      readonly note: string;
      /** How many rows. */
      readonly rows: number;
    }[];
  };
  /** What was spent; null for answers from local data. */
  readonly credits: Credits | null;
}

/** `states` is null for the whole US. */
export type LocalDataset = Omit<
  Extract<PlanSummary['source'], { readonly kind: 'local' }>['datasets'][number],
  'loaded_at'
>;

export interface TopicFacts extends Rated {
  /** The name of the topic. */
  readonly topic: TopicSlug;
  /** Its title. */
  readonly title: string;
  /** Its category. */
  readonly category: Category;
  /** The counties with most of the Very High sum, else of the severe sum, the largest first; empty where both are 0. */
  readonly mostIn: readonly (Sum & {
    /** The name of the county. */
    readonly county: string;
  })[];
}

export interface PlaceAtRisk extends PlaceLabel, Sum {
  /** The answers as in the output: the Very High ratings first, then the Relatively High ones. */
  readonly ratings: readonly {
    /** The name of the topic. */
    readonly topic: TopicSlug;
    /** The rating. */
    readonly rating: 'Very High' | 'Relatively High';
    /** Its score; null where there is none. */
    readonly score: Field;
    /** Its events a year; null where there is none. */
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
