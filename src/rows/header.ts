import { PerilbookError } from '../base/errors.ts';
import { shellWord } from '../base/shell-words.ts';
import { parseLenient, splitLenientPair } from '../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../geo/parse-location.ts';
import { placeInValue } from '../geo/place-in-value.ts';
import { isCovered } from '../geo/us-coverage.ts';
import { findPerilbookColumns } from './kept-columns.ts';
import {
  findLocationColumns,
  isPlaceName,
  type LocationColumns,
  mayHaveLocation,
  type NamedColumns,
} from './location-columns.ts';
import type { Row, RowSource } from './port.ts';

/** Reads the names of the columns: those of the location, `names` without the columns that an earlier run of Perilbook added, and `dropFrom`,
 * the first of these or null.
 * @param own holds every name that Perilbook can write, with the prefix of the job
 * @param file the file's name in errors
 * @throws INPUT_COLUMNS where the columns of the location are not found, or the first line is not names */
export async function readHeader(
  rowFile: RowSource,
  location: NamedColumns,
  own: { has(name: string): boolean },
  file: string,
) {
  const dropFrom = findPerilbookColumns(rowFile.columns, own);
  const names = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  const columns = await placeColumns(rowFile, names, location);
  refuseLocationAsHeader(
    [names[columns.lat]!, names[columns.lng]!],
    columns.lat === columns.lng,
    file,
  );
  return { ...columns, names, dropFrom };
}

/** The rows whose values decide where the names do not. */
const ROWS_SAMPLED = 50;

/** Finds the columns of the location by their names, else by the values of the first rows. @throws INPUT_COLUMNS */
export async function placeColumns(
  rowFile: RowSource,
  names: readonly string[],
  location: NamedColumns,
) {
  try {
    const found = findLocationColumns(names, location, rowFile.shapes);
    if (found.isWeak !== true) return found;
    const rows = await firstRows(rowFile, [...names.keys()], ROWS_SAMPLED);
    const mayBe = ({ lat, lng }: Pick<LocationColumns, 'lat' | 'lng'>) =>
      rows.length === 0 || rows.some(({ fields }) => mayBeDegrees(fields[lat]!, fields[lng]!));
    return findLocationColumns(names, location, rowFile.shapes, mayBe);
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const isNamed = Object.keys(location).some((part) => part !== 'order');
    const rows = isNamed ? [] : await firstRows(rowFile, [...names.keys()], ROWS_SAMPLED);
    const places = columnsOfPlaces(rows, names);
    const place = places.find((index) => isPlaceName(names[index]!));
    if (place !== undefined) {
      return {
        lat: place,
        lng: place,
        note: `Column "${names[place]}" was taken as the location.`,
      };
    }
    const ofValues =
      geocoderHint(names) ??
      placeHint(names, places[0]) ??
      numbersHint(names, rows[0]?.fields ?? []);
    throw withHint(error, rowFile, names, location, ofValues);
  }
}

/** The columns that have a place in the US in most of the first rows that have a value there. */
function columnsOfPlaces(rows: readonly Row[], names: readonly string[]): number[] {
  const isUs = (text: string) =>
    pairsIn(text).some(([lat, lng]) => {
      const parsed = parseLenient(lat, lng, isCovered);
      return parsed !== null && (parsed.ok || parsed.finding === 'swapped');
    });
  return [...names.keys()].filter((index) => {
    const texts = rows.map(({ fields }) => fields[index]!.trim()).filter(Boolean);
    return texts.length > 0 && texts.filter(isUs).length * 2 > texts.length;
  });
}

/** The latitude and the longitude of a value, strictly and leniently read. */
function pairsIn(text: string): (readonly [lat: string, lng: string])[] {
  const place = placeInValue(text, null);
  const strict =
    typeof place === 'object' && place !== null ? ([place.lat, place.lng] as const) : null;
  return [strict, splitLenientPair(text)].filter((pair) => pair !== null);
}

