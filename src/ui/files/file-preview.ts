import { stat } from 'node:fs/promises';
import { knownColumns } from '../../columns/row.ts';
import { PerilbookError } from '../../errors.ts';
import { findLocationColumns } from '../../rows/location-columns.ts';
import { type OpenOptions, openRowFile } from '../../rows/open-row-file.ts';
import { findPerilbookColumns } from '../../rows/perilbook-columns.ts';
import type { RowFile } from '../../rows/port.ts';
import type { ChosenFile } from './workspace.ts';

/** What a file looks like before anything is chosen. */
export interface FilePreview {
  readonly format: string;
  readonly bytes: number;
  /** The columns of the input; those that an earlier run added are left out. */
  readonly columns: readonly string[];
  /** The columns that are taken for latitude and longitude, by index from 0; null where none look like it. */
  readonly location: { readonly lat: number; readonly lng: number } | null;
  /** Why the choice of columns is in doubt; null where it is not. */
  readonly note: string | null;
  readonly first: readonly { readonly line: number; readonly fields: readonly string[] }[];
}

const ROWS_SHOWN = 6;
const LONGEST_FIELD = 120;

/** Opens a file and reads its first rows. @param header whether its first line names the columns @throws INPUT_UNREADABLE */
export async function previewFile({ path, name }: ChosenFile, header = true): Promise<FilePreview> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) {
    const what = found === null ? `There is no file ${path}` : `${path} is no file`;
    throw new PerilbookError(
      'INPUT_UNREADABLE',
      what,
      'Name a CSV, Excel, Parquet, NDJSON or GeoJSON file with its folder.',
    );
  }
  const rowFile = await openRowFile(path, readingOf(header));
  const columns = originalColumns(rowFile);
  const location = locationOf(columns, name);
  return {
    format: rowFile.format,
    bytes: found.size,
    columns,
    ...location,
    first: await firstRows(rowFile, columns.length),
  };
}

/** What is left unsaid is looked for in the file. */
function readingOf(header: boolean): OpenOptions {
  return header ? {} : { header };
}

function originalColumns({ columns }: RowFile): readonly string[] {
  const dropFrom = findPerilbookColumns(columns, knownColumns());
  return dropFrom === null ? columns : columns.slice(0, dropFrom);
}

function locationOf(columns: readonly string[], name: string): Pick<FilePreview, 'location' | 'note'> {
  try {
    const { lat, lng, note } = findLocationColumns(columns);
    return { location: { lat, lng }, note };
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS')) throw error;
    return { location: null, note: `No columns of ${name} are named like a latitude and a longitude. ${error.hint}` };
  }
}

async function firstRows(rowFile: RowFile, width: number): Promise<FilePreview['first']> {
  const rows: FilePreview['first'][number][] = [];
  const every = Array.from({ length: width }, (_, index) => index);
  for await (const batch of rowFile.read(every, 0)) {
    for (const { line, fields } of batch.slice(0, ROWS_SHOWN - rows.length)) {
      rows.push({
        line,
        fields: fields.map((text) => (text.length > LONGEST_FIELD ? `${text.slice(0, LONGEST_FIELD)}…` : text)),
      });
    }
    if (rows.length === ROWS_SHOWN) break;
  }
  return rows;
}

/** A column in the words of a job: its name, or its number where the name is missing or stands for several. */
export function columnReference(columns: readonly string[], index: number): string {
  const name = columns[index]!;
  const isOnlyOne = columns.filter((other) => other === name).length === 1;
  return name !== '' && isOnlyOne ? name : String(index + 1);
}
