import { isoDay } from '../base/format-numbers.ts';
import { memo } from '../base/memo.ts';
import { type Field, PRESENT_HOLDS_MS } from '../contract/answer.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { columnsOf } from './topic-columns.ts';

/** An answer has the service's time. */
const CLOCKS_DIFFER_MS = 3_600_000;

/** The columns that speak of the moment of their answer. */
const PRESENT_COLUMNS: ReadonlySet<string> = new Set(['wildfire_current']);

const presentIndexes = memo((topic: TopicSlug): readonly number[] =>
  columnsOf(topic).flatMap(({ name }, index) => (PRESENT_COLUMNS.has(name) ? [index] : [])),
);

/** Whether an answer of a time no longer tells what is now. */
export const isPast = (asOf: number, now: number): boolean => asOf < now - PRESENT_HOLDS_MS - CLOCKS_DIFFER_MS;

/** Whether a topic has a column of the present among its first ones. */
export const hasPresent = (topic: TopicSlug, width: number): boolean =>
  presentIndexes(topic).some((index) => index < width);

/** Empties the fields of the present of a topic. @returns the names of their columns */
export function emptyPresent(topic: TopicSlug, fields: Field[], from: number, to: number): string[] {
  const told = presentIndexes(topic).filter((index) => from + index < to && fields[from + index] !== null);
  for (const index of told) fields[from + index] = null;
  return told.map((index) => columnsOf(topic)[index]!.name);
}

/** Why fields of the present are empty; '' if none is. */
export function presentNote(names: readonly string[], asOf: number): string {
  return names.length === 0 ? '' : `${names.join(' ')}: unknown now, the answer is of ${isoDay(asOf)}`;
}
