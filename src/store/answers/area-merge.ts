import type { Answer, Field } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { AreaWanted } from '../ledger/port.ts';
import type { AreaAnswers, StoredArea } from './port.ts';

/** The stored row of an area: its answers as JSON. Areas are few, and read once a run. The answers have only the fields that are
 * the same in the whole area. */
export interface AreaRow {
  readonly answers: string;
  readonly mismatchedAt: number | null;
}

type JsonAnswers = Record<string, [asOf: number, fields: Field[]]>;

/** How long a mismatch counts. A new release of the index between two answers of an area causes a mismatch too. Without an end, it
 * would cost a call for each of its locations for ever; a wrong area column causes a new mismatch. Natural answers stay fresh as long. */
const MARK_HOLDS_MS = 365 * 24 * 60 * 60_000;

/** Skips slugs that this version does not have. */
function answersOf(json: string): Map<TopicSlug, Answer> {
  const answers = new Map<TopicSlug, Answer>();
  for (const [topic, [asOf, fields]] of Object.entries(JSON.parse(json) as JsonAnswers)) {
    if (isTopicSlug(topic)) answers.set(topic, { topic, asOf, fields });
  }
  return answers;
}

/** When two answers of the area last differed; null if that no longer counts. */
function markOf({ mismatchedAt }: AreaRow, now: number): number | null {
  return mismatchedAt !== null && Math.abs(now - mismatchedAt) < MARK_HOLDS_MS ? mismatchedAt : null;
}

export function storedArea(row: AreaRow, now: number): StoredArea {
  return { answers: answersOf(row.answers), mismatchedAt: markOf(row, now) };
}

/** Whether an area has a fresh answer to a wanted topic. An area whose answers differ is not used. */
export function isAreaAnswered(stored: StoredArea | null | undefined, wanted: AreaWanted['wanted']): boolean {
  if (!stored || stored.mismatchedAt !== null) return false;
  return wanted.some(({ topic, freshSince }) => (stored.answers.get(topic)?.asOf ?? -1) >= freshSince);
}

/**
 * The row of an area after an answer at one of its locations. If a comparable answer of the area differs, the area is marked:
 * one answer does not hold for all of its locations.
 */
export function mergedArea(
  row: AreaRow | undefined,
  { answers, comparableSince }: Omit<AreaAnswers, 'area'>,
  now: number,
): AreaRow {
  const merged = row ? answersOf(row.answers) : new Map<TopicSlug, Answer>();
  let mismatchedAt = row ? markOf(row, now) : null;
  for (const answer of answers) {
    const before = merged.get(answer.topic);
    const differs = before !== undefined && JSON.stringify(before.fields) !== JSON.stringify(answer.fields);
    // Not before the answer's time: if the clock was set back, a mark with the present time would look old.
    if (differs && before.asOf >= comparableSince) mismatchedAt = Math.max(now, answer.asOf);
    merged.set(answer.topic, answer);
  }
  const json = Object.fromEntries([...merged.values()].map(({ topic, asOf, fields }) => [topic, [asOf, fields]]));
  return { answers: JSON.stringify(json), mismatchedAt };
}
