import type { Row, RowSource } from '../port.ts';
import { proposeLocations } from './location-names.ts';
import { scorePlaces } from './place-scores.ts';

/** The head of an opened file: what decides its layout, as data. */
export interface FileHead {
  /** All columns, those of an earlier run too. */
  readonly columns: readonly string[];
  /** The first rows, with the fields of all columns: those of a columnar file with the proposed ones alone, where they hold places.
   * A field that is not read, or cannot be read without an error, is ''. */
  readonly rows: readonly Row[];
  /** How many rows were asked for: with fewer, these are all rows of the file. */
  readonly asked: number;
}

/** The rows whose values decide which columns are the location. */
const MOST_ROWS = 1_000;
/** A table of thousands of columns is judged by fewer rows. */
const MOST_FIELDS = 400_000;
const FEWEST_ROWS = 50;

const heads = new WeakMap<RowSource, Promise<FileHead>>();

/** The head of a file, which is read once. @throws INPUT_* */
export function readHead(rowFile: RowSource): Promise<FileHead> {
  let head = heads.get(rowFile);
  if (head === undefined) {
    head = headOf(rowFile);
    heads.set(rowFile, head);
  }
  return head;
}

/** More columns are not decoded at once: 2,000 columns of 50,000 rows a group took 1.6 GB. */
const MOST_COLUMNS = 200;

async function headOf(rowFile: RowSource): Promise<FileHead> {
  const { columns, isColumnar } = rowFile;
  const read = rowFile.readable ?? [...columns.keys()];
  const fit = Math.floor(MOST_FIELDS / Math.max(1, read.length));
  const asked = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, fit));
  if (isColumnar !== true) return { columns, rows: await rowsWith(rowFile, read, asked), asked };
  const places = proposeLocations(columns);
  const named = [...new Set(places.flatMap(({ lat, lng }) => [lat, lng]))];
  const proposed = await rowsWith(
    rowFile,
    named.filter((column) => read.includes(column)),
    asked,
  );
  // The other columns are looked at only where names have no places: those of a group of 200,000 rows took a fifth of a scan.
  const isEnough = places.some((place) => scorePlaces(proposed, place).verdict === 'us');
  return { columns, rows: isEnough ? proposed : await rowsWith(rowFile, read, asked), asked };
}

/** The first rows with the fields of all columns that can be read. */
export function readFirstRows(rowFile: RowSource, count: number): Promise<Row[]> {
  return rowsWith(rowFile, rowFile.readable ?? [...rowFile.columns.keys()], count);
}

/** The first rows with the fields of some columns in their places, and '' in the others. */
async function rowsWith(
  rowFile: RowSource,
  columns: readonly number[],
  count: number,
): Promise<Row[]> {
  const most = rowFile.isColumnar === true ? MOST_COLUMNS : columns.length;
  let rows: Row[] = [];
  for (let from = 0; from === 0 || from < columns.length; from += most) {
    const some = columns.slice(from, from + most);
    const read = await firstRows(rowFile, some, count);
    if (some.length === rowFile.columns.length) return read;
    rows = read.map(({ types: _, ...row }, index) => {
      const fields = rows[index]?.fields ?? new Array<string>(rowFile.columns.length).fill('');
      const filled = [...fields];
      for (const [at, column] of some.entries()) filled[column] = row.fields[at]!;
      return { ...row, fields: filled };
    });
  }
  return rows;
}

/** The first rows of a file, with the fields of some columns in that order. */
export async function firstRows(
  rowFile: RowSource,
  columns: readonly number[],
  count: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of rowFile.read(columns, 0)) {
    rows.push(...batch.slice(0, count - rows.length));
    if (rows.length === count) break;
  }
  return rows;
}
