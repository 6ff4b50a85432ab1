import type Database from 'better-sqlite3';
import type { Answer } from '../contract/answer.ts';
import { unpack } from './answers.ts';
import type { AreaAnswers, AreaRecord } from './port.ts';

interface AreaRow {
  readonly id: number;
  readonly answers: string;
  readonly mismatchedAt: number | null;
}

/** Areas hold the shared part of an answer, which is as wide as it is. */
const anyWidth = (): null => null;

/** Reading and writing of areas; every function runs inside the caller's transaction, if there is one. */
export function areaStatements(database: Database.Database) {
  const select = database.prepare<[number, string], AreaRow>(
    'SELECT id, answers, mismatched_at AS mismatchedAt FROM areas WHERE source = ? AND area = ?',
  );
  const insert = database.prepare('INSERT INTO areas (source, area, answers) VALUES (?, ?, ?)');
  const update = database.prepare('UPDATE areas SET answers = ?, mismatched_at = ? WHERE id = ?');

  function read(source: number, area: string): AreaRecord | null {
    const row = select.get(source, area);
    return row ? { answers: unpack(row.answers, null, anyWidth).answers, mismatchedAt: row.mismatchedAt } : null;
  }

  /**
   * Takes in what a location of the area was answered. Where the area has a comparable answer that says otherwise, the
   * area is marked: what holds for one of its locations does not hold for all.
   */
  function merge(source: number, { area, answers, comparableSince }: AreaAnswers, now: number): void {
    const row = select.get(source, area);
    const known = row ? new Map(unpack(row.answers, null, anyWidth).answers) : new Map<string, Answer>();
    let mismatchedAt = row?.mismatchedAt ?? null;
    for (const answer of answers) {
      const before = known.get(answer.topic);
      const differs = before !== undefined && JSON.stringify(before.fields) !== JSON.stringify(answer.fields);
      if (differs && before.asOf >= comparableSince) mismatchedAt = now;
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
