import type { TopicSlug } from '../../contract/topics.ts';
import type { RowPlace } from '../../job/noted-rows.ts';
import { valueOfUnits } from '../../job/scan/value.ts';
import { HIGH, HIGHEST, VERY_HIGH } from '../scales.ts';
import type { CountedSum } from '../sums.ts';

interface Distribution {
  readonly rows: readonly number[];
  readonly value: readonly number[];
}

/** What changed between an earlier output and the report. */
export interface Comparison {
  /** The name of the earlier output. */
  readonly earlier: string;
  /** Of the values; those in other currencies are apart. Null: not known. */
  readonly currency: string | null;
  /** Sums of value are in units of 10^-decimals of the currency. */
  readonly decimals: number;
  /** The column that identifies rows; null: by place, and by order among the rows of one place. */
  readonly idColumn: string | null;
  readonly before: ComparedSum;
  readonly now: ComparedSum;
  /** Rows that only one of them has. */
  readonly added: RowChanges;
  readonly gone: RowChanges;
  /** Rows whose place differs; their ratings may have changed for that reason. */
  readonly relocated: ComparedSum;
  readonly topics: readonly TopicChanges[];
  /** Topics that the earlier output has no column for. */
  readonly notCompared: readonly TopicSlug[];
}

/** Rows, and their values in the currency of the comparison. */
export interface ComparedSum {
  readonly rows: number;
  /** Null where none of the rows has a value in that currency: not known is not zero. */
  readonly value: number | null;
  /** Rows whose value is empty or not a number, in any currency. */
  readonly withoutValue: number;
  /** Rows with a value in another currency, most rows first; `currency` is null where a row names none. */
  readonly others: readonly (CountedSum & { readonly currency: string | null })[];
}

interface RowChanges extends ComparedSum {
  /** The first of them, by their place in the file that has them. */
  readonly examples: readonly (RowPlace & { readonly key: string })[];
}

export interface TopicChanges {
  readonly slug: TopicSlug;
  /** All rows by rating. */
  readonly before: Distribution;
  readonly now: Distribution;
  /** Rows in both whose rating differs, most rows first. Value as it is now. */
  readonly moved: readonly (CountedSum & { readonly from: string; readonly to: string })[];
  /** Rows in both that were answered on one side only. */
  readonly newlyAnswered: CountedSum;
  readonly noLongerAnswered: CountedSum;
}

/** One row of a side. */
export interface ComparedRow {
  /** Identifies the row: rows with equal keys are matched in their order. */
  readonly key: string;
  readonly line: number;
  readonly part: string | null;
  /** Equal for equal places; '' without a usable location. */
  readonly place: string;
  /** In units; null where it is empty or not a number. */
  readonly value: number | null;
  /** The currency where it is another than that of the comparison, '' where the row names none; else null. */
  readonly otherCurrency: string | null;
  /** A class letter for each compared topic. */
  readonly classes: string;
}

/** A comparison as `--json` prints it. */
export function comparisonJson(comparison: Comparison): object {
  const { earlier, currency, decimals, idColumn, before, now, added, gone, relocated, topics, notCompared } =
    comparison;
  const inCurrency = (units: number) => valueOfUnits(units, decimals);
  const valued = <Sum extends CountedSum>(sum: Sum): Sum => ({ ...sum, value: inCurrency(sum.value) });
  const side = ({ rows, value }: Distribution) => ({
    at_risk: { rows: rows[HIGH]! + rows[VERY_HIGH]!, value: inCurrency(value[HIGH]! + value[VERY_HIGH]!) },
    ratings: Object.fromEntries(
      HIGHEST.classes.map(({ name }, index) => [name, { rows: rows[index]!, value: inCurrency(value[index]!) }]),
    ),
  });
  const sum = ({ rows, value, withoutValue, others }: ComparedSum) => ({
    ...{ rows, value: value === null ? null : inCurrency(value), without_value: withoutValue },
    other_currencies: others.map(valued),
  });
  return {
    ...{ earlier, matched_by: idColumn ?? 'place', currency, before: sum(before), now: sum(now) },
    new: { ...sum(added), examples: added.examples },
    gone: { ...sum(gone), examples: gone.examples },
    relocated: sum(relocated),
    topics: topics.map((topic) => ({
      ...{ topic: topic.slug, before: side(topic.before), now: side(topic.now), moved: topic.moved.map(valued) },
      newly_answered: valued(topic.newlyAnswered),
      no_longer_answered: valued(topic.noLongerAnswered),
    })),
    not_compared: notCompared,
  };
}
