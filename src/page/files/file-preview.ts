import { stat } from 'node:fs/promises';
import { PerilbookError } from '../../base/errors.ts';
import { perilbookColumns } from '../../columns/row.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { decideLocation } from '../../rows/location/decide-location.ts';
import { type FileHead, readFirstRows, readHead } from '../../rows/location/file-head.ts';
import { hasHeaderLine, READ_FORMATS } from '../../rows/open/file-formats.ts';
import { openRowFile } from '../../rows/open/open-row-file.ts';
import type { RowFile } from '../../rows/port.ts';
import { likelyOrder, tivColumns } from '../../run/scan/value.ts';
import { pageMessage } from './page-words.ts';
import type { ChosenFile } from './workspace.ts';

/** A file as the page shows it before a run. */
export interface FilePreview extends PreviewedLocation {
  readonly format: string;
  readonly hasHeaderLine: boolean;
  readonly bytes: number;
  /** Without those that an earlier run added. */
  readonly columns: readonly string[];
  /** The column that looks like a value, by its index; `tiv` for several of OED's columns; null for none. */
  readonly order: number | 'tiv' | null;
  /** OED's value columns, by name. */
  readonly tiv: readonly string[];
  /** What `line` counts. */
  readonly unit: NonNullable<RowFile['unit']>;
  readonly first: readonly { readonly line: number; readonly fields: readonly string[] }[];
}

interface PreviewedLocation {
  /** The indexes of its columns; null if none is recognised. */
  readonly location: { readonly lat: number; readonly lng: number } | null;
  /** Why the choice is uncertain. */
  readonly note: string | null;
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
    throw unreadable(
      `${name} is a job file, not a list of locations`,
      'Open the file that its setting input names.',
    );
  }
  const rowFile = await openRowFile(path, header ? {} : { header });
  const dropFrom = findPerilbookColumns(rowFile.columns, perilbookColumns());
  const columns = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  // Any text can be read as CSV with one column.
  if (columns.length < 2) {
    const hint = 'Choose a file whose columns are separated by commas, semicolons, tabs or |.';
    throw unreadable(`${name} is not a table: its first line has one column`, hint);
  }
  const likely = likelyOrder(columns);
  const tiv = tivColumns(columns).map((index) => columns[index]!);
  const order = likely === 'tiv' && tiv.length === 1 ? tiv[0]! : likely;
  const head = await readHead(rowFile);
  const shown = await readFirstRows(rowFile, ROWS_SHOWN);
  return {
    format: rowFile.format,
    hasHeaderLine: hasHeaderLine(rowFile.format),
    bytes: stats.size,
    columns,
    ...parseLocation(rowFile, head, columns, name),
    order: order === null || (order === 'tiv' && tiv.length > 1) ? order : columns.indexOf(order),
    tiv,
    unit: rowFile.unit ?? 'line',
    first: shown.map(({ line, fields }) => ({
      line,
      fields: fields
        .slice(0, columns.length)
        .map((text) => (text.length > LONGEST_FIELD ? `${text.slice(0, LONGEST_FIELD)}…` : text)),
    })),
  };
}

const unreadable = (message: string, hint: string) =>
  new PerilbookError('INPUT_UNREADABLE', message, hint);

/** The indexes of the latitude and longitude columns, null if none is recognised; and why the choice is uncertain, or null. */
function parseLocation(
  rowFile: RowFile,
  head: FileHead,
  columns: readonly string[],
  name: string,
): PreviewedLocation {
  try {
    const { lat, lng, note } = decideLocation(head, columns, {}, rowFile, name);
    return { location: { lat, lng }, note };
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS')) throw error;
    const note = `No latitude and longitude columns were recognised in ${name}. ${pageMessage(error).hint}`;
    return { location: null, note };
  }
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
