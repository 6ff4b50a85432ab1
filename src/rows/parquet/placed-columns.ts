import type { Field } from '../../contract/answer.ts';
import {
  leadingWidth,
  numberedTexts,
  type OutputPlaces,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { FieldPacker, skipFields, TAGS } from '../../formats/packed/packed-fields.ts';
import { lossField, lossWidth } from '../../formats/packed/place-losses.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import { moduleBeside } from '../../threads/thread-pool.ts';
import type { ByteBuffer } from '../files/byte-buffer.ts';
import {
  type MakePiece,
  OWN_SHARE,
  type PieceResult,
  type PieceTask,
  pieceRunner,
  writePieces,
} from '../files/piece-writer.ts';
import { nextPlaces } from '../placed-fields.ts';
import type { PlacesOfRows, TableColumn, WriteRequest } from '../port.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import {
  columnMemory,
  emptyColumns,
  internText,
  type NumberColumn,
  putNull,
  putValue,
  type StoredColumn,
  type TextColumn,
} from './column-builder.ts';
import { reusableArrays } from './encode.ts';
import {
  type ColumnRange,
  type GatheredRows,
  type RowsToGather,
  rangesToGather,
  rowGatherer,
} from './gathered-rows.ts';

const { firstText: FIRST_TEXT, millionths: MILLIONTHS, small: SMALL, null: NULL } = TAGS;
const MILLION = 1e6;
/** The packed fields of these rows stay in the processor's cache. */
const ROWS_A_BLOCK = 256;

/** Some columns of a row group. */
export interface ColumnsToWrite extends ColumnRange, PlacesOfRows {
  /** The packed fields of its rows, and which of their ranges these columns are. */
  readonly gathered: readonly GatheredRows[];
  readonly range: number;
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

interface Item extends ColumnRange {
  readonly group: number;
  readonly placed: Promise<PlacesOfRows>;
  readonly gathered: Promise<readonly GatheredRows[]>;
  readonly range: number;
  /** Whether no other columns of these rows follow. */
  readonly isLast: boolean;
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
  const gatherHere = rowGatherer(places);
  await using gathering = pool.begin<OutputPlaces, RowsToGather, GatheredRows>(
    GATHERER,
    places,
    async (task) => gatherHere(task),
    OWN_SHARE,
  );
  const free: GatheredRows[] = [];

  async function gather(
    placed: Promise<PlacesOfRows>,
    ranges: readonly ColumnRange[],
  ): Promise<readonly GatheredRows[]> {
    const { numbers: all } = await placed;
    const size = Math.ceil(all.length / (TASKS_A_THREAD * (pool.threads + 1)));
    const parts: Promise<GatheredRows>[] = [];
    for (let from = 0; from < all.length; from += size) {
      const memory = free.pop() ?? null;
      parts.push(gathering.run({ numbers: all.slice(from, from + size), ranges, memory }));
    }
    return await Promise.all(parts);
  }

