import type Database from 'better-sqlite3';
import { normalizedAddress } from '../../contract/service-address.ts';
import { newAnswerSpan, nextAnswer } from '../packed-answers.ts';

interface SourceRow {
  readonly id: number;
  readonly name: string;
}

interface CellRow {
  readonly id: number;
  readonly lat7: number;
  readonly lng7: number;
  readonly answers: Buffer;
  readonly failures: string | null;
}

type FailuresByTopic = Record<string, [reason: string, note: string, at: number]>;

/** The work of migration 0008: sources whose names are spellings of one address become one source, with the newest answer
 * of each topic. Nothing that was bought is lost or bought again. */
export function joinSources(database: Database.Database): void {
  const sources = database.prepare<[], SourceRow>('SELECT id, name FROM sources ORDER BY id').all();
  const rename = database.prepare('UPDATE sources SET name = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM sources WHERE id = ?');
  for (const [name, [kept, ...others]] of Map.groupBy(sources, (source) => normalizedAddress(source.name))) {
    for (const { id } of others) {
      joinCells(database, id, kept!.id);
      joinAreas(database, id, kept!.id);
      joinTheRest(database, id, kept!.id);
      remove.run(id);
    }
    if (kept!.name !== name) rename.run(name, kept!.id);
  }
}

function joinCells(database: Database.Database, from: number, to: number): void {
  const columns = 'id, lat7, lng7, answers, failures';
  // Cells that move or are removed are no longer there for the next page.
  const page = database.prepare<[number], CellRow>(`SELECT ${columns} FROM cells WHERE source = ? LIMIT 1000`);
  const known = database.prepare<[number, number, number], CellRow>(
    `SELECT ${columns} FROM cells WHERE source = ? AND lat7 = ? AND lng7 = ?`,
  );
  const move = database.prepare('UPDATE cells SET source = ? WHERE id = ?');
  const update = database.prepare('UPDATE cells SET answers = ?, failures = ? WHERE id = ?');
  const moveDetails = database.prepare(
    `INSERT INTO details (cell, topic, as_of, bytes, json) SELECT @to, topic, as_of, bytes, json FROM details WHERE cell = @from
     ON CONFLICT (cell, topic) DO UPDATE SET as_of = excluded.as_of, bytes = excluded.bytes, json = excluded.json
     WHERE excluded.as_of >= as_of`,
  );
  const removeDetails = database.prepare('DELETE FROM details WHERE cell = ?');
  const removeCell = database.prepare('DELETE FROM cells WHERE id = ?');
  for (let rows = page.all(from); rows.length > 0; rows = page.all(from)) {
    for (const cell of rows) {
      const kept = known.get(to, cell.lat7, cell.lng7);
      if (kept === undefined) {
        move.run(to, cell.id);
        continue;
      }
      update.run(newestAnswers(kept.answers, cell.answers), newestFailures(kept.failures, cell.failures), kept.id);
      moveDetails.run({ from: cell.id, to: kept.id });
      removeDetails.run(cell.id);
      removeCell.run(cell.id);
    }
  }
}

/** The newest answer of each topic, as packed in one of the rows. */
function newestAnswers(...rows: readonly Buffer[]): Buffer {
  const newest = new Map<number, { readonly asOf: number; readonly bytes: Buffer }>();
  const span = newAnswerSpan();
  for (const row of rows) {
    span.to = 0;
    while (nextAnswer(row, span)) {
      const known = newest.get(span.slug);
      if (known && known.asOf >= span.asOf) continue;
      newest.set(span.slug, { asOf: span.asOf, bytes: row.subarray(span.start, span.to) });
    }
  }
  return Buffer.concat([...newest.values()].map(({ bytes }) => bytes));
}

function newestFailures(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  const failures: FailuresByTopic = JSON.parse(one);
  for (const [topic, failure] of Object.entries(JSON.parse(other) as FailuresByTopic)) {
    if (failure[2] > (failures[topic]?.[2] ?? -1)) failures[topic] = failure;
  }
  return JSON.stringify(failures);
}

function joinAreas(database: Database.Database, from: number, to: number): void {
  type Area = { id: number; area: string; answers: string; mismatchedAt: number | null };
  type Answers = Record<string, [asOf: number, fields: unknown]>;
  const columns = 'id, area, answers, mismatched_at AS mismatchedAt';
  const ofSource = database.prepare<[number], Area>(`SELECT ${columns} FROM areas WHERE source = ?`);
  const known = database.prepare<[number, string], Area>(`SELECT ${columns} FROM areas WHERE source = ? AND area = ?`);
  const move = database.prepare('UPDATE areas SET source = ? WHERE id = ?');
  const update = database.prepare('UPDATE areas SET answers = ?, mismatched_at = ? WHERE id = ?');
  const remove = database.prepare('DELETE FROM areas WHERE id = ?');
  for (const area of ofSource.all(from)) {
    const kept = known.get(to, area.area);
    if (kept === undefined) {
      move.run(to, area.id);
      continue;
    }
    const answers: Answers = JSON.parse(kept.answers);
    for (const [topic, answer] of Object.entries(JSON.parse(area.answers) as Answers)) {
      if (answer[0] > (answers[topic]?.[0] ?? -1)) answers[topic] = answer;
    }
    const marks = [kept.mismatchedAt, area.mismatchedAt].filter((mark) => mark !== null);
    update.run(JSON.stringify(answers), marks.length === 0 ? null : Math.max(...marks), kept.id);
    remove.run(area.id);
  }
}

/** The latest observation of bundles and scopes counts; calls keep their numbers. */
function joinTheRest(database: Database.Database, from: number, to: number): void {
  const both = { from, to };
  database
    .prepare(
      `INSERT INTO bundles (source, kind, topics, seen_at) SELECT @to, kind, topics, seen_at FROM bundles WHERE source = @from
       ON CONFLICT DO UPDATE SET topics = excluded.topics, seen_at = excluded.seen_at WHERE excluded.seen_at > seen_at`,
    )
    .run(both);
  database
    .prepare(
      `INSERT INTO refused_scopes (source, key, scope, refused_at)
       SELECT @to, key, scope, refused_at FROM refused_scopes WHERE source = @from
       ON CONFLICT DO UPDATE SET refused_at = max(refused_at, excluded.refused_at)`,
    )
    .run(both);
  for (const table of ['bundles', 'refused_scopes']) {
    database.prepare(`DELETE FROM ${table} WHERE source = ?`).run(from);
  }
  for (const table of ['calls', 'area_claims']) {
    database.prepare(`UPDATE ${table} SET source = @to WHERE source = @from`).run(both);
  }
}
