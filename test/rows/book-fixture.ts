import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { listedPlaces } from '../../src/formats/packed/output-places.ts';
import { rowsInTurn } from '../../src/rows/kept-columns.ts';
import { NO_LOCATION_NOTES } from '../../src/rows/no-locations.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import type { AddedColumn, Row, RowFile, WriteRequest } from '../../src/rows/port.ts';
import { temporaryFolder as folderOfTest } from '../temporary-folder.ts';

/** A folder for the files of one test file, removed at its end. */
export function temporaryFolder(): string {
  return folderOfTest({ after });
}

export const ADDED: readonly AddedColumn[] = [
  { name: 'hazard_status', type: 'text' },
  { name: 'hazard_note', type: 'text' },
  { name: 'hail_score', type: 'number' },
];

/** Gives the fields of rows by what is in them. */
export type RowFill = (rows: readonly Row[]) => Promise<readonly (readonly Field[])[]>;

/** A request whose fields depend on the rows: on their numbers, problems, and the texts of some columns. */
export type RowRequest = Partial<Omit<WriteRequest, 'placed' | 'output'>> & {
  readonly output: string;
  readonly columns?: readonly number[];
  readonly fill?: RowFill;
};

/** Writes a file with fields by row, which are read beside the writing: each row is a place. */
export async function writeRows(
  book: RowFile,
  { columns = [], fill = fillProblems, ...request }: RowRequest,
) {
  const rows = book.read(columns)[Symbol.asyncIterator]();
  const next = rowsInTurn(rows);
  const { added = ADDED } = request;
  const placed = placedRows(added.length, async (count) => await fill(await next(count)));
  try {
    return await book.write({ dropFrom: null, ...request, added, placed });
  } finally {
    await rows.return?.();
  }
}

/** Fields by row: each row is a place. */
export function placedRows(
  width: number,
  next: (count: number) => Promise<readonly (readonly Field[])[]>,
): WriteRequest['placed'] {
  const listed = listedPlaces(width);
  return {
    async next(count) {
      const rows = await next(count);
      listed.fill(rows);
      return { numbers: Int32Array.from(rows.keys()), places: listed.places };
    },
  };
}

/** A fill that gives every row the same fields. */
export function fillWith(fields: readonly Field[]): RowFill {
  return async (rows) => rows.map(() => fields);
}

/** A fill that adds the problem of each row, or why it is no location. */
export const fillProblems: RowFill = async (rows) =>
  rows.map(({ problem, noLocation }) => {
    const note = noLocation === undefined ? problem : NO_LOCATION_NOTES[noLocation];
    return note === undefined ? ['ok', null, 1.5] : ['invalid', note, null];
  });

/** The rows of a file, with the texts of some columns, without their types. */
export async function allRows(
  book: RowFile,
  columns: readonly number[],
  needed?: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of book.read(columns, needed))
    rows.push(...batch.map(({ types: _, ...row }) => row));
  return rows;
}

/** Writes `content` to a file, opens it, writes it out with added fields, and gives the bytes of the output as latin1. */
export async function enrich(
  folder: string,
  content: Buffer | string,
  request: Partial<RowRequest> = {},
): Promise<string> {
  const [input, output] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
  writeFileSync(input, content);
  const book = await openRowFile(input);
  await writeRows(book, { output, columns: [0, 1], ...request });
  return readFileSync(output, 'latin1');
}
