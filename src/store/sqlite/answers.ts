import type Database from 'better-sqlite3';
import type { Answer, CellRecord, TopicFailure } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { damagedCell, newAnswerSpan, nextAnswer, packAnswer } from '../packed-answers.ts';
import { FieldPacker } from '../packed-fields.ts';
import type { CompleteCell, WantedAnswer } from '../port.ts';
import type { StoredDictionary } from './text-dictionary.ts';

type PackedFailures = Record<string, [reason: TopicFailure['reason'], note: string, at: number]>;
type PackedCell = [id: number, answers: Buffer, failures: string | null];

/** How many fields an answer to a topic has; null where it is not known. An answer of another width was written by a
 * version with other columns: it is not read, and so bought again. */
export type WidthOf = (topic: TopicSlug) => number | null;

/** Reading and writing of cells; every function runs inside the caller's transaction, if there is one. */
export function cellStatements(database: Database.Database, texts: StoredDictionary, widthOf: WidthOf) {
  const select = database
    .prepare<[number, number, number], PackedCell>(
      'SELECT id, answers, failures FROM cells WHERE source = ? AND lat7 = ? AND lng7 = ?',
    )
    .raw();
  const insert = database.prepare('INSERT INTO cells (source, lat7, lng7, answers, failures) VALUES (?, ?, ?, ?, ?)');
  const update = database.prepare('UPDATE cells SET answers = ?, failures = ? WHERE id = ?');
  // Failures that cannot be parsed stay: `read` reports them.
  const forgetRejections = database.prepare(
    `UPDATE cells SET failures = (
       SELECT nullif(json_group_object(key, json(value)), '{}') FROM json_each(cells.failures)
       WHERE json_extract(value, '$[0]') <> 'rejected')
     WHERE instr(failures, '["rejected"') > 0 AND json_valid(failures)`,
  );
  const packer = new FieldPacker(texts);
  const span = newAnswerSpan();

  /** Where the first `fields` fields of the answer end. @throws STORE_UNUSABLE unless all of them end where the answer does */
  function endOf(bytes: Buffer, fields: number): number {
    const to = packer.skip(bytes, span.from, fields);
    // NaN where the length of a text is damaged.
    if (!(fields === span.width ? to === span.to : to >= span.from && to <= span.to)) throw damagedCell();
    return to;
  }

  function unpack(bytes: Buffer, failuresText: string | null): CellRecord {
    const answers = new Map<TopicSlug, Answer>();
    span.to = 0;
    while (nextAnswer(bytes, span)) {
      const topic = texts.textOf(span.slug);
      // Slugs that this version does not know are left out, not refused.
      if (!isTopicSlug(topic)) continue;
      const width = widthOf(topic);
      if (width !== null && span.width !== width) continue;
      endOf(bytes, span.width);
      answers.set(topic, { topic, asOf: span.asOf, fields: packer.unpack(bytes, span.from, span.width) });
    }
    return { answers, failures: unpackFailures(failuresText) };
  }

  function read(source: number, { lat7, lng7 }: Cell): CellRecord | null {
    const packed = select.get(source, lat7, lng7);
    return packed ? unpack(packed[1], packed[2]) : null;
  }

  /** Reads cells; of those that have all that is wanted only that, in the order wanted. */
  function readWanted(source: number, cells: readonly Cell[], wanted: readonly WantedAnswer[]) {
    const pick = picker(wanted);
    return cells.map(({ lat7, lng7 }): CompleteCell | CellRecord | null => {
      const packed = select.get(source, lat7, lng7);
      return packed ? (pick(packed[1]) ?? unpack(packed[1], packed[2])) : null;
    });
  }

  /** Makes a function that takes the wanted fields out of a cell's bytes; null where an answer is missing or too old. */
  function picker(wanted: readonly WantedAnswer[]): (bytes: Buffer) => CompleteCell | null {
    const fieldCount = wanted.reduce((sum, { fields }) => sum + fields, 0);
    const places = new Map(wanted.map(({ topic }, index) => [texts.known(topic), index]));
    const indexOf = new Int16Array(Math.max(0, ...places.keys()) + 1).fill(-1);
    for (const [slug, index] of places) if (slug >= 0) indexOf[slug] = index;
    const [froms, tos] = [new Int32Array(wanted.length), new Int32Array(wanted.length)];
    const widths = wanted.map(({ topic }) => widthOf(topic));
    return (bytes) => {
      let found = 0;
      let size = 0;
      let asOf = Number.POSITIVE_INFINITY;
      span.to = 0;
      while (nextAnswer(bytes, span)) {
        const index = indexOf[span.slug] ?? -1;
        if (index < 0) continue;
        const { freshSince, fields } = wanted[index]!;
        const width = widths[index]!;
        if (span.asOf < freshSince || span.width < fields || (width !== null && span.width !== width)) return null;
        const to = endOf(bytes, fields);
        froms[index] = span.from;
        tos[index] = to;
        size += to - span.from;
        asOf = Math.min(asOf, span.asOf);
        found++;
      }
      if (found < wanted.length) return null;
      const picked = Buffer.allocUnsafe(size);
      let used = 0;
      for (let index = 0; index < wanted.length; index++) {
        // Some 15 bytes an answer: a call to `copy` costs more.
        for (let at = froms[index]!; at < tos[index]!; at++) picked[used++] = bytes[at]!;
      }
      return { asOf, fields: () => packer.unpack(picked, 0, fieldCount) };
    };
  }

  /** Stores the answers and failures of a call. A newer answer replaces an older one and removes the topic's failure; a failure
   * removes no answer. */
  function merge(
    source: number,
    { lat7, lng7 }: Cell,
    answers: readonly Answer[],
    failures: readonly (TopicFailure & { readonly topic: TopicSlug })[],
  ): void {
    if (answers.length === 0 && failures.length === 0) return;
    const known = select.get(source, lat7, lng7);
    const packedFailures: PackedFailures = known?.[2] ? parsedFailures(known[2]) : {};
    const added = new Map(answers.map((answer) => [texts.ensure(answer.topic), answer]));
    const parts: Buffer[] = [];
    span.to = 0;
    while (known && nextAnswer(known[1], span)) {
      const newer = added.get(span.slug);
      if (newer && span.asOf <= newer.asOf) continue;
      added.delete(span.slug);
      parts.push(known[1].subarray(span.start, span.to));
    }
    for (const [slug, answer] of added) parts.push(packAnswer(slug, answer, packer));
    for (const { topic } of answers) delete packedFailures[topic];
    for (const { topic, reason, note, at } of failures) packedFailures[topic] = [reason, note, at];
    const failuresText = Object.keys(packedFailures).length > 0 ? JSON.stringify(packedFailures) : null;
    const bytes = Buffer.concat(parts);
    if (known) update.run(bytes, failuresText, known[0]);
    else insert.run(source, lat7, lng7, bytes, failuresText);
  }

  return {
    read,
    readWanted,
    unpack,
    merge,
    /** Returns the number of cells. */
    forgetRejections: () => forgetRejections.run().changes,
  };
}

function unpackFailures(text: string | null): Map<TopicSlug, TopicFailure> {
  const failures = new Map<TopicSlug, TopicFailure>();
  if (text === null) return failures;
  for (const [topic, [reason, note, at]] of Object.entries(parsedFailures(text))) {
    if (isTopicSlug(topic)) failures.set(topic, { reason, note, at });
  }
  return failures;
}

function parsedFailures(text: string): PackedFailures {
  try {
    return JSON.parse(text);
  } catch {
    throw damagedCell();
  }
}
