import type Database from 'better-sqlite3';
import type { Field } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { packAnswer } from '../packed-answers.ts';
import { FieldPacker } from '../packed-fields.ts';
import { textDictionary } from './text-dictionary.ts';

type UnpackedAnswers = Record<string, [asOf: number, fields: Field[]]>;

const CELLS_PER_PAGE = 1_000;

/** The work of migration 0005: turns the answers of earlier versions, which were JSON, into packed ones, inside the
 * migration's transaction. Some 50,000 cells a second, once. */
export function packJsonAnswers(database: Database.Database, file: string): void {
  const texts = textDictionary(database, file);
  const packer = new FieldPacker(texts);
  const page = database.prepare<[number], { id: number; json: string }>(
    `SELECT id, answers_json AS json FROM cells WHERE id > ? ORDER BY id LIMIT ${CELLS_PER_PAGE}`,
  );
  const update = database.prepare('UPDATE cells SET answers = ? WHERE id = ?');
  for (let last = 0; ; ) {
    const rows = page.all(last);
    if (rows.length === 0) break;
    for (const { id, json } of rows) {
      const parts = Object.entries(JSON.parse(json) as UnpackedAnswers).map(([slug, [asOf, fields]]) =>
        packAnswer(texts.ensure(slug), { topic: slug as TopicSlug, asOf, fields }, packer),
      );
      update.run(Buffer.concat(parts), id);
    }
    last = rows.at(-1)!.id;
  }
  database.exec('ALTER TABLE cells DROP COLUMN answers_json');
}
