import type { Row, RowSource } from '../port.ts';

/** The head of an opened file: what decides its layout, as data. */
export interface FileHead {
  /** All columns, those of an earlier run too. */
  readonly columns: readonly string[];
  /** The first rows, with the fields of all columns. A field that cannot be read without an error is ''. */
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

async function headOf(rowFile: RowSource): Promise<FileHead> {
  const { columns } = rowFile;
  const read = rowFile.readable ?? [...columns.keys()];
  const fit = Math.floor(MOST_FIELDS / Math.max(1, read.length));
  const asked = Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, fit));
  const rows = await firstRows(rowFile, read, asked);
  if (read.length === columns.length) return { columns, rows, asked };
  const wide = rows.map((row) => {
    const fields = new Array<string>(columns.length).fill('');
    for (const [at, column] of read.entries()) fields[column] = row.fields[at]!;
    const { types: _, ...others } = row;
    return { ...others, fields };
  });
  return { columns, rows: wide, asked };
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
