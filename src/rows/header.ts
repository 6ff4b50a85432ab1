import { PerilbookError } from '../base/errors.ts';
import { parseLenient, splitLenientPair, splitPair } from '../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../geo/parse-location.ts';
import { isCovered } from '../geo/us-coverage.ts';
import { findPerilbookColumns } from './kept-columns.ts';
import { findLocationColumns, type LocationColumns, type NamedColumns } from './location-columns.ts';
import type { RowSource } from './port.ts';

/** Reads the names of the columns: those of the location, `names` without the columns that an earlier run of Perilbook added, and `dropFrom`,
 * the first of these or null.
 * @param own holds every name that Perilbook can write, with the prefix of the job
 * @param file the file's name in errors
 * @throws INPUT_COLUMNS where the columns of the location are not found, or the first line is not names */
export function readHeader(
  rowFile: RowSource,
  location: NamedColumns,
  own: { has(name: string): boolean },
  file: string,
) {
  const dropFrom = findPerilbookColumns(rowFile.columns, own);
  const names = dropFrom === null ? rowFile.columns : rowFile.columns.slice(0, dropFrom);
  const columns = locationColumns(rowFile, names, location);
  refuseLocationAsHeader([names[columns.lat]!, names[columns.lng]!], columns.lat === columns.lng, file);
  return { ...columns, names, dropFrom };
}

function locationColumns(rowFile: RowSource, names: readonly string[], location: NamedColumns): LocationColumns {
  try {
    return findLocationColumns(names, location, rowFile.shapes);
  } catch (error) {
    if (!(error instanceof PerilbookError)) throw error;
    const likely = (isLikely: (fields: readonly string[]) => boolean) => rowFile.likelyHeader?.(isLikely) ?? null;
    const line =
      likely((fields) => isHeader(fields, location)) ?? (names.filter(Boolean).length > 1 ? null : likely(areNames));
    const hint =
      line === null
        ? (rowFile.columnsHint ?? error.hint)
        : `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
    // The locations may be on another sheet.
    const hints = [hint, rowFile.note].filter((words) => words != null).join(' ');
    const context = line === null ? error.context : { ...error.context, header_line: line };
    throw new PerilbookError('INPUT_COLUMNS', error.message, hints, context, error);
  }
}

function isHeader(fields: readonly string[], location: NamedColumns): boolean {
  try {
    findLocationColumns(fields, location);
    return true;
  } catch (error) {
    if (error instanceof PerilbookError) return false;
    throw error;
  }
}

/** Whether a line below a title may be the names of columns, though not those of a location. */
function areNames(fields: readonly string[]): boolean {
  return fields.filter(Boolean).length > 1 && !fields.some((text) => /^[+-]?[\d.,]+$/.test(text));
}

/** A file without a header, read without `--no-header`, would lose its first location as column names. @throws INPUT_COLUMNS */
function refuseLocationAsHeader(names: readonly [string, string], isPair: boolean, file: string): void {
  const [text] = names;
  // In lenient notation too: a strict job would report this row.
  const location = (isPair ? [splitPair(text), splitLenientPair(text)] : [names]).find(
    (candidate) => candidate && isLocation(...candidate),
  );
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
