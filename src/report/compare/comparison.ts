import type { TopicSlug } from '../../contract/topics.ts';
import type { RowPlace } from '../../job/noted-rows.ts';
import type { Distribution } from '../class-sums.ts';
import type { RowsAndValue } from '../figures.ts';
import { HIGH, HIGHEST, VERY_HIGH } from '../scales.ts';

/** What changed between an earlier output and the report. */
export interface Comparison {
  /** The name of the earlier output. */
  readonly earlier: string;
  /** Of all values: rows in other currencies count as rows without value. Null: not known. */
  readonly currency: string | null;
  /** The column that identifies rows; null: by place, and by order among the rows of one place. */
  readonly idColumn: string | null;
  readonly before: RowsAndValue;
  readonly now: RowsAndValue;
  /** Rows that only one of them has. */
  readonly added: RowChanges;
  readonly gone: RowChanges;
  /** Rows whose place differs; their ratings may have changed for that reason. */
  readonly relocated: RowsAndValue;
  readonly topics: readonly TopicChanges[];
  /** Topics that the earlier output has no column for. */
  readonly notCompared: readonly TopicSlug[];
}

interface RowChanges extends RowsAndValue {
  /** The first of them, by their place in the file that has them. */
  readonly examples: readonly (RowPlace & { readonly key: string })[];
}

export interface TopicChanges {
  readonly slug: TopicSlug;
  /** All rows by rating. */
  readonly before: Distribution;
  readonly now: Distribution;
  /** Rows in both whose rating differs, most rows first. Value as it is now. */
  readonly moved: readonly (RowsAndValue & { readonly from: string; readonly to: string })[];
  /** Rows in both that were answered on one side only. */
  readonly newlyAnswered: RowsAndValue;
  readonly noLongerAnswered: RowsAndValue;
}

/** One row of a side. */
export interface ComparedRow {
  /** Identifies the row: rows with equal keys are matched in their order. */
  readonly key: string;
  readonly line: number;
  readonly part: string | null;
  /** Equal for equal places; '' without a usable location. */
  readonly place: string;
  readonly value: number;
  /** A class letter for each compared topic. */
  readonly classes: string;
}

/** A comparison as `--json` prints it. */
export function comparisonJson(comparison: Comparison): object {
  const { earlier, currency, idColumn, before, now, added, gone, relocated, topics, notCompared } = comparison;
  const side = ({ rows, value }: Distribution) => ({
    at_risk: { rows: rows[HIGH]! + rows[VERY_HIGH]!, value: value[HIGH]! + value[VERY_HIGH]! },
    ratings: Object.fromEntries(
      HIGHEST.classes.map(({ name }, index) => [name, { rows: rows[index]!, value: value[index]! }]),
    ),
  });
  return {
    ...{ earlier, matched_by: idColumn ?? 'place', currency, before, now, new: added, gone, relocated },
    topics: topics.map((topic) => ({
      ...{ topic: topic.slug, before: side(topic.before), now: side(topic.now), moved: topic.moved },
      newly_answered: topic.newlyAnswered,
      no_longer_answered: topic.noLongerAnswered,
    })),
    not_compared: notCompared,
  };
}
