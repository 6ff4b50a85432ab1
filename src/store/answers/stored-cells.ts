import { resultOrNull } from '../../base/errors.ts';
import type { CellRecord } from '../../contract/answer.ts';
import { isTopicSlug, type TopicSlug } from '../../contract/topics.ts';
import { damagedStore } from '../../formats/packed/damaged-store.ts';
import { type Cell, locationOf } from '../../geo/coordinates.ts';
import {
  read,
  readRows,
  type SqlDatabase,
  type SqlReading,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';
import type { StoreStats } from '../port.ts';
import { type AnswerReader, type PackedCell, withoutRejections } from './cell-answers.ts';
import { answersIn, answersSince, type Checked, checksumOf } from './packed-answers.ts';
import { AREA_COLUMNS, isIntactArea, type StoredAreaRow } from './stored-areas.ts';
import type { TextTable } from './text-table.ts';
import { type TopicSet, topicSet } from './topic-set.ts';

export interface StoredCells {
  readonly database: SqlDatabase;
  readonly texts: TextTable;
  readonly reader: AnswerReader;
}

export type CellRow = PackedCell & { readonly source: number } & Cell;
export type CheckedCell = PackedCell & Checked & Cell;
type AskedRow = CheckedCell | { readonly answers: null };

/** A row as it was written. @throws STORE_UNUSABLE where its checksum differs */
function intact<Row extends CheckedCell>(
  { texts }: Pick<StoredCells, 'texts'>,
  source: number,
  row: Row,
): Row {
  if (isIntact(source, row)) return row;
  const { lat, lng } = locationOf(row);
  throw damagedStore(`what is stored at ${lat}, ${lng}`, texts.store);
}

/** Whether a row is as it was written: its checksum tells. */
export function isIntact(
  source: number,
  { lat7, lng7, answers, failures, checksum }: CheckedCell,
): boolean {
  return checksum === null || checksum === checksumOf([source, lat7, lng7], answers, failures);
}

/** Cells per statement. One statement per cell takes half as much time again. */
const CELLS_A_STATEMENT = 2_000;
const CELLS_A_PAGE = 1_000;

/** The statement that reads cells in the given order, with a row of NULL for a missing cell. Each engine has its own, because this decides
 * the speed of a plan. SQLite reads a JSON object with one latitude and longitude per member (its names may repeat) in two thirds of the
 * time of an array of pairs; PostgreSQL reads two arrays. LEFT JOIN, because the planner may reverse a JOIN and read all cells. */
export function cellsAsked(
  { dialect }: SqlDatabase,
  source: number,
  cells: readonly Cell[],
): SqlStatement<AskedRow> {
  const columns = 'cells.lat7, cells.lng7, answers, failures, checksum';
  if (dialect.engine === 'sqlite') {
    return statement(
      `SELECT ${columns} FROM json_each($1) AS asked
       LEFT JOIN cells ON source = $2 AND lat7 = asked.key AND lng7 = asked.value`,
      [`{${cells.map(({ lat7, lng7 }) => `"${lat7}":${lng7}`).join(',')}}`, source],
    );
  }
  return statement(
    `SELECT ${columns} FROM unnest($1::integer[], $2::integer[]) AS asked (lat7, lng7)
     LEFT JOIN cells ON cells.source = $3 AND cells.lat7 = asked.lat7 AND cells.lng7 = asked.lng7`,
    [
      `{${cells.map(({ lat7 }) => lat7).join(',')}}`,
      `{${cells.map(({ lng7 }) => lng7).join(',')}}`,
      source,
    ],
  );
}

/** Reads cells in the given order. @param maker makes the converter from a row to a result, after all texts of the cells were read */
function readingCells<Result>(
  { database, texts }: StoredCells,
  source: number,
  cells: readonly Cell[],
  maker: () => (cell: PackedCell) => Result,
): SqlReading<(Result | null)[]> {
  const statements: SqlStatement[] = [];
  for (let first = 0; first < cells.length; first += CELLS_A_STATEMENT) {
    statements.push(cellsAsked(database, source, cells.slice(first, first + CELLS_A_STATEMENT)));
  }
  const newer = readRows(texts.newer());
  return {
    // Texts after the cells: then all texts of the cells are there.
    statements: [...statements, ...newer.statements],
    take(results) {
      texts.take(newer.take(results.slice(-1)));
      const make = maker();
      const made: (Result | null)[] = [];
      for (const rows of results.slice(0, -1) as AskedRow[][]) {
        for (const row of rows) {
          const cell = cells[made.length]!;
          if (row.answers === null) made.push(null);
          else if (row.lat7 === cell.lat7 && row.lng7 === cell.lng7)
            made.push(make(intact({ texts }, source, row)));
          // SQL promises no order without ORDER BY: paid answers must never go to another cell.
          else throw new Error('The store gave cells in another order than they were asked for');
        }
      }
      return made;
    },
  };
}

/** The answers of cells, in the order asked for; null for a cell without any. */
export function cellRecords(
  stored: StoredCells,
  source: number,
  cells: readonly Cell[],
): SqlReading<(CellRecord | null)[]> {
  return readingCells(stored, source, cells, () => stored.reader.unpack);
}

/** The highest number of a stored cell; there are at most as many. */
export function* highestCell(): SqlWork<number> {
  const [[row]] = yield* read(
    statement<{ highest: number | null }>('SELECT max(id) AS highest FROM cells'),
  );
  return row!.highest ?? 0;
}

const CELL = {
  source: 'integer',
  lat7: 'integer',
  lng7: 'integer',
  answers: 'blob',
  failures: 'text',
  checksum: 'integer',
} as const;

/** Writes cells in place of what is stored of them. */
export function writeCells(database: SqlDatabase, rows: readonly CellRow[]): SqlWork<void> {
  return write(
    ...insertsOf(
      database,
      rows,
      `UPDATE SET answers = excluded.answers, failures = excluded.failures, checksum = excluded.checksum`,
    ),
  );
}

/** The statements that write cells of which nothing is stored, and leave the others as they are. */
export function insertCells(
  database: SqlDatabase,
  rows: readonly CellRow[],
): readonly SqlStatement[] {
  return insertsOf(database, rows, 'NOTHING');
}

/** Cells that SQLite inserts with one statement. Twenty take no less time. */
const CELLS_AN_INSERT = 10;

function insertsOf(
  { dialect }: SqlDatabase,
  rows: readonly CellRow[],
  conflict: string,
): readonly SqlStatement[] {
  return dialect.eachRow(
    rows.map(({ source, lat7, lng7, answers, failures }) => {
      const checksum = checksumOf([source, lat7, lng7], answers, failures);
      return { source, lat7, lng7, answers, failures, checksum };
    }),
    'new',
    CELL,
    (table) =>
      `INSERT INTO cells (source, lat7, lng7, answers, failures, checksum) SELECT source, lat7, lng7, answers, failures, checksum
       FROM ${table} WHERE true
       ON CONFLICT (source, lat7, lng7) DO ${conflict}`,
    CELLS_AN_INSERT,
  );
}

export interface CellOfStore extends CheckedCell {
  readonly id: number;
  readonly source: string;
  readonly number: number;
}

/** The next cells after a cell, in the order in which they were stored. */
export function* cellPage({ texts }: StoredCells, after: number): SqlWork<CellOfStore[]> {
  const [rows, newer] = yield* read(
    statement<CellOfStore>(
      `SELECT cells.id, sources.name AS source, sources.id AS number, lat7, lng7, answers, failures, checksum FROM cells JOIN sources ON sources.id = cells.source
       WHERE cells.id > $1 ORDER BY cells.id LIMIT ${CELLS_A_PAGE}`,
      [after],
    ),
    texts.newer(),
  );
  texts.take(newer);
  return rows;
}

/** By source, how many cells have which topics answered before a time. */
export type OlderAnswers = Map<string, Map<TopicSet, number>>;

/** Adds cells to the sums. Skips topics that this version does not have. */
export function countOlder(
  sums: OlderAnswers,
  cells: readonly CellOfStore[],
  time: number,
  textOf: (number: number) => string,
): void {
  for (const { source, answers } of cells) {
    const topics: TopicSlug[] = [];
    for (const { slug, asOf } of answersIn(answers)) {
      const topic = textOf(slug);
      if (asOf < time && isTopicSlug(topic)) topics.push(topic);
    }
    if (topics.length === 0) continue;
    const sets = sums.get(source) ?? new Map<TopicSet, number>();
    sums.set(source, sets);
    const set = topicSet(topics);
    sets.set(set, (sets.get(set) ?? 0) + 1);
  }
}

type SourceStats = {
  -readonly [Key in keyof StoreStats['sources'][number]]: StoreStats['sources'][number][Key];
};

/** Adds cells to the number of answers of each source, and the age of the oldest. */
export function addToStats(sums: Map<string, SourceStats>, cells: readonly CellOfStore[]): void {
  for (const { source, answers } of cells) {
    const stats = sums.get(source) ?? { source, cells: 0, answers: 0, oldest: null };
    sums.set(source, stats);
    stats.cells++;
    for (const { asOf } of answersIn(answers)) {
      stats.answers++;
      stats.oldest = Math.min(stats.oldest ?? asOf, asOf);
    }
  }
}

/** Deletes the answers of a page of cells that are older than `before`; null after the last page. */
export function* prunePage(
  stored: StoredCells,
  after: number,
  before: number,
): SqlWork<{ readonly last: number; readonly dropped: number } | null> {
  const { database } = stored;
  const [rows] = yield* read(
    statement<CheckedCell & { id: number; source: number }>(
      `SELECT id, source, lat7, lng7, answers, failures, checksum FROM cells WHERE id > $1 ORDER BY id LIMIT ${CELLS_A_PAGE}
       ${database.dialect.forUpdate}`,
      [after],
    ),
  );
  const last = rows.at(-1);
  if (last === undefined) return null;
  let all = 0;
  const changed = rows.flatMap((row) => {
    const { kept, dropped } = answersSince(intact(stored, row.source, row).answers, before);
    all += dropped;
    return dropped > 0 ? [{ ...row, answers: kept }] : [];
  });
  yield* writeCells(database, changed);
  return { last: last.id, dropped: all };
}

/** The cells of a page that have changed since they were written, or that have a text that has. */
export function damagedIn({ reader }: StoredCells, cells: readonly CellOfStore[]): CellOfStore[] {
  return cells.filter(
    (cell) => !isIntact(cell.number, cell) || resultOrNull(() => reader.unpack(cell)) === null,
  );
}

/** Deletes cells, and all areas whose answers have changed since they were written. */
export function* deleteDamaged({ database }: StoredCells, ids: readonly number[]): SqlWork<void> {
  const list = database.dialect.list('$1', 'bigint');
  yield* write(statement(`DELETE FROM cells WHERE id IN ${list}`, [JSON.stringify(ids)]));
  const [areas] = yield* read(statement<StoredAreaRow>(`SELECT ${AREA_COLUMNS} FROM areas`));
  for (const { source, area } of areas.filter((row) => !isIntactArea(row))) {
    yield* write(statement('DELETE FROM areas WHERE source = $1 AND area = $2', [source, area]));
  }
}

/** Deletes rejections of locations; returns how many cells had some. */
export function* forgetRejections(stored: StoredCells): SqlWork<number> {
  const { database } = stored;
  const [rows] = yield* read(
    statement<CheckedCell & { source: number; failures: string }>(
      `SELECT source, lat7, lng7, answers, failures, checksum FROM cells WHERE failures LIKE '%["rejected"%' ORDER BY id
       ${database.dialect.forUpdate}`,
    ),
  );
  const left = rows.map((row) => ({
    ...intact(stored, row.source, row),
    failures: withoutRejections(row.failures),
  }));
  yield* writeCells(database, left);
  return rows.length;
}
