import { stat } from 'node:fs/promises';
import { PerilbookError } from '../../base/errors.ts';
import { perilbookColumns } from '../../columns/row.ts';
import { hasHeaderLine, READ_FORMATS } from '../../rows/file-formats.ts';
import { firstRows, placeColumns } from '../../rows/header.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { RowFile } from '../../rows/port.ts';
import { likelyOrder } from '../../run/scan/value.ts';
import { pageMessage } from './page-words.ts';
import type { ChosenFile } from './workspace.ts';

/** A file's format, columns and first rows. */
export interface FilePreview {
  readonly format: string;
  readonly hasHeaderLine: boolean;
  readonly bytes: number;
  /** The columns, without those that an earlier run added. */
  readonly columns: readonly string[];
  /** The indexes of the latitude and longitude columns; null if none is recognised. */
  readonly location: { readonly lat: number; readonly lng: number } | null;
  /** Why the choice of columns is uncertain, or null. */
  readonly note: string | null;
  /** The column that looks like a value, by its index; `tiv` for OED's columns; null for none. */
  readonly order: number | 'tiv' | null;
  /** What `line` counts. */
  readonly unit: NonNullable<RowFile['unit']>;
  readonly first: readonly { readonly line: number; readonly fields: readonly string[] }[];
}

const ROWS_SHOWN = 6;
const LONGEST_FIELD = 120;

/** Opens a file and reads its first rows. @param header whether its first line is a header @throws INPUT_UNREADABLE */
export async function previewFile(
  { path, name }: Pick<ChosenFile, 'path' | 'name'>,
  header = true,
): Promise<FilePreview> {
  const stats = await stat(path).catch(() => null);
  if (stats === null || !stats.isFile()) {
    const what = stats === null ? `${path} does not exist` : `${path} is not a file`;
    throw unreadable(what, `Give the path of a file of locations: ${READ_FORMATS.join(', ')}.`);
  }
  if (/\.ya?ml$/i.test(name)) {
    throw unreadable(`${name} is a job file, not a list of locations`, 'Open the file that its setting input names.');
  }
  const rowFile = await openRowFile(path, header ? {} : { header });
  const dropFrom = findPerilbookColumns(rowFile.columns, perilbookColumns());
  const columns = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  // Any text can be read as CSV with one column.
  if (columns.length < 2) {
    const hint = 'Choose a file whose columns are separated by commas, semicolons, tabs or |.';
    throw unreadable(`${name} is not a table: its first line has one column`, hint);
  }
  const order = likelyOrder(columns);
  return {
    format: rowFile.format,
    hasHeaderLine: hasHeaderLine(rowFile.format),
    bytes: stats.size,
    columns,
    ...(await parseLocation(rowFile, columns, name)),
    order: order === null || order === 'tiv' ? order : columns.indexOf(order),
    unit: rowFile.unit ?? 'line',
    first: await previewRows(rowFile, columns),
  };
}

const unreadable = (message: string, hint: string) => new PerilbookError('INPUT_UNREADABLE', message, hint);

async function parseLocation(
  rowFile: RowFile,
  columns: readonly string[],
  name: string,
): Promise<Pick<FilePreview, 'location' | 'note'>> {
  try {
    const { lat, lng, note } = await placeColumns(rowFile, columns, {});
    return { location: { lat, lng }, note };
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS')) throw error;
    return {
      location: null,
      note: `No latitude and longitude columns were recognised in ${name}. ${pageMessage(error).hint}`,
    };
  }
}

async function previewRows(rowFile: RowFile, columns: readonly string[]): Promise<FilePreview['first']> {
  return (await firstRows(rowFile, [...columns.keys()], ROWS_SHOWN)).map(({ line, fields }) => ({
    line,
    fields: fields.map((text) => (text.length > LONGEST_FIELD ? `${text.slice(0, LONGEST_FIELD)}…` : text)),
  }));
}

/** A column as a job file names it: by name, or by number if the name is empty or not unique. */
export function columnReference(columns: readonly string[], index: number): string {
  const name = columns[index]!;
  const isUnique = columns.filter((other) => other === name).length === 1;
  return name !== '' && isUnique ? name : String(index + 1);
}

/** The index of a column that a job file names so; null where the columns have changed. */
export function columnIndex(columns: readonly string[], reference: string): number | null {
  const named = columns.indexOf(reference);
  const index = named >= 0 ? named : Number(reference) - 1;
  return columns[index] === undefined ? null : index;
}
