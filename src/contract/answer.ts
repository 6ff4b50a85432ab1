import type { TopicSlug } from './topics.ts';

/** A field of an answer as it goes into a column; `null` is an empty field and never the same as 0. */
export type Field = string | number | null;

/** The service's answer on one topic at one cell, with the fields in the order of the topic's columns. */
export interface Answer {
  readonly topic: TopicSlug;
  /** When the service answered, in milliseconds since the epoch. */
  readonly asOf: number;
  readonly fields: readonly Field[];
  /** What the service says of the data behind it (`statedText`); most services say nothing. */
  readonly stated?: string | undefined;
}

/** The times of the answers that count. One dated later was given under a clock that was ahead: it would hold for years. */
export interface FreshTimes {
  readonly freshSince: number;
  /** Left out: no limit. */
  readonly freshUntil?: number;
}

/** Whether an answer of a time is neither too old nor dated ahead. */
export function isFreshAt(asOf: number, { freshSince, freshUntil }: FreshTimes): boolean {
  return asOf >= freshSince && asOf <= (freshUntil ?? Number.POSITIVE_INFINITY);
}

/** The service has no data on this place, which is lasting: an answer whose fields are all empty. Every other answer
 * has at least one value. */
export function noDataAnswer(topic: TopicSlug, asOf: number, width: number): Answer {
  return { topic, asOf, fields: new Array<null>(width).fill(null) };
}

/** Whether an answer says nothing: it has fields, and each is null. */
export function isNoData(fields: readonly Field[]): boolean {
  return fields.length > 0 && fields.every((field) => field === null);
}

/** Marks a source that has answered from sample data. */
export interface SampleMark {
  /** The time of the newest such answer. Older answers cannot be told apart, so they count as sample data too. */
  readonly until: number;
  /** Whether the source's latest answer was one. */
  readonly still: boolean;
}

/** Why a topic at a cell has no answer. It is never stored as an answer, and a later run tries again (except
 * `rejected`: the service refused this place). */
export interface TopicFailure {
  readonly reason: 'unavailable' | 'failed' | 'rejected';
  /** One line for `hazard_note`. */
  readonly note: string;
  readonly at: number;
}

/** Whether local data that was asked again after an answer did not give it. Of the same moment the answer counts.
 * @param failedAt when it last failed to answer; undefined: never */
export function isReplaced(asOf: number, failedAt: number | undefined): boolean {
  return failedAt !== undefined && failedAt > asOf;
}

/** A rejection is valid for a year, like the index that it depends on. */
export const REJECTION_HOLDS_MS = 365 * 24 * 3_600_000;

/** For how long a count of the present is true, such as that of fires that burn: one may begin the day after. */
export const PRESENT_HOLDS_MS = 24 * 3_600_000;

/** Everything known of a cell: at most one answer and one failure per topic. */
export interface CellRecord {
  readonly answers: ReadonlyMap<TopicSlug, Answer>;
  readonly failures: ReadonlyMap<TopicSlug, TopicFailure>;
}

export const EMPTY_RECORD: CellRecord = { answers: new Map(), failures: new Map() };
