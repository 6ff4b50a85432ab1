import { PerilbookError } from '../../base/errors.ts';
import { addedColumns, geometryColumn, perilbookColumns } from '../../columns/row.ts';
import { parseLenient, splitLenientPair, splitPair } from '../../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import { formatOfOutput } from '../../rows/file-formats.ts';
import { findPerilbookColumns } from '../../rows/kept-columns.ts';
import { findLocationColumns, type LocationColumns } from '../../rows/location-columns.ts';
import type { AddedColumn, RowSource } from '../../rows/port.ts';
import { currencyColumn } from './currency.ts';
import { columnByName, valueColumns } from './value.ts';

/** The roles of the input's columns. */
export interface Layout {
  /** The columns that each pass reads: latitude, longitude, the value columns (summed), the currency. */
  readonly columns: readonly number[];
  /** The number of value columns. */
  readonly values: number;
  /** Whether a value may be negative: in a column that the job names. */
  readonly mayBeNegative: boolean;
  /** The position of the currency code among the columns that are read; null without values, or without such a column. */
  readonly currency: number | null;
  /** The column with the id of a location, where the job names one. */
  readonly id: number | null;
  /** Latitude and longitude are in one column, which is read twice. */
  readonly isPair: boolean;
  /** The output gets a point in each row: GeoParquet, or GeoJSON made from another format. */
  readonly hasPoints: boolean;
  /** Notes for the user: the chosen columns and the sheet. */
  readonly notes: readonly string[];
  /** The first column that an earlier run of Perilbook added, or null. */
  readonly dropFrom: number | null;
  /** Columns of an earlier run that stay: their topics are not in this job. */
  readonly kept: readonly KeptColumn[];
  readonly used: UsedColumns;
}

export type KeptColumn = AddedColumn & { readonly keeps: number };

/** The columns that a job uses, as `--json` prints them; null for none. @public: the declaration of a plan names it */
export interface UsedColumns {
  readonly lat: string;
  readonly lng: string;
  readonly value: readonly string[];
}

/** The value columns follow latitude and longitude. A row that is too short to have them has the value 0. */
export const FIRST_VALUE = 2;

/** Finds the columns. @throws INPUT_COLUMNS */
export function findLayout(rowFile: RowSource, job: Job): Layout {
  const ownColumns = perilbookColumns(job.prefix);
  const dropFrom = findPerilbookColumns(rowFile.columns, ownColumns);
  const original = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  const { lat, lng, note } = locationColumns(rowFile, original, job);
  refuseLocationAsHeader([original[lat]!, original[lng]!], lat === lng, job.input);
  const taken = new Set(original.map((name) => name.toLowerCase()));
  const added = addedColumns(job.topics, job.prefix, job.counts);
  refuseOtherThanParquet(rowFile, job);
  const clash = [...added, ...(job.geoparquet ? [geometryColumn(job.prefix)] : [])].find(({ name }) =>
    taken.has(name.toLowerCase()),
  );
  if (clash) {
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `The input already has a column ${clash.name}`,
      'Give the new columns a prefix (--prefix) or rename that column.',
      { file: job.input, column: clash.name },
    );
  }
  const values = valueColumns(original, job.orderBy, job.input);
  const currency = values.length === 0 ? null : currencyColumn(original);
  const nameOf = (index: number) => original[index] || String(index + 1);
  return {
    columns: [lat, lng, ...values, ...(currency === null ? [] : [currency])],
    values: values.length,
    mayBeNegative: job.orderBy.kind === 'column',
    currency: currency === null ? null : FIRST_VALUE + values.length,
    id: job.id === null ? null : columnByName(original, job.id, 'id', job.input),
    isPair: lat === lng,
    hasPoints: job.geoparquet || becomesGeojson(rowFile, job),
    notes: [note, rowFile.note].filter((words) => words != null),
    dropFrom,
    kept: keptColumns(rowFile.columns, dropFrom, job, ownColumns),
    used: {
      lat: nameOf(lat),
      lng: nameOf(lng),
      value: values.map(nameOf),
    },
  };
}

/** Whether rows of another format become features. Part files keep their format. */
function becomesGeojson({ format }: RowSource, { output, parts }: Job): boolean {
  return parts === null && format !== 'geojson' && formatOfOutput(output) === 'geojson';
}

/** Only Parquet has a standard form for points. @throws OUTPUT_UNWRITABLE */
function refuseOtherThanParquet({ format }: RowSource, { geoparquet, output }: Job): void {
  if (!geoparquet || (formatOfOutput(output) ?? format) === 'parquet') return;
  throw new PerilbookError(
    'OUTPUT_UNWRITABLE',
    `GeoParquet needs a Parquet output, not ${output === '-' ? 'standard output' : output}`,
    'Name the output .parquet, or leave out --geoparquet (geoparquet: in the job file).',
    { file: output },
  );
}

/** A file without a header, read without `--no-header`, would lose its first location as column names. @throws INPUT_COLUMNS */
function refuseLocationAsHeader(names: readonly [string, string], isPair: boolean, file: string): void {
  const [text] = names;
  // In lenient notation too: a strict job would report this row.
  const location = (isPair ? [splitPair(text), splitLenientPair(text)] : [names]).find(
    (candidate) => candidate && isLocation(...candidate),
  );
  if (!location) return;
  throw new PerilbookError(
    'INPUT_COLUMNS',
    `The first line is a location (${location.join(', ')}), not column names`,
    'If the file has no header line, add --no-header, or header: false in the job file.',
    { file },
  );
}

function isLocation(lat: string, lng: string): boolean {
  // Integers may be column names: a file without a header has the columns 1, 2, 3, …
  const isExact = [lat, lng].every((text) => /\d(?:\.\d|°)/.test(text));
  return [parseLocation(lat, lng, isCovered), parseLenient(lat, lng, isCovered)].some(
    (parsed) => parsed !== null && (parsed.ok || (isExact && ELSEWHERE.has(parsed.finding))),
  );
}

/** Findings of numbers that are a location outside the US. */
const ELSEWHERE: ReadonlySet<LocationFinding> = new Set(['swapped', 'sign_lost', 'outside_us']);

/** The columns of an earlier run whose topics are not in this job. */
function keptColumns(
  names: readonly string[],
  dropFrom: number | null,
  { topics }: Job,
  ownColumns: ReturnType<typeof perilbookColumns>,
): KeptColumn[] {
  const earlier = dropFrom === null ? [] : names.slice(dropFrom);
  return earlier.flatMap((name, at): KeptColumn[] => {
    const { type, topic } = ownColumns.get(name)!;
    return topic === null || topics.includes(topic) ? [] : [{ name, type, keeps: dropFrom! + at }];
  });
}

function locationColumns(rowFile: RowSource, names: readonly string[], { location }: Job): LocationColumns {
  try {
    return findLocationColumns(names, location, rowFile.shapes);
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS')) throw error;
    const line = rowFile.likelyHeader?.((fields) => isHeader(fields, location)) ?? null;
    const hint =
      line === null
        ? error.hint
        : `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
    // The locations may be on another sheet.
    const hints = [hint, rowFile.note].filter((words) => words != null).join(' ');
    const context = line === null ? error.context : { ...error.context, header_line: line };
    throw new PerilbookError('INPUT_COLUMNS', error.message, hints, context, error);
  }
}

function isHeader(fields: readonly string[], location: Job['location']): boolean {
  try {
    findLocationColumns(fields, location);
    return true;
  } catch (error) {
    if (error instanceof PerilbookError) return false;
    throw error;
  }
}
