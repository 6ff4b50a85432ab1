import { memo } from '../../base/memo.ts';
import { lossReader, type PlaceLosses } from '../../formats/packed/place-losses.ts';
import { type NumberColumn, putNull } from './column-builder.ts';
import { distinctNumbers, type ReusableArrays } from './encode.ts';

/** The rates of these rows stay in the processor's cache while some columns are filled from them, one after the other. */
const ROWS_A_BLOCK = 256;

/** Rows whose losses are put into columns. */
interface RowsWithLosses {
  /** The places of some row groups by number. */
  readonly places: Uint32Array;
  /** For each row the index of its place. */
  readonly rows: Uint32Array;
  /** The value of each row, where its fields depend on it. */
  readonly amounts: Float64Array | undefined;
}

/** Puts losses into columns that follow each other. @param first the number of the first field (`lossField`) */
type FillLosses = (columns: readonly NumberColumn[], first: number, rows: RowsWithLosses) => void;

/** Makes what puts the losses of rows into columns. */
export function lossFiller(losses: PlaceLosses, arrays: ReusableArrays): FillLosses {
  const { topics, rates, numberOf } = losses;
  const read = lossReader(losses);
  const count = Math.max(1, rates.length / Math.max(1, topics));
  const all = Uint32Array.from({ length: count }, (_, number) => number);
  const firstsOf = memo(firstWithSame);
  /** For each row the number of its rates. */
  let numbers = new Uint32Array(0);

  function findNumbers({ places, rows }: RowsWithLosses): void {
    if (numbers.length < rows.length) numbers = new Uint32Array(rows.length);
    for (let row = 0; row < rows.length; row++) numbers[row] = numberOf[places[rows[row]!]!]!;
  }

  /** For each number the first one with the same value in a field of rates. That of null is 0. */
  function firstWithSame(field: number): Uint32Array {
    const values = new Float64Array(count);
    read({ from: 0, to: count, numbers: all }, field, values);
    const { distinct, indexes } = distinctNumbers(values, count, arrays, 1)!;
    const firstOf = arrays.used(distinct.length).fill(0);
    const firsts = new Uint32Array(count);
    for (let number = 0; number < count; number++) {
      if (Number.isNaN(values[number]!)) continue;
      const index = indexes[number]!;
      if (firstOf[index] === 0) firstOf[index] = number;
      firsts[number] = firstOf[index]!;
    }
    return firsts;
  }

  function putAmounts(columns: readonly NumberColumn[], first: number, of: RowsWithLosses): void {
    const count = of.rows.length;
    for (let from = 0; from < count; from += ROWS_A_BLOCK) {
      const to = Math.min(count, from + ROWS_A_BLOCK);
      const block = { from, to, numbers, values: of.amounts };
      for (let index = 0; index < columns.length; index++) {
        const column = columns[index]!;
        read(block, first + index, column.values);
        for (let row = from; row < to; row++)
          if (Number.isNaN(column.values[row]!)) putNull(column, row);
      }
    }
  }

  /** Puts a field of the rates of places, which rows of a tract share. */
  function putRates(column: NumberColumn, field: number): void {
    const { buffer, byteOffset, length } = column.values;
    // Rows that share their values need no room for them.
    const ids = new Uint32Array(buffer, byteOffset, length);
    const firsts = firstsOf(field);
    for (let row = 0; row < length; row++) {
      const id = firsts[numbers[row]!]!;
      if (id === 0) putNull(column, row);
      else ids[row] = id;
    }
    const readOf = (of: Uint32Array, into: Float64Array) =>
      read({ from: 0, to: of.length, numbers: of }, field, into);
    column.shared = { ids, count, read: readOf };
  }

  return (columns, first, of) => {
    const ofRates = columns.slice(0, Math.max(0, topics + 2 - first));
    findNumbers(of);
    for (const [index, column] of ofRates.entries()) putRates(column, first + index);
    const ofAmounts = columns.slice(ofRates.length);
    if (ofAmounts.length > 0) putAmounts(ofAmounts, first + ofRates.length, of);
  };
}
