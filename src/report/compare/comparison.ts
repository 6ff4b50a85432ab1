import type { TopicSlug } from '../../contract/topics.ts';
import type { CountedSum } from '../figures/sums.ts';
import type { Bridge } from './bridge.ts';

/** The changes between an earlier output and the report. Values are in `currency`, no longer in whole units; other currencies are
 * apart. */
export interface Comparison {
  /** The name of the earlier output. */
  readonly earlier: string;
  /** Null: unknown. */
  readonly currency: string | null;
  /** The column that identifies rows, else `place`: rows are matched by place, and by order among the rows of one place. */
  readonly matchedBy: string;
  readonly before: ComparedSum;
  readonly now: ComparedSum;
  /** Rows in only one of the files. */
  readonly new: ComparedSum;
  readonly gone: ComparedSum;
  /** Rows whose place differs; their ratings may have changed for that reason. */
  readonly relocated: ComparedSum;
  /** The bridge of the total value, for all ratings. */
  readonly bridge: Bridge;
  readonly topics: readonly TopicChanges[];
  /** Topics without a column in the earlier output. */
  readonly notCompared: readonly TopicSlug[];
}

export interface ComparedSum {
  readonly rows: number;
  /** Null if none of the rows has a value in the currency, because unknown is not zero. */
  readonly value: number | null;
  /** Rows whose value is empty or not a number, in any currency. */
  readonly withoutValue: number;
  /** Rows with a value in another currency, most rows first; `currency` is null where a row names none. */
  readonly otherCurrencies: readonly (CountedSum & { readonly currency: string | null })[];
}

export interface TopicChanges {
  readonly topic: TopicSlug;
  readonly title: string;
  /** The bridge of the value rated Relatively High or Very High. */
  readonly bridge: Bridge;
  /** Rows in both files, at the same place, with different ratings, most rows first. With the present value. */
  readonly moved: readonly RatingMove[];
  readonly answeredThen: CountedSum;
  readonly answeredNow: CountedSum;
}

export interface RatingMove extends CountedSum {
  readonly from: string;
  readonly to: string;
  readonly isWorse: boolean;
}
