import type Database from 'better-sqlite3';
import type { Clock } from '../../clock.ts';
import { type AreaRow, mergedArea, storedArea } from '../area-merge.ts';
import type { AreaAnswers, StoredArea } from '../port.ts';

/** Reading and writing of areas; every function runs inside the caller's transaction, if there is one. */
export function areaStatements(database: Database.Database, clock: Clock) {
  const select = database.prepare<[number, string], AreaRow & { readonly id: number }>(
    'SELECT id, answers, mismatched_at AS mismatchedAt FROM areas WHERE source = ? AND area = ?',
  );
  const insert = database.prepare('INSERT INTO areas (source, area, answers, mismatched_at) VALUES (?, ?, ?, ?)');
  const update = database.prepare('UPDATE areas SET answers = ?, mismatched_at = ? WHERE id = ?');

  return {
    read(source: number, area: string): StoredArea | null {
      const row = select.get(source, area);
      return row ? storedArea(row, clock.now()) : null;
    },
    /** Stores the answers of one location of the area. */
    merge(source: number, { area, ...found }: AreaAnswers): void {
      const row = select.get(source, area);
      const { answers, mismatchedAt } = mergedArea(row, found, clock.now());
      if (row) update.run(answers, mismatchedAt, row.id);
      else insert.run(source, area, answers, mismatchedAt);
    },
  };
}
