import type Database from 'better-sqlite3';
import type { Answer, CellRecord, Failure, Field } from '../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../contract/topics.ts';
import type { Cell } from '../geo/coordinates.ts';

type PackedAnswers = Record<string, [asOf: number, fields: Field[]]>;
type PackedFailures = Record<string, [reason: Failure['reason'], note: string, at: number]>;
interface PackedCell {
  readonly id: number;
  readonly answers: string;
  readonly failures: string | null;
}

/** How many fields an answer to a topic has; null where it is not known. An answer of another width was written by another
 * version, whose columns were others: it is not read, and so bought again, rather than taken for what it is not. */
export type WidthOf = (topic: TopicSlug) => number | null;

/** Reading and writing of cells; every function runs inside the caller's transaction, if there is one. */
export function cellStatements(database: Database.Database, widthOf: WidthOf) {
  const select = database.prepare<[number, number, number], PackedCell>(
    'SELECT id, answers, failures FROM cells WHERE source = ? AND lat7 = ? AND lng7 = ?',
  );
  const insert = database.prepare('INSERT INTO cells (source, lat7, lng7, answers, failures) VALUES (?, ?, ?, ?, ?)');
  const update = database.prepare('UPDATE cells SET answers = ?, failures = ? WHERE id = ?');

  function read(source: number, { lat7, lng7 }: Cell): CellRecord | null {
    const packed = select.get(source, lat7, lng7);
    return packed ? unpack(packed.answers, packed.failures, widthOf) : null;
  }

  /** Adds what a call brought. A newer answer replaces an older one and ends a failure; a failure leaves answers be. */
  function merge(
    source: number,
    { lat7, lng7 }: Cell,
    answers: readonly Answer[],
    failures: readonly (Failure & { readonly topic: TopicSlug })[],
  ): void {
    if (answers.length === 0 && failures.length === 0) return;
    const known = select.get(source, lat7, lng7);
    const packedAnswers: PackedAnswers = known ? JSON.parse(known.answers) : {};
    const packedFailures: PackedFailures = known?.failures ? JSON.parse(known.failures) : {};
    for (const { topic, asOf, fields } of answers) {
      const before = packedAnswers[topic];
      if (!before || before[0] <= asOf) packedAnswers[topic] = [asOf, [...fields]];
      delete packedFailures[topic];
    }
    for (const { topic, reason, note, at } of failures) packedFailures[topic] = [reason, note, at];
    const failuresText = Object.keys(packedFailures).length > 0 ? JSON.stringify(packedFailures) : null;
    const answersText = JSON.stringify(packedAnswers);
    if (known) update.run(answersText, failuresText, known.id);
    else insert.run(source, lat7, lng7, answersText, failuresText);
  }

  return { read, merge };
}

/** A cell as it lies in the store, made whole. Slugs that this version does not know are left out, not refused. */
export function unpack(answersText: string, failuresText: string | null, widthOf: WidthOf): CellRecord {
  const answers = new Map<TopicSlug, Answer>();
  const packed = JSON.parse(answersText) as PackedAnswers;
  // Without the pairs of Object.entries, which are 18 arrays a cell.
  for (const topic of Object.keys(packed)) {
    if (!isTopicSlug(topic)) continue;
    const [asOf, fields] = packed[topic]!;
    const width = widthOf(topic);
    if (width === null || fields.length === width) answers.set(topic, { topic, asOf, fields });
  }
  const failures = new Map<TopicSlug, Failure>();
  if (failuresText !== null) {
    for (const [topic, [reason, note, at]] of Object.entries(JSON.parse(failuresText) as PackedFailures)) {
      if (isTopicSlug(topic)) failures.set(topic, { reason, note, at });
    }
  }
  return { answers, failures };
}
