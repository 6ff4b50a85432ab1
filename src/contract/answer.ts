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

/** The service has nothing on this place, which lasts: an answer whose fields are all empty. Any other has a word or a count. */
export function noDataAnswer(topic: TopicSlug, asOf: number, width: number): Answer {
  return { topic, asOf, fields: new Array<null>(width).fill(null) };
}

export function isNoData(fields: readonly Field[]): boolean {
  return fields.length > 0 && fields.every((field) => field === null);
}

/** That a source has answered from sample data. */
export interface SampleMark {
  /** When the newest such answer was said. Nobody can tell the older ones apart, so they count as sample data too. */
  readonly until: number;
  /** Whether the source's latest answer was one. */
  readonly still: boolean;
}

/** Why a topic at a cell has no answer, as far as trying showed; never kept as an answer, and tried again by a later run
 * (`rejected` excepted: the service refused this place). */
export interface TopicFailure {
  readonly reason: 'unavailable' | 'failed' | 'rejected';
  /** One line for `hazard_note`. */
  readonly note: string;
  readonly at: number;
}

/** A refusal of a place is as final as the index behind it: it is believed for a year. */
export const REJECTION_HOLDS_MS = 365 * 24 * 3_600_000;

/** All that is known of a cell: at most one answer and one failure a topic. */
export interface CellRecord {
  readonly answers: ReadonlyMap<TopicSlug, Answer>;
  readonly failures: ReadonlyMap<TopicSlug, TopicFailure>;
}

export const EMPTY_RECORD: CellRecord = { answers: new Map(), failures: new Map() };
