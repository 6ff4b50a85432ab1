import type { Field } from '../../contract/answer.ts';
import {
  leadingWidth,
  numberedTexts,
  type OutputPlaces,
  packedFinder,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import {
  type MakePiece,
  type PieceResult,
  type PieceTask,
  pieceRunner,
  writePieces,
} from '../files/piece-writer.ts';
import { nextPlaces } from '../placed-fields.ts';
import type { TableColumn, WriteRequest } from '../port.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import {
  columnMemory,
  emptyColumns,
  internText,
  type NumberColumn,
  putValue,
  type StoredColumn,
  type TextColumn,
} from './column-builder.ts';
import { reusableArrays } from './encode.ts';

const { firstText: FIRST_TEXT, millionths: MILLIONTHS, small: SMALL } = TAGS;
const MILLION = 1e6;
/** The packed fields of these rows stay in the processor's cache. */
const ROWS_A_BLOCK = 256;
/** Some columns of a row group of DuckDB's take 17 MB. */
const COLUMNS_A_TASK = 18;

/** Some columns of a row group, by the places of its rows. */
interface ColumnsToWrite {
  readonly numbers: Int32Array;
  /** The range of columns, without `to`. */
  readonly from: number;
  readonly to: number;
}

interface ColumnWriteSetup {
  readonly places: OutputPlaces;
  readonly added: readonly TableColumn[];
  readonly output: { readonly name: string; readonly fd: number } | null;
}

/** Columns of a row group that were written. */
interface WrittenColumns {
  readonly group: number;
  readonly size: number;
  readonly chunks: readonly ChunkFacts[];
}

/** Writes the added columns of all row groups in threads and here, some columns at a time. Yields them in order. */
export async function* writePlacedColumns(
  gathered: ByteBuffer,
  request: WriteRequest,
): AsyncGenerator<WrittenColumns> {
  const { added, placed: fields, signal } = request;
  const { pool, pieces, places } = fields.inThreads!;
  const { direct } = gathered;
  const output = direct === undefined ? null : { name: direct.name, fd: direct.fd };
  const setup: ColumnWriteSetup = { places, added, output };
  function* items() {
    for (const [group, { rows }] of pieces.entries()) {
      const placed = nextPlaces(request, rows);
      // Each task that waits for it reports a failure.
      placed.catch(() => {});
      for (const range of columnRanges(added.length)) yield { group, placed, ...range };
    }
  }
  type Item = ReturnType<typeof items> extends Generator<infer Of> ? Of : never;
  const taskOf = async ({ placed, from, to }: Item): Promise<ColumnsToWrite> => {
    const { numbers } = await placed;
    return { numbers, from, to };
  };
  const work = {
    pool,
    module: import.meta.url,
    setup,
    items: items(),
    taskOf,
    memoryOf: () => [],
    signal,
  };
  for await (const { item, size, facts } of writePieces(gathered, work, columnMaker(setup)))
    yield { group: item.group, size, chunks: facts };
}

/** The columns that are encoded together. */
export function* columnRanges(columns: number): Generator<{ from: number; to: number }> {
  for (let from = 0; from < columns; from += COLUMNS_A_TASK)
    yield { from, to: Math.min(columns, from + COLUMNS_A_TASK) };
}

/** Makes what encodes columns of some rows. */
export function columnMaker({
  places,
  added,
}: Omit<ColumnWriteSetup, 'output'>): MakePiece<ColumnsToWrite, ChunkFacts[]> {
  const arrays = reusableArrays();
  const memory = columnMemory();
  const fill = columnFiller(places);
  return async ({ numbers, from, to }, gathered) => {
    const columns = emptyColumns(added.slice(from, to), numbers.length, memory);
    fill(columns, numbers, from);
    const chunks: ChunkFacts[] = [];
    for (const { facts, pieces } of encodedChunks({ rows: numbers.length, columns }, arrays)) {
      chunks.push(facts);
      for (const piece of pieces) gathered.addBytes(piece, 0, piece.length);
    }
    return chunks;
  };
}

/** Makes what puts the fields of rows into columns, one column after the other: the fields of a column have one form, which the processor
 * foresees. */
