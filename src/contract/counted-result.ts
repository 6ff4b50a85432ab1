import type { TopicResult } from './topic-values.ts';

/** A topic's result without its records: all that the columns are read from. */
export interface CountedResult {
  readonly value: TopicResult['value'];
  /** The number of records for each of the topic's `countColumns`, in their order; a count is null where nothing was said.
   * Null in place of the list: the records were not counted, and the answer ends before those columns. */
  readonly counts: readonly (number | null)[] | null;
  /** Metres to the nearest feature of a proximity topic, not rounded; null where there is none. */
  readonly nearestMeters: number | null;
}
