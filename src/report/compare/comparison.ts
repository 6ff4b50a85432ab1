import type { TopicSlug } from '../../contract/topics.ts';
import type { CountedSum } from '../sums.ts';
import type { Bridge } from './bridge.ts';

/** What changed between an earlier output and the report. Values are in `currency`, no longer in whole units; those in other currencies are apart. */
export interface Comparison {
  /** The name of the earlier output. */
  readonly earlier: string;
  /** Null: not known. */
  readonly currency: string | null;
  /** The column that identifies rows, else `place`: rows are matched by place, and by order among the rows of one place. */
  readonly matchedBy: string;
  readonly before: ComparedSum;
  readonly now: ComparedSum;
  /** Rows that only one of them has. */
  readonly new: ComparedSum;
  readonly gone: ComparedSum;
  /** Rows whose place differs; their ratings may have changed for that reason. */
  readonly relocated: ComparedSum;
  /** The way of all value, whatever it is rated. */
  readonly bridge: Bridge;
  readonly topics: readonly TopicChanges[];
  /** Topics that the earlier output has no column for. */
  readonly notCompared: readonly TopicSlug[];
}

export interface ComparedSum {
  readonly rows: number;
  /** Null where none of the rows has a value in that currency: not known is not zero. */
  readonly value: number | null;
  /** Rows whose value is empty or not a number, in any currency. */
  readonly withoutValue: number;
  /** Rows with a value in another currency, most rows first; `currency` is null where a row names none. */
  readonly otherCurrencies: readonly (CountedSum & { readonly currency: string | null })[];
}

export interface TopicChanges {
  readonly topic: TopicSlug;
  readonly title: string;
  /** The way of what is rated Relatively High or Very High. */
  readonly bridge: Bridge;
  /** Rows in both, at the same place or not, whose rating differs, most rows first. Value as it is now. */
  readonly moved: readonly RatingMove[];
  readonly answeredThen: CountedSum;
  readonly answeredNow: CountedSum;
}

export interface RatingMove extends CountedSum {
  readonly from: string;
  readonly to: string;
  readonly isWorse: boolean;
  /** From or to Relatively High or Very High. */
  readonly isHigh: boolean;
}
