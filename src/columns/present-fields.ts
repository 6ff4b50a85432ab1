import type { Field } from '../contract/answer.ts';
import type { TopicSlug } from '../contract/topics.ts';
import { wantedColumns } from './topic-columns.ts';

/** A day, and an hour for clocks that differ: an answer has the service's time. */
const DAY_MS = 25 * 3_600_000;

/** The columns that speak of the moment of their answer, and for how long each is true: a fire may begin the day after. */
const TRUE_FOR_MS: ReadonlyMap<string, number> = new Map([['wildfire_current', DAY_MS]]);

/** The fields of the present in the rows of some topics. */
export interface PresentFields {
  /** Whether an answer of this time is too old for one of them. */
  hasEnded(asOf: number): boolean;
  /** Empties those of a topic that an answer of this time no longer tells. @returns the names of their columns */
  empty(topic: TopicSlug, fields: Field[], from: number, asOf: number): readonly string[];
}

/** @param now the time of the run; @param counts whether the columns of counts are wanted */
export function presentFields(topics: readonly TopicSlug[], counts: boolean, now: number): PresentFields {
  const columns = topics.flatMap((topic) =>
    wantedColumns(topic, counts).flatMap(({ name }, index) => {
      const trueFor = TRUE_FOR_MS.get(name);
      return trueFor === undefined ? [] : [{ topic, name, index, since: now - trueFor }];
    }),
  );
  return {
    hasEnded: (asOf) => columns.some(({ since }) => asOf < since),
    empty(topic, fields, from, asOf) {
      const ended = columns.filter(
        (column) => column.topic === topic && asOf < column.since && fields[from + column.index] !== null,
      );
      for (const { index } of ended) fields[from + index] = null;
      return ended.map(({ name }) => name);
    },
  };
}

/** Why fields of the present are empty; '' if none is. */
export function presentNote(names: readonly string[], asOf: number): string {
  return names.length === 0
    ? ''
    : `${names.join(' ')}: unknown now, the answer is of ${new Date(asOf).toISOString().slice(0, 10)}`;
}