function columnFiller(places: OutputPlaces) {
  const { kinds, kindOf, times, texts } = places;
  const width = packedWidth(places);
  const kindWidth = kinds[0]?.length ?? 0;
  const leading = leadingWidth(places);
  const unpacker = new FieldPacker(numberedTexts(places));
  const find = packedFinder(places);
  const most = places.tables.reduce((sum, { table }) => sum + table.counters[1]!, 0);
  let copies: Buffer = Buffer.alloc(ROWS_A_BLOCK * Math.max(most, 1) + 4);
  /** Where the fields of each row of a block begin in `copies`. */
  const starts = new Uint32Array(ROWS_A_BLOCK);

  /** Copies the wanted packed fields of some rows. */
  function gather(
    numbers: Int32Array,
    first: number,
    count: number,
    { skipped, wanted }: { readonly skipped: number; readonly wanted: number },
  ): void {
    let used = 0;
    for (let row = 0; row < count; row++) {
      const { bytes, from } = find(numbers[first + row]!);
      const at = skipNatural(bytes, from, skipped);
      const end = skipNatural(bytes, at, wanted);
      const size = end - at;
      if (used + size > copies.length) {
        const grown = Buffer.alloc(2 * (used + size));
        copies.copy(grown, 0, 0, used);
        copies = grown;
      }
      bytes.copy(copies, used, at, end);
      starts[row] = used;
      used += size;
    }
  }

  function putKinds(
    column: StoredColumn,
    numbers: Int32Array,
    row: number,
    count: number,
    field: number,
  ): void {
    let last = -1;
    for (let at = row; at < row + count; at++) {
      const kind = kindOf[numbers[at]!]!;
      const value: Field = kinds[kind]![field]!;
      if (kind !== last || value === null || column.kind !== 'text') putValue(column, at, value);
      else column.ids[at] = column.ids[at - 1]!;
      last = kind;
    }
  }

  function putTimes(column: StoredColumn, numbers: Int32Array, row: number, count: number): void {
    for (let at = row; at < row + count; at++) {
      const time = times![numbers[at]!]!;
      if (Number.isNaN(time)) putValue(column, at, null);
      else if (column.kind === 'time') column.values[at] = time;
      else putValue(column, at, new Date(time).toISOString());
    }
  }

  function putTexts(column: TextColumn, known: Uint32Array, first: number, count: number): void {
    const { ids } = column;
    for (let row = 0; row < count; row++) {
      const at = starts[row]!;
      const tag = copies[at]!;
      if (tag < FIRST_TEXT || (texts[tag - FIRST_TEXT] ?? null) === null) {
        putOther(column, row, first);
        continue;
      }
      let id = known[tag]!;
      if (id === 0) id = known[tag] = internText(column, texts[tag - FIRST_TEXT]!);
      ids[first + row] = id;
      starts[row] = at + 1;
    }
  }

  function putNumbers(column: NumberColumn, first: number, count: number): void {
    const { values, kind } = column;
    for (let row = 0; row < count; row++) {
      const at = starts[row]!;
      const tag = copies[at]!;
      if (kind === 'number' && tag === MILLIONTHS) {
        values[first + row] = copies.readInt32LE(at + 1) / MILLION;
        starts[row] = at + 5;
      } else if (tag === SMALL && (kind === 'number' || kind === 'count')) {
        values[first + row] = copies[at + 1]!;
        starts[row] = at + 2;
      } else putOther(column, row, first);
    }
  }

  function putOther(column: StoredColumn, row: number, first: number): void {
    const at = starts[row]!;
    putValue(column, first + row, unpacker.unpack(copies, at, 1)[0]!);
    starts[row] = skipFields(copies, at, 1);
  }

  return (columns: readonly StoredColumn[], numbers: Int32Array, from: number): void => {
    const known = columns.map(() => new Uint32Array(256));
    const skipped = Math.max(0, from - leading);
    const end = Math.min(width, Math.max(0, from + columns.length - leading));
    const packed = { skipped, wanted: Math.max(0, end - skipped) };
    for (let first = 0; first < numbers.length; first += ROWS_A_BLOCK) {
      const count = Math.min(ROWS_A_BLOCK, numbers.length - first);
      gather(numbers, first, count, packed);
      for (const [index, column] of columns.entries()) {
        const field = from + index;
        if (field < kindWidth) putKinds(column, numbers, first, count, field);
        else if (field < leading) putTimes(column, numbers, first, count);
        else if (field >= leading + width)
          for (let row = 0; row < count; row++) putValue(column, first + row, null);
        else if (column.kind === 'text') putTexts(column, known[index]!, first, count);
        else putNumbers(column, first, count);
      }
    }
  };
}

/** As `skipFields`. A rating and two decimals follow each other: three bytes tell the size of a natural topic. */
function skipNatural(bytes: Buffer, from: number, width: number): number {
  let at = from;
  for (let left = width; left > 0; ) {
    const isNatural =
      left >= 3 &&
      bytes[at]! >= FIRST_TEXT &&
      bytes[at + 1] === MILLIONTHS &&
      bytes[at + 6] === MILLIONTHS;
    if (!isNatural) at = skipFields(bytes, at, 1);
    else at += 11;
    left -= isNatural ? 3 : 1;
  }
  return at;
}

/** @public: threads import it */
export const inThread: InThread<
  ColumnWriteSetup,
  PieceTask<ColumnsToWrite>,
  PieceResult<ChunkFacts[]>
> = (setup) => pieceRunner(columnMaker(setup), setup.output);
