import { lossReader, type PlaceLosses } from '../../formats/packed/place-losses.ts';
import { type NumberColumn, putNull, type SharedNumbers } from './column-builder.ts';

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
export function lossFiller(losses: PlaceLosses): FillLosses {
  const { topics, rates, numberOf } = losses;
  const read = lossReader(losses);
  const known = new Uint32Array(Math.max(1, rates.length / Math.max(1, topics)));
  const met = new Uint32Array(known.length);
  /** For each row the number of its rates, or the index of that among those that were met. */
  let ofRows = new Uint32Array(0);

  function findNumbers({ places, rows }: RowsWithLosses): void {
    if (ofRows.length < rows.length) ofRows = new Uint32Array(rows.length);
    for (let row = 0; row < rows.length; row++) ofRows[row] = numberOf[places[rows[row]!]!]!;
  }

  /** Puts the index of its number in place of that of each row. @returns how many there are */
  function indexNumbers(count: number): number {
    known.fill(0);
    let size = 0;
    for (let row = 0; row < count; row++) {
      const number = ofRows[row]!;
      if (known[number] === 0) {
        met[size] = number;
        known[number] = ++size;
      }
      ofRows[row] = known[number]! - 1;
    }
    return size;
  }

  function putAmounts(columns: readonly NumberColumn[], first: number, of: RowsWithLosses): void {
    const count = of.rows.length;
    for (let from = 0; from < count; from += ROWS_A_BLOCK) {
      const to = Math.min(count, from + ROWS_A_BLOCK);
      const block = { from, to, numbers: ofRows, values: of.amounts };
      for (let index = 0; index < columns.length; index++) {
        const column = columns[index]!;
        read(block, first + index, column.values);
        for (let row = from; row < to; row++)
          if (Number.isNaN(column.values[row]!)) putNull(column, row);
      }
    }
  }

  /** Puts fields of the rates of places, which rows of a tract share: each is read once. */
  function putRates(columns: readonly NumberColumn[], first: number, count: number): void {
    const size = indexNumbers(count);
    for (let from = 0; from < size; from += ROWS_A_BLOCK) {
      const block = { from, to: Math.min(size, from + ROWS_A_BLOCK), numbers: met };
      for (let index = 0; index < columns.length; index++)
        read(block, first + index, columns[index]!.values);
    }
    const indexOf = ofRows.subarray(0, count);
    for (const column of columns) {
      column.shared = { values: column.values.subarray(0, size), indexOf };
      if (hasNull(column.shared)) putNulls(column, column.shared);
    }
  }

  return (columns, first, of) => {
    const ofRates = columns.slice(0, Math.max(0, topics + 2 - first));
    const ofAmounts = columns.slice(ofRates.length);
    findNumbers(of);
    if (ofAmounts.length > 0) putAmounts(ofAmounts, first + ofRates.length, of);
    if (ofRates.length > 0) putRates(ofRates, first, of.rows.length);
  };
}

function hasNull({ values }: SharedNumbers): boolean {
  for (let at = 0; at < values.length; at++) if (Number.isNaN(values[at]!)) return true;
  return false;
}

function putNulls(column: NumberColumn, { values, indexOf }: SharedNumbers): void {
  for (let row = 0; row < indexOf.length; row++)
    if (Number.isNaN(values[indexOf[row]!]!)) putNull(column, row);
}
