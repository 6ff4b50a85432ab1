import type { Answer, CellRecord, TopicFailure } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import { FieldPacker, type Texts } from '../../formats/packed/packed-fields.ts';
import {
  answersIn,
  damagedCell,
  endOfFields,
  mergedAnswers,
  type SoughtAnswer,
  statedIn,
} from './packed-answers.ts';
import type { WantedAnswer } from './port.ts';

export type PackedFailures = Record<
  string,
  [reason: TopicFailure['reason'], note: string, at: number]
>;

/** The stored row of a cell: its answers packed, its failures as JSON. */
export interface PackedCell {
  readonly answers: Buffer;
  readonly failures: string | null;
}

/** The number of fields of a topic's answer; null if unknown. An answer with another number was written by a version with other
 * columns: it is not read, and so bought again. */
export type WidthOf = (topic: TopicSlug) => number | null;

/** Unpacks the answers of cells. */
export interface AnswerReader {
  unpack(cell: PackedCell): CellRecord;
  /** What a search for answers needs to know of them. */
  soughtOf(wanted: readonly WantedAnswer[]): SoughtAnswer[];
}

/** Unpacks the answers of cells. Independent of the database. */
export function cellReader(texts: Texts, widthOf: WidthOf): AnswerReader {
  const packer = new FieldPacker(texts);

  function unpack({ answers: bytes, failures }: PackedCell): CellRecord {
    const answers = new Map<TopicSlug, Answer>();
    for (const answer of answersIn(bytes)) {
      const { slug, asOf, width, from } = answer;
      const topic = texts.textOf(slug);
      // Skips slugs that this version does not have.
      if (!isTopicSlug(topic)) continue;
      if (width !== (widthOf(topic) ?? width)) continue;
      endOfFields(bytes, answer, width);
      const stated = answer.isStated
        ? { stated: String(packer.unpack(bytes, statedIn(bytes, answer), 1)[0] ?? '') }
        : {};
      answers.set(topic, { topic, asOf, fields: packer.unpack(bytes, from, width), ...stated });
    }
    return { answers, failures: unpackFailures(failures) };
  }

  function soughtOf(wanted: readonly WantedAnswer[]): SoughtAnswer[] {
    return wanted.map((answer) => ({
      ...answer,
      slug: texts.numberOf(answer.topic),
      width: widthOf(answer.topic),
    }));
  }

  return { unpack, soughtOf };
}

/** The row of a cell after a call. A newer answer replaces an older one and removes the topic's failure; a failure removes no
 * answer. @param packed as `packAnswers` gives them
 * @param answered the topics of these */
export function mergedCell(
  stored: PackedCell | undefined,
  packed: Buffer,
  failures: readonly (TopicFailure & { readonly topic: TopicSlug })[],
  answered: () => readonly string[],
): PackedCell {
  return {
    answers: stored ? mergedAnswers(stored.answers, packed) : packed,
    failures: mergedFailures(stored?.failures ?? null, failures, answered),
  };
}

/** The failures of a cell after a call; null without one. @param answered the topics of its answers */
export function mergedFailures(
  stored: string | null,
  failures: readonly (TopicFailure & { readonly topic: TopicSlug })[],
  answered: () => readonly string[],
): string | null {
  if (stored === null && failures.length === 0) return null;
  const merged: PackedFailures = stored === null ? {} : parsedFailures(stored);
  for (const topic of answered()) delete merged[topic];
  for (const { topic, reason, note, at } of failures) merged[topic] = [reason, note, at];
  return Object.keys(merged).length > 0 ? JSON.stringify(merged) : null;
}

/** Stored failures without rejections; null if none are left. @throws STORE_UNUSABLE */
export function withoutRejections(failures: string): string | null {
  const left = Object.entries(parsedFailures(failures)).filter(
    ([, [reason]]) => reason !== 'rejected',
  );
  return left.length > 0 ? JSON.stringify(Object.fromEntries(left)) : null;
}

function unpackFailures(text: string | null): Map<TopicSlug, TopicFailure> {
  const failures = new Map<TopicSlug, TopicFailure>();
  if (text === null) return failures;
  for (const [topic, [reason, note, at]] of Object.entries(parsedFailures(text))) {
    if (isTopicSlug(topic)) failures.set(topic, { reason, note, at });
  }
  return failures;
}

/** @throws PerilbookError STORE_UNUSABLE for a text that a damaged disk has changed */
export function parsedFailures(text: string): PackedFailures {
  try {
    return JSON.parse(text);
  } catch {
    throw damagedCell();
  }
}
