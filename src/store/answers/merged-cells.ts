import type { TopicSlug } from '../../contract/topics.ts';
import { SPARE_BYTES } from '../../formats/packed/place-table.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { read, type SqlDatabase, type SqlWork, statement } from '../../sql/sql-work.ts';
import { mergedCell, type PackedCell } from './cell-answers.ts';
import { answersIn } from './packed-answers.ts';
import type { PackedChange, PackedChanges } from './packed-changes.ts';
import type { CellLists } from './port.ts';
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

/** The rows of changes that were merged together; null where each was packed before, and is as its change says. */
type MergedRows = readonly CellRow[] | null;

const slicesOf = ({ database }: Pick<StoredCells, 'database'>, changes: PackedChanges) =>
  changes.slices(database.dialect.engine === 'sqlite' ? CELLS_A_MERGE : Math.max(1, changes.count));

/** Merges new answers and failures into the cells, in the caller's transaction. @returns for `writtenCells` */
export function* mergeCells(
  stored: StoredCells,
  changes: PackedChanges,
): SqlWork<readonly MergedRows[]> {
  const merged: MergedRows[] = [];
  for (const slice of slicesOf(stored, changes)) merged.push(yield* mergeSlice(stored, slice));
  return merged;
}

/** The cells as `mergeCells` has written them. */
export function writtenCells(
  stored: Pick<StoredCells, 'database'>,
  changes: PackedChanges,
  merged: readonly MergedRows[],
): CellLists {
  if (merged.every((rows) => rows === null)) return changes.lists();
  const slices = [...slicesOf(stored, changes)] as unknown as readonly (readonly ChangeInBytes[])[];
  const rows = slices.flatMap((slice, index) => merged[index] ?? slice.map(newRow));
  return {
    answers: Buffer.concat([...rows.map(({ answers }) => answers), Buffer.alloc(SPARE_BYTES)]),
    lats: rows.map(({ lat7 }) => lat7),
    lngs: rows.map(({ lng7 }) => lng7),
    lengths: rows.map(({ answers }) => answers.length),
    checksums: null,
    failures: rows.map(({ failures }) => failures),
  };
}

const keyOf = (source: number, { lat7, lng7 }: Cell) => `${source}/${lat7}/${lng7}`;

function* mergeSlice(stored: StoredCells, changes: readonly PackedChange[]): SqlWork<MergedRows> {
  const textOf = (number: number) => stored.texts.textOf(number);
  // Before the rows are locked, because numbering texts waits for other writers of texts.
  const real = yield* withNumberedTexts(stored, changes);
  if (yield* areNew(stored.database, real))
    return real.every(({ topics }) => topics === null) ? null : real.map(newRow);
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
  const written = [...merged.values()];
  yield* writeCells(stored.database, written);
  return written;
}

/** A change with all answers packed. */
interface ChangeInBytes extends PackedChange {
  readonly answers: Buffer;
}

interface MergeableChange extends ChangeInBytes {
  /** The topics of answers whose texts were numbered in this transaction; null: its texts tell them. */
  readonly topics: readonly TopicSlug[] | null;
}

/** The row of a cell of which nothing was stored. */
function newRow({ source, cell: { lat7, lng7 }, answers, failures }: ChangeInBytes): CellRow {
  return { source, lat7, lng7, ...mergedCell(undefined, answers, failures, NOT_ASKED) };
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
  const rows = changes.map(newRow);
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
