import type { Field } from '../../contract/answer.ts';
import {
  leadingWidth,
  numberedTexts,
  type OutputPlaces,
  packedWidth,
} from '../../formats/packed/output-places.ts';
import { lossWidth } from '../../formats/packed/place-losses.ts';
import type { InThread } from '../../threads/thread-messages.ts';
import {
  type MakePiece,
  type PieceResult,
  type PieceTask,
  pieceRunner,
} from '../files/piece-writer.ts';
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
import { type ReusableArrays, reusableArrays } from './encode.ts';
import { lossFiller } from './loss-columns.ts';
import {
  NULL_VALUE,
  type OwnTexts,
  type PlaceSetup,
  type PlaceValues,
  packedIn,
  type RangeToFill,
  WIDE_VALUE,
} from './place-columns.ts';

const MILLION = 1e6;
/** The values of the places of these rows stay in the processor's cache while their columns are filled, one after the other. */
const ROWS_A_BLOCK = 256;

/** Some columns of a row group, with the values of its places. */
export interface ColumnsToWrite extends RangeToFill {
  /** The places of its section by number. */
  readonly places: Uint32Array<SharedArrayBuffer>;
  /** For each row the index of its place. */
  readonly rows: Uint32Array<SharedArrayBuffer>;
  /** The value of each row, where its fields depend on it. */
  readonly amounts: Float64Array | undefined;
  readonly own: readonly OwnTexts[];
}

export interface ColumnWriteSetup extends PlaceSetup {
  readonly output: { readonly name: string; readonly fd: number } | null;
}

/** Makes what encodes columns of some rows. */
export function columnMaker(setup: PlaceSetup): MakePiece<ColumnsToWrite, ChunkFacts[]> {
  const arrays = reusableArrays();
  const memory = columnMemory();
  const fill = columnFiller(setup.places, arrays);
  return async (task, gathered) => {
    const rows = task.rows.length;
    const columns = emptyColumns(setup.added.slice(task.from, task.to), rows, memory);
    fill(columns, task);
    const chunks: ChunkFacts[] = [];
    for (const { facts, pieces } of encodedChunks({ rows, columns }, arrays)) {
      chunks.push(facts);
      for (const piece of pieces) gathered.addBytes(piece, 0, piece.length);
    }
    return chunks;
  };
}

/** The texts of a column by number. */
interface ColumnTexts {
  /** By number: that in the column, or 0 before it is used. */
  readonly known: Uint32Array;
  readonly textOf: (number: number) => string;
}

/** The values of places in a column: that of a place is where those of its range begin. */
interface ColumnSource extends PlaceValues {
  readonly texts: ColumnTexts;
}

/** Makes what puts the values of places into columns of rows. */
function columnFiller(places: OutputPlaces, arrays: ReusableArrays) {
  const { kinds, kindOf, times, texts, losses } = places;
  const kindWidth = kinds[0]?.length ?? 0;
  const leading = leadingWidth(places);
  const afterPacked = leading + packedWidth(places);
  const afterLosses = afterPacked + (losses === null ? 0 : lossWidth(losses));
  const numbered = numberedTexts(places);
  /** Of the rows of a block: their places, and where the values of these begin. */
  const numbers = new Uint32Array(ROWS_A_BLOCK);
  const starts = new Uint32Array(ROWS_A_BLOCK);
  const fillLosses = losses === null ? null : lossFiller(losses, arrays);

  function putKinds(column: StoredColumn, field: number, first: number, count: number): void {
    let last = -1;
    for (let at = 0; at < count; at++) {
      const kind = kindOf[numbers[at]!]!;
      const value: Field = kinds[kind]![field]!;
      const row = first + at;
      if (kind !== last || value === null || column.kind !== 'text') putValue(column, row, value);
      else column.ids[row] = column.ids[row - 1]!;
      last = kind;
    }
  }

  function putTimes(column: StoredColumn, first: number, count: number): void {
    for (let at = 0; at < count; at++) {
      const time = times![numbers[at]!]!;
      if (Number.isNaN(time)) putValue(column, first + at, null);
      else if (column.kind === 'time') column.values[first + at] = time;
      else putValue(column, first + at, new Date(time).toISOString());
    }
  }

  function putTexts(
    column: TextColumn,
    { values, texts: { known, textOf } }: ColumnSource,
    first: number,
    count: number,
  ): void {
    const { ids } = column;
    for (let at = 0; at < count; at++) {
      const value = values[starts[at]!]!;
      if (value === NULL_VALUE) {
        putNull(column, first + at);
        continue;
      }
      let id = known[value]!;
      if (id === 0) id = known[value] = internText(column, textOf(value));
      ids[first + at] = id;
    }
  }

  function putNumbers(
    column: NumberColumn,
    { values: ofPlaces, wide }: ColumnSource,
    first: number,
    count: number,
  ): void {
    const { values, kind } = column;
    const unit = kind === 'number' ? MILLION : 1;
    for (let at = 0; at < count; at++) {
      const start = starts[at]!;
      const value = ofPlaces[start]!;
      if (value > WIDE_VALUE) values[first + at] = value / unit;
      else if (value === WIDE_VALUE) values[first + at] = wide[start]!;
      else putNull(column, first + at);
    }
  }

  function textsOf(own: readonly OwnTexts[]): ColumnTexts {
    const end = own.reduce((most, part) => Math.max(most, part.first + part.texts.length), 0);
    const known = new Uint32Array(Math.max(texts.length, end));
    const textOf = (number: number) => {
      if (number < texts.length) return numbered.textOf(number);
      const part = own.findLast(({ first }) => first <= number)!;
      return part.texts[number - part.first]!;
    };
    return { known, textOf };
  }

  /** Puts the fields of places that are none of their losses. */
  function fillOthers(columns: readonly StoredColumn[], task: ColumnsToWrite): void {
    const { rows, from } = task;
    const packed = packedIn(task, places);
    const sources = columns.map((_, index) => {
      const slot = Math.max(0, from + index - packed.first);
      const texts = textsOf(task.own.filter(({ column }) => column === from + index));
      return { texts, values: task.values.subarray(slot), wide: task.wide.subarray(slot) };
    });
    for (let first = 0; first < rows.length; first += ROWS_A_BLOCK) {
      const count = Math.min(ROWS_A_BLOCK, rows.length - first);
      for (let at = 0; at < count; at++) {
        const index = rows[first + at]!;
        numbers[at] = task.places[index]!;
        starts[at] = index * packed.count;
      }
      for (const [index, column] of columns.entries()) {
        const field = from + index;
        const source = sources[index]!;
        if (field < kindWidth) putKinds(column, field, first, count);
        else if (field < leading) putTimes(column, first, count);
        else if (field >= afterLosses)
          for (let row = first; row < first + count; row++) putNull(column, row);
        else if (field >= afterPacked) continue;
        else if (column.kind === 'text') putTexts(column, source, first, count);
        else putNumbers(column, source, first, count);
      }
    }
  }

  return (columns: readonly StoredColumn[], task: ColumnsToWrite): void => {
    const { from, to } = task;
    if (from < afterPacked || to > afterLosses) fillOthers(columns, task);
    const first = Math.max(from, afterPacked);
    const ofLosses = columns.slice(first - from, Math.max(0, afterLosses - from));
    if (ofLosses.length > 0) fillLosses!(ofLosses as NumberColumn[], first - afterPacked, task);
  };
}

/** @public: threads import it */
export const inThread: InThread<
  ColumnWriteSetup,
  PieceTask<ColumnsToWrite>,
  PieceResult<ChunkFacts[]>
> = (setup) => pieceRunner(columnMaker(setup), setup.output);