  function* items(): Generator<Item> {
    for (const [group, { rows }] of pieces.entries()) {
      const placed = nextPlaces(request, rows);
      // Each task that waits for one of them reports a failure.
      placed.catch(() => {});
      for (const ranges of rangesToGather(added.length, rows)) {
        const rowsOfRanges = gather(placed, ranges);
        rowsOfRanges.catch(() => {});
        for (const [range, columns] of ranges.entries()) {
          const isLast = range === ranges.length - 1;
          yield { group, placed, gathered: rowsOfRanges, range, isLast, ...columns };
        }
      }
    }
  }
  const work = {
    pool,
    module: import.meta.url,
    setup,
    items: items(),
    taskOf: async ({ placed, gathered: rows, from, to, range }: Item): Promise<ColumnsToWrite> => {
      const { numbers, values } = await placed;
      return { numbers, values, gathered: await rows, from, to, range };
    },
    memoryOf: () => [],
    signal,
  };
  for await (const { item, size, facts } of writePieces(gathered, work, columnMaker(setup))) {
    if (item.isLast) free.push(...(await item.gathered));
    yield { group: item.group, size, chunks: facts };
  }
}

const GATHERER = moduleBeside('gathered-rows', import.meta.url);
/** With one task a thread, all wait for the slower one. */
const TASKS_A_THREAD = 2;

/** Makes what encodes columns of some rows. */
export function columnMaker({
  places,
  added,
}: Omit<ColumnWriteSetup, 'output'>): MakePiece<ColumnsToWrite, ChunkFacts[]> {
  const arrays = reusableArrays();
  const memory = columnMemory();
  const fill = columnFiller(places);
  return async (task, gathered) => {
    const { numbers, from, to } = task;
    const columns = emptyColumns(added.slice(from, to), numbers.length, memory);
    fill(columns, task);
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
  const { kinds, kindOf, times, texts, losses } = places;
  const width = packedWidth(places);
  const kindWidth = kinds[0]?.length ?? 0;
  const leading = leadingWidth(places);
  const unpacker = new FieldPacker(numberedTexts(places));
  /** The packed fields of rows, and where the next field of each row of a block begins. */
  let packed: Buffer = Buffer.alloc(0);
  const starts = new Uint32Array(ROWS_A_BLOCK);

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
      const tag = packed[at]!;
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
      const tag = packed[at]!;
      if (kind === 'number' && tag === MILLIONTHS) {
        values[first + row] = packed.readInt32LE(at + 1) / MILLION;
        starts[row] = at + 5;
      } else if (tag === SMALL && (kind === 'number' || kind === 'count')) {
        values[first + row] = packed[at + 1]!;
        starts[row] = at + 2;
      } else putOther(column, row, first);
    }
  }

  function putOther(column: StoredColumn, row: number, first: number): void {
    const at = starts[row]!;
    // All fields of a row without a place are null.
    if (packed[at] === NULL) {
      putNull(column, first + row);
      starts[row] = at + 1;
      return;
    }
    putValue(column, first + row, unpacker.unpack(packed, at, 1)[0]!);
    starts[row] = skipFields(packed, at, 1);
  }

  const ofLosses = losses === null ? 0 : lossWidth(losses);

  /** @param field its number among those of the losses */
  function putLosses(
    column: StoredColumn,
    numbers: Int32Array,
    rows: { readonly row: number; readonly count: number },
    field: number,
    values: Float64Array | undefined,
  ): void {
    for (let at = rows.row; at < rows.row + rows.count; at++) {
      const value = values?.[at] ?? Number.NaN;
      putValue(column, at, lossField(losses!, losses!.numberOf[numbers[at]!]!, field, value));
    }
  }

  return (
    columns: readonly StoredColumn[],
    { numbers, values, gathered, from, range }: ColumnsToWrite,
  ): void => {
    const known = columns.map(() => new Uint32Array(256));
    let done = 0;
    for (const { rows, bytes, starts: all } of gathered) {
      packed = Buffer.from(bytes.buffer);
      for (let block = 0; block < rows; block += ROWS_A_BLOCK) {
        const count = Math.min(ROWS_A_BLOCK, rows - block);
        const [first, begin] = [done + block, range * rows + block];
        starts.set(all.subarray(begin, begin + count));
        for (const [index, column] of columns.entries()) {
          const field = from + index;
          if (field < kindWidth) putKinds(column, numbers, first, count, field);
          else if (field < leading) putTimes(column, numbers, first, count);
          else if (field >= leading + width && field < leading + width + ofLosses) {
            const loss = field - leading - width;
            putLosses(column, numbers, { row: first, count }, loss, values);
          } else if (field >= leading + width)
            for (let row = 0; row < count; row++) putValue(column, first + row, null);
          else if (column.kind === 'text') putTexts(column, known[index]!, first, count);
          else putNumbers(column, first, count);
        }
      }
      done += rows;
    }
  };
}

/** @public: threads import it */
export const inThread: InThread<
  ColumnWriteSetup,
  PieceTask<ColumnsToWrite>,
  PieceResult<ChunkFacts[]>
> = (setup) => pieceRunner(columnMaker(setup), setup.output);
