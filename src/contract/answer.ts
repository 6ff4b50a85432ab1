import type { TopicSlug } from './topics.ts';

/** A field of an answer as it will stand in a column; `null` is an empty field, and never the same as 0. */
export type Field = string | number | null;

/** What the service said of one topic at one cell: the fields in the order of the topic's columns. */
export interface Answer {
  readonly topic: TopicSlug;
  /** When the service said it: milliseconds since the epoch. */
  readonly asOf: number;
  readonly fields: readonly Field[];
}