/** Whether two texts may be degrees: metres and feet are beyond them, and other texts say nothing. */
function mayBeDegrees(lat: string, lng: string): boolean {
  const parsed = parseLocation(lat, lng, isCovered);
  return (
    parsed.ok ||
    parsed.finding !== 'out_of_range' ||
    (Math.abs(Number(lat)) <= 90 && Math.abs(Number(lng)) <= 360)
  );
}

function withHint(
  error: PerilbookError,
  rowFile: RowSource,
  names: readonly string[],
  location: NamedColumns,
  ofValues: string | null,
): PerilbookError {
  const likely = (isLikely: (fields: readonly string[]) => boolean) =>
    rowFile.likelyHeader?.(isLikely) ?? null;
  const line =
    likely((fields) => mayHaveLocation(fields, location)) ??
    (names.filter(Boolean).length > 1 ? null : likely(areNames));
  // Without another header line, the locations may be on another sheet. A note on the header that was read is not of the suggested one.
  const hints =
    line === null
      ? [ofValues ?? rowFile.columnsHint ?? error.hint, rowFile.note]
          .filter((words) => words != null)
          .join(' ')
      : `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
  const context = line === null ? error.context : { ...error.context, header_line: line };
  return new PerilbookError('INPUT_COLUMNS', error.message, hints, context, error);
}

function placeHint(names: readonly string[], place: number | undefined): string | null {
  if (place === undefined) return null;
  const name = names[place]!;
  if (pairsIn(name).length > 0)
    return `The first line looks like data: --no-header --location ${place + 1}.`;
  const isUnique = name !== '' && names.indexOf(name) === names.lastIndexOf(name);
  return `Column "${name}" holds both: --location ${shellWord(isUnique ? name : String(place + 1))}.`;
}

/** The numbers of two columns, where the first line has a location in place of names, or is known to be none. */
function numbersHint(names: readonly string[], first: readonly string[]): string | null {
  const isNumbered = names.every((name, index) => name === String(index + 1));
  const texts = (isNumbered ? first : names).slice(0, MOST_COLUMNS);
  const isPair = (lat: string, lng: string) =>
    /\d\.\d/.test(lat) && parseLocation(lat, lng, isCovered).ok;
  for (const [lat, text] of texts.entries()) {
    const lng = texts.findIndex((other) => isPair(text, other));
    if (lng < 0) continue;
    return `The first line looks like data: ${isNumbered ? '' : '--no-header '}--lat ${lat + 1} --lng ${lng + 1}.`;
  }
  return null;
}

const MOST_COLUMNS = 100;

/** What the Census Bureau's batch geocoder returns. */
function geocoderHint(names: readonly string[]): string | null {
  if (!/^(?:Match|No_Match|Tie)$/.test(names[2] ?? '')) return null;
  return 'This is a result of the geocoder of the Census Bureau: add --no-header --location 6 (docs/analyst/addresses.md).';
}

/** Whether a line below a title may be the names of columns, though not those of a location. */
function areNames(fields: readonly string[]): boolean {
  return fields.filter(Boolean).length > 1 && !fields.some((text) => /^[+-]?[\d.,]+$/.test(text));
}

/** A file without a header, read without `--no-header`, would lose its first location as column names. @throws INPUT_COLUMNS */
function refuseLocationAsHeader(
  names: readonly [string, string],
  isPair: boolean,
  file: string,
): void {
  const [text] = names;
  // In lenient notation too: a strict job would report this row.
  const location = (isPair ? pairsIn(text) : [names]).find((candidate) => isLocation(...candidate));
  if (!location) return;
  const message = `The first line is a location (${location.join(', ')}), not column names`;
  const hint = 'If the file has no header line, add --no-header, or header: false in the job file.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file });
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

/** The first rows of a file, with the fields of some columns in that order. Reads no more than a batch. */
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
