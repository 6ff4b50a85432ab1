import { addedColumns, knownColumns } from '../../columns/row.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { PerilbookError } from '../../errors.ts';
import { parseLenient, splitLenientPair, splitPair } from '../../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { findLocationColumns, type LocationColumns } from '../../rows/location-columns.ts';
import { findPerilbookColumns } from '../../rows/perilbook-columns.ts';
import type { AddedColumn, RowFile } from '../../rows/port.ts';
import type { Job } from '../settings/settings.ts';
import { type AreaColumns, findAreaColumns } from './area-columns.ts';
import { valueColumns } from './value.ts';

/** Where things stand in the input. */
export interface Layout {
  /** The columns that each pass reads: latitude, longitude, those whose sum is a row's value, those with area codes. */
  readonly columns: readonly number[];
  /** How many of them are values. */
  readonly values: number;
  readonly areas: AreaColumns;
  /** Latitude and longitude stand in one column, which is read twice. */
  readonly isPair: boolean;
  /** What the user should know of the columns: where there was a choice, which sheet is read. */
  readonly notes: readonly string[];
  /** The first of the columns that an earlier run of Perilbook added, or null. */
  readonly dropFrom: number | null;
  /** Those of them that stay as they are: of topics that are not asked now. */
  readonly kept: readonly KeptColumn[];
  /** Those that are written anew, and what each is. */
  readonly refreshed: readonly RefreshedColumn[];
  readonly used: UsedColumns;
}

export type KeptColumn = AddedColumn & { readonly keeps: number };

interface RefreshedColumn {
  readonly name: string;
  readonly index: number;
  /** Null for status, note and time. */
  readonly topic: TopicSlug | null;
}

/** The names of the columns that a job uses, as `--json` prints them; null where it uses none. */
interface UsedColumns {
  readonly lat: string;
  readonly lng: string;
  readonly tract: string | null;
  readonly county: string | null;
  readonly value: readonly string[];
}

/** Behind latitude and longitude, without which a row is nothing: one that is too short for its value counts as worth 0. */
export const FIRST_VALUE = 2;

/** Finds the columns. @throws INPUT_COLUMNS */
export function layoutOf(rowFile: RowFile, job: Job): Layout {
  const known = knownColumns(job.prefix);
  const dropFrom = findPerilbookColumns(rowFile.columns, known);
  const original = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  const { lat, lng, note } = locationColumns(rowFile, original, job);
  refuseLocationAsHeader([original[lat]!, original[lng]!], lat === lng, job.input);
  const taken = new Set(original.map((name) => name.toLowerCase()));
  const added = addedColumns(job.topics, job.prefix, job.counts);
  const clash = added.find(({ name }) => taken.has(name.toLowerCase()));
  if (clash) {
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `The input already has a column ${clash.name}`,
      'Give the new columns a prefix (--prefix), or rename that column.',
      { file: job.input, column: clash.name },
    );
  }
  const values = valueColumns(original, job.orderBy, job.input);
  const areas = findAreaColumns(original, job.areas, FIRST_VALUE + values.length, job.input);
  const nameOf = (index: number) => original[index] || String(index + 1);
  const nameAt = (position: AreaColumns['tract']) =>
    position === null
      ? null
      : [position]
          .flat()
          .map((one) => nameOf(areas.read[one - FIRST_VALUE - values.length]!))
          .join(',');
  return {
    columns: [lat, lng, ...values, ...areas.read],
    values: values.length,
    areas: areas.columns,
    isPair: lat === lng,
    notes: [note, rowFile.note].filter((words) => words != null),
    dropFrom,
    ...earlierColumns(rowFile.columns, dropFrom, job, known, new Set(added.map(({ name }) => name))),
    used: {
      lat: nameOf(lat),
      lng: nameOf(lng),
      tract: nameAt(areas.columns.tract),
      county: nameAt(areas.columns.county),
      value: values.map(nameOf),
    },
  };
}

/**
 * Columns that are named by number are found whatever the first line holds: without `--no-header` the first location would be
 * taken for names, and lost.
 * @throws INPUT_COLUMNS
 */
function refuseLocationAsHeader(names: readonly [string, string], isPair: boolean, file: string): void {
  const [text] = names;
  // However it is written: a strict job would have said so of this row.
  const found = (isPair ? [splitPair(text), splitLenientPair(text)] : [names]).find((one) => one && isLocation(...one));
  if (!found) return;
  throw new PerilbookError(
    'INPUT_COLUMNS',
    `The first line holds a location (${found.join(', ')}) where the names of the columns should be`,
    'Say that the file has no header: --no-header, or `header: false` in the job file.',
    { file },
  );
}

function isLocation(lat: string, lng: string): boolean {
  // The columns of a file without a header are called 1, 2, 3, …
  const isExact = [lat, lng].every((text) => /\d(?:\.\d|°)/.test(text));
  return [parseLocation(lat, lng, isCovered), parseLenient(lat, lng, isCovered)].some(
    (parsed) => parsed !== null && (parsed.ok || (isExact && ELSEWHERE.has(parsed.finding))),
  );
}

/** What is found in numbers that are a location, if not one of the US. */
const ELSEWHERE: ReadonlySet<LocationFinding> = new Set(['swapped', 'sign_lost', 'outside_us']);

/** What becomes of the columns of an earlier run. Those that count records are left out where the job says so. */
function earlierColumns(
  names: readonly string[],
  dropFrom: number | null,
  { topics }: Job,
  known: ReturnType<typeof knownColumns>,
  added: ReadonlySet<string>,
): Pick<Layout, 'kept' | 'refreshed'> {
  const earlier = dropFrom === null ? [] : names.slice(dropFrom).map((name, at) => ({ name, index: dropFrom + at }));
  const kept = earlier.flatMap(({ name, index }): KeptColumn[] => {
    const { type, topic } = known.get(name)!;
    return topic === null || topics.includes(topic) ? [] : [{ name, type, keeps: index }];
  });
  const refreshed = earlier.flatMap(({ name, index }) =>
    added.has(name) ? [{ name, index, topic: known.get(name)!.topic }] : [],
  );
  return { kept, refreshed };
}

function locationColumns(rowFile: RowFile, names: readonly string[], { location }: Job): LocationColumns {
  try {
    return findLocationColumns(names, location);
  } catch (error) {
    if (!(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS')) throw error;
    const line = rowFile.likelyHeader?.((fields) => isHeader(fields, location)) ?? null;
    const hint =
      line === null
        ? error.hint
        : `Line ${line} looks like the column names: --header-line ${line} (header_line: ${line} in the job file).`;
    // The locations may be in another sheet.
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
