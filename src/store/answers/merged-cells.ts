import type { TopicSlug } from '../../contract/topics.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { read, type SqlDatabase, type SqlWork, statement } from '../../sql/sql-work.ts';
import { mergedCell, type PackedCell } from './cell-answers.ts';
import { answersIn } from './packed-answers.ts';
import type { PackedChange, PackedChanges } from './packed-changes.ts';
import {
  type CellRow,
  type CheckedCell,
  cellsAsked,
  insertCells,
  isIntact,
  type StoredCells,
  writeCells,
} from './stored-cells.ts';

/** Cells that are merged together in SQLite: what that makes is young when it is no longer needed. PostgreSQL is asked once. */
const CELLS_A_MERGE = 100;

/** Merges new answers and failures into the cells, in the caller's transaction. */
export function* mergeCells(stored: StoredCells, changes: PackedChanges): SqlWork<void> {
  const { dialect } = stored.database;
  const together = dialect.engine === 'sqlite' ? CELLS_A_MERGE : Math.max(1, changes.count);
  for (const slice of changes.slices(together)) yield* mergeSlice(stored, slice);
}

const keyOf = (source: number, { lat7, lng7 }: Cell) => `${source}/${lat7}/${lng7}`;

function* mergeSlice(stored: StoredCells, changes: readonly PackedChange[]): SqlWork<void> {
  const textOf = (number: number) => stored.texts.textOf(number);
  // Before the rows are locked, because numbering texts waits for other writers of texts.
  const real = yield* withNumberedTexts(stored, changes);
  if (yield* areNew(stored.database, real)) return;
  const distinct = [
    ...new Map(real.map(({ source, cell }) => [keyOf(source, cell), { source, ...cell }])).values(),
  ];
  const rows = yield* lockedCells(stored.database, distinct);
  const merged = new Map(rows.map((row) => [keyOf(row.source, row), row]));
  for (const { source, cell, answers, topics, failures } of real) {
    const key = keyOf(source, cell);
    const { lat7, lng7 } = cell;
    const answered = () => topics ?? [...answersIn(answers)].map(({ slug }) => textOf(slug));
    merged.set(key, {
      source,
      lat7,
      lng7,
      ...mergedCell(merged.get(key), answers, failures, answered),
    });
  }
  yield* writeCells(stored.database, [...merged.values()]);
}

interface MergeableChange extends PackedChange {
  readonly answers: Buffer;
  /** The topics of answers whose texts were numbered in this transaction; null: its texts tell them. */
  readonly topics: readonly TopicSlug[] | null;
}

/** The changes with all answers packed. */
function* withNumberedTexts(
  { texts, database }: StoredCells,
  changes: readonly PackedChange[],
): SqlWork<readonly MergeableChange[]> {
  const unpacked = changes.flatMap(({ answers }) => (Buffer.isBuffer(answers) ? [] : [answers]));
  const packed = unpacked.length === 0 ? [] : yield* texts.pack(database, unpacked);
  let next = 0;
  return changes.map((change): MergeableChange => {
    const { answers } = change;
    if (Buffer.isBuffer(answers)) return { ...change, answers, topics: null };
    return { ...change, answers: packed[next++]!, topics: answers.map(({ topic }) => topic) };
  });
}

/** Inserts cells into SQLite, where most were never stored: to read them first takes as long as to write them. Cells that were stored stay as
 * they are, and merging a new one once more changes nothing.
 * @returns whether all were new; false in PostgreSQL, which inserts them where it locks them */
function* areNew(database: SqlDatabase, changes: readonly MergeableChange[]): SqlWork<boolean> {
  if (database.dialect.engine !== 'sqlite') return false;
  const rows = changes.map(({ source, cell: { lat7, lng7 }, answers, failures }) => ({
    source,
    lat7,
    lng7,
    ...mergedCell(undefined, answers, failures, NOT_ASKED),
  }));
  const changed = statement<{ readonly count: number }>('SELECT total_changes() AS count');
  const results = yield* read(changed, ...insertCells(database, rows), changed);
  const [before, after] = [results[0], results.at(-1)] as { readonly count: number }[][];
  return after![0]!.count - before![0]!.count === rows.length;
}

/** Only failures that are stored are removed by answers. */
const NOT_ASKED = (): readonly string[] => [];

/** The stored rows of cells, locked until the end of the transaction. PostgreSQL has its own statement, which makes missing
 * rows so that they can be locked too. SQLite has one writer, and would write each new row twice. */
function* lockedCells(
  database: SqlDatabase,
  asked: readonly Omit<CellRow, keyof PackedCell>[],
): SqlWork<CellRow[]> {
  if (database.dialect.engine === 'sqlite') {
    const bySource = [...Map.groupBy(asked, ({ source }) => source)];
    const results = yield* read(
      ...bySource.map(([source, cells]) => cellsAsked(database, source, cells)),
    );
    return results.flatMap((rows, at) =>
      rows.flatMap((row) => (row.answers === null ? [] : [lockedRow(bySource[at]![0], row)])),
    );
  }
  // In a fixed order, so that two transactions do not wait for each other. DO UPDATE, because it locks the row and returns it.
  const inserts = database.dialect.eachRow<CheckedCell & { readonly source: number }>(
    asked,
    'asked',
    { source: 'integer', lat7: 'integer', lng7: 'integer' },
    (table) =>
      `INSERT INTO cells AS old (source, lat7, lng7) SELECT source, lat7, lng7 FROM ${table} ORDER BY source, lat7, lng7
       ON CONFLICT (source, lat7, lng7) DO UPDATE SET source = old.source RETURNING source, lat7, lng7, answers, failures, checksum`,
  );
  return (yield* read(...inserts)).flat().map((row) => lockedRow(row.source, row));
}

/** Damaged answers are replaced by the new ones: they were reported when the plan read them. */
function lockedRow(source: number, row: CheckedCell): CellRow {
  const { lat7, lng7, answers, failures } = row;
  return isIntact(source, row)
    ? { source, lat7, lng7, answers, failures }
    : { source, lat7, lng7, ...NOTHING_STORED };
}

const NOTHING_STORED: PackedCell = { answers: Buffer.alloc(0), failures: null };
