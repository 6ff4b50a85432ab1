import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import type { Answer, Field } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import type { AreaAnswers, StoredArea } from '../port.ts';

interface AreaRow {
  readonly id: number;
  readonly answers: string;
  readonly mismatchedAt: number | null;
}

type JsonAnswers = Record<string, [asOf: number, fields: Field[]]>;

/** An area's answers are JSON: areas are few, and read once a run. They hold the shared part of an answer, which is as wide
 * as it is. Slugs that this version does not know are left out, not refused. */
function answersOf(json: string): Map<TopicSlug, Answer> {
  const answers = new Map<TopicSlug, Answer>();
  for (const [topic, [asOf, fields]] of Object.entries(JSON.parse(json) as JsonAnswers)) {
    if (isTopicSlug(topic)) answers.set(topic, { topic, asOf, fields });
  }
  return answers;
}

/** How long a mismatch counts. A new release of the index between two answers of an area causes one too, and would cost a call
 * for each of its locations for ever; a wrong area column causes one again. Natural answers stay fresh for a year as well. */
const MARK_HOLDS_MS = 365 * 24 * 60 * 60_000;

/** Reading and writing of areas; every function runs inside the caller's transaction, if there is one. */
export function areaStatements(database: Database.Database, clock: Clock) {
  const select = database.prepare<[number, string], AreaRow>(
    'SELECT id, answers, mismatched_at AS mismatchedAt FROM areas WHERE source = ? AND area = ?',
  );
  const insert = database.prepare('INSERT INTO areas (source, area, answers) VALUES (?, ?, ?)');
  const update = database.prepare('UPDATE areas SET answers = ?, mismatched_at = ? WHERE id = ?');

  /** When two answers of the area last differed, if that still counts. */
  function markOf({ mismatchedAt }: AreaRow): number | null {
    return mismatchedAt !== null && Math.abs(clock.now() - mismatchedAt) < MARK_HOLDS_MS ? mismatchedAt : null;
  }

  function read(source: number, area: string): StoredArea | null {
    const row = select.get(source, area);
    return row ? { answers: answersOf(row.answers), mismatchedAt: markOf(row) } : null;
  }

  /**
   * Stores the answers of one location of the area. Where the area has a comparable answer that differs, the area is marked:
   * one answer does not hold for all of its locations.
   */
  function merge(source: number, { area, answers, comparableSince }: AreaAnswers): void {
    const row = select.get(source, area);
    const known = row ? answersOf(row.answers) : new Map<TopicSlug, Answer>();
    let mismatchedAt = row ? markOf(row) : null;
    for (const answer of answers) {
      const before = known.get(answer.topic);
      const differs = before !== undefined && JSON.stringify(before.fields) !== JSON.stringify(answer.fields);
      // The answer's time too: where the clock was set back, a mark of now would look old.
      if (differs && before.asOf >= comparableSince) mismatchedAt = Math.max(clock.now(), answer.asOf);
      known.set(answer.topic, answer);
    }
    const packed = JSON.stringify(
      Object.fromEntries([...known.values()].map(({ topic, asOf, fields }) => [topic, [asOf, fields]])),
    );
    if (row) update.run(packed, mismatchedAt, row.id);
    else insert.run(source, area, packed);
  }

  return { read, merge };
}
