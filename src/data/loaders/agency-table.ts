import { isDecimalNumber } from '../../base/decimal-number.ts';
import { PerilbookError } from '../../base/errors.ts';
import {
  type Batches,
  parsedRecords,
  type TableRecord,
  type TextForm,
} from '../../formats/csv/parsed-records.ts';
import { agencyFile, invalidFile, textBytes } from './agency-file.ts';

/** The sheets with the table in EPA's workbook of landfills, and in EIA's of generators: those of planned and retired ones beside them are
 * not read, that of Puerto Rico is. Of other workbooks the first sheet is read. */
const TABLE_SHEETS = /database|^\s*operating([ _-]+[a-z]{2})?\s*$/i;

/** The records of a file of delimited text, or of the table in an .xlsx workbook, in batches.
 * @throws PerilbookError SERVICE_DATA for a file that is damaged or cut */
export async function* tableRecords(file: string, form: TextForm = {}): Batches<TableRecord> {
  for await (const table of tablesIn(file, form)) yield* table;
}

/** The tables of a file, each with its header: one of text, or the sheets of a workbook. */
async function* tablesIn(file: string, form: TextForm): AsyncGenerator<Batches<TableRecord>> {
  if (/\.xlsx$/i.test(file)) {
    const { matchingSheets } = await import('../../formats/xlsx/cell-values.ts');
    for await (const records of matchingSheets(await agencyFile(file), TABLE_SHEETS))
      yield withoutTitle(records);
  } else
    yield parsedRecords(textBytes(file), form, (problem) => invalidFile(file, problem, DAMAGED));
}

/** Above the header EIA has a title, which fills one cell. */
async function* withoutTitle(records: Batches<TableRecord>): Batches<TableRecord> {
  let isTitle = true;
  for await (const batch of records) {
    const first = isTitle
      ? batch.findIndex(({ cells }) => cells.filter((cell) => cell.trim() !== '').length > 1)
      : 0;
    if (first < 0) continue;
    isTitle = false;
    yield batch.slice(first);
  }
}

const DAMAGED = 'Download it again, or mend that line; the stored data is unchanged.';

/** Reads the rows of a file with a header. @param begin gets the header, and returns the function that reads a row */
export async function* tableRows<T>(
  file: string,
  begin: (columns: Columns) => (row: TableRecord) => readonly T[],
  form: TextForm = {},
): Batches<T> {
  let isEmpty = true;
  for await (const table of tablesIn(file, form)) {
    let recordsOf: ReturnType<typeof begin> | null = null;
    for await (const batch of table) {
      const rows = recordsOf === null ? batch.slice(1) : batch;
      recordsOf ??= begin(findColumns(batch[0]!.cells, file));
      isEmpty = false;
      yield rows.flatMap(recordsOf);
    }
  }
  // An empty file has no columns, which `begin` refuses.
  if (isEmpty) begin(findColumns([], file));
}

/** The columns of a file whose first record is its header. */
export async function columnsIn(file: string): Promise<Columns> {
  for await (const [header] of tableRecords(file)) return findColumns(header!.cells, file);
  return findColumns([], file);
}

/** The columns of a header. */
export interface Columns {
  /** As in the file, trimmed. */
  readonly names: readonly string[];
  /** The index of the first of these names that the file has, or -1. */
  find(...names: string[]): number;
  /** As `find`. @throws SERVICE_DATA when the file has none of them */
  need(...names: string[]): number;
}

/** Reads a header. A name is found as it is written; else names are compared without case, spaces and punctuation, and without EPA's leading
 * numbers ("12. LATITUDE"). */
export function findColumns(header: readonly string[], file: string): Columns {
  const indexes = new Map<string, number>();
  const written = new Map<string, number>();
  for (const [index, name] of header.entries()) {
    const key = keyOf(name);
    if (key !== '' && !indexes.has(key)) indexes.set(key, index);
    const trimmed = name.trim();
    if (trimmed !== '' && !written.has(trimmed)) written.set(trimmed, index);
  }
  const find = (...names: string[]) => {
    for (const name of names) {
      const index = written.get(name) ?? indexes.get(keyOf(name));
      if (index !== undefined) return index;
    }
    return -1;
  };
  return {
    names: header.map((name) => name.trim()),
    find,
    need(...names: string[]): number {
      const index = find(...names);
      if (index >= 0) return index;
      const message = `Cannot load "${file}": it has no column ${names.join(' or ')}`;
      const hint = `Check that this is a file for this loader. Its first columns are: ${header.slice(0, 8).join(', ')}.`;
      throw new PerilbookError('SERVICE_DATA', message, hint, { file, column: names[0]! });
    },
  };
}

/** A column's name, normalized for comparison. */
export function keyOf(name: string): string {
  return name
    .replace(/^\s*\d+\.\s+/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Finds the name of a property; null when it is missing. */
export type PropertyFinder = (properties: Readonly<Record<string, unknown>>) => string | null;

/** Makes the function that finds the first of these names that exists: as it is written, else in any case and with any leading number. Of
 * `fid` and `FID_`, each has its own values. It caches the last match and the normalized names, because a million rows have a hundred
 * columns each. */
export function propertyFinder(names: readonly string[]): PropertyFinder {
  const wanted = names.map(keyOf);
  const keys = new Map<string, string>();
  const hasKey = (name: string, key: string) => {
    if (!keys.has(name)) keys.set(name, keyOf(name));
    return keys.get(name) === key;
  };
  let last = '';
  return (properties) => {
    if (Object.hasOwn(properties, last)) return last;
    const own = Object.keys(properties);
    for (const [index, key] of wanted.entries()) {
      const exact = names[index]!;
      const name = Object.hasOwn(properties, exact)
        ? exact
        : own.find((other) => hasKey(other, key));
      if (name === undefined) continue;
      last = name;
      return name;
    }
    return null;
  };
}

/** A cell as a number; null when it is blank, not a number, or too large for one. */
export function numberIn(cell: string | undefined): number | null {
  const text = cell?.trim() ?? '';
  if (!isDecimalNumber(text)) return null;
  const number = Number(text) + 0;
  return Number.isFinite(number) ? number : null;
}

/** The cells of a row by name, without blank ones and those to skip. */
export function pickProperties(
  names: readonly string[],
  cells: readonly string[],
  skip: ReadonlySet<number>,
): Record<string, unknown> {
  const properties: Record<string, unknown> = {};
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index]!.trim();
    if (cell !== '' && !skip.has(index)) properties[names[index] || `column ${index + 1}`] = cell;
  }
  return properties;
}

/** [lng, lat] of two cells, or the reason why they are no coordinates. */
export function parsePoint(
  latCell: string | undefined,
  lngCell: string | undefined,
): [number, number] | string {
  if ((latCell ?? '').trim() === '' || (lngCell ?? '').trim() === '')
    return 'the coordinates are blank';
  const [lat, lng] = [numberIn(latCell), numberIn(lngCell)];
  if (lat === null || lng === null) return 'the coordinates are not decimal numbers';
  if (lat === 0 && lng === 0) return 'the coordinates are 0 and 0, which means none';
  if (Math.abs(lat) > 90 || Math.abs(lng) > 180)
    return 'the coordinates are beyond 90 and 180 degrees';
  return [lng, lat];
}
