import { PerilbookError } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-words.ts';
import { parseLenient, splitLenientPair } from '../../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { RowSource } from '../port.ts';
import type { FileHead } from './file-head.ts';
import { isAxisName, mayHaveLocation, type PlaceColumns, plainName } from './location-names.ts';
import { columnsError, type NamedColumns, namedPair, shapesHint } from './named-columns.ts';

/** What an opened file says of its columns beside its head. */
export type SourceWords = Pick<RowSource, 'shapes' | 'note' | 'columnsHint' | 'likelyHeader'>;

/** Says which of latitude and longitude has no column. */
export function missingError(
  names: readonly string[],
  named: NamedColumns,
  { shapes }: SourceWords,
): PerilbookError {
  const { lat, lng } = namedPair(names, named);
  const plain = names.map(plainName);
  const hasLat = lat !== undefined || plain.some((name, i) => i !== lng && isAxisName(name, 'lat'));
  const hasLng = lng !== undefined || plain.some((name, i) => i !== lat && isAxisName(name, 'lng'));
  const missing = hasLat === hasLng ? 'latitude and longitude' : hasLat ? 'longitude' : 'latitude';
  return columnsError(
    `No ${missing} column was found`,
    names,
    shapes === undefined ? {} : { hint: shapesHint(shapes) },
  );
}

/** The error with what to do: another header line, else what the values show, else what the file says of itself. */
export function withHint(
  error: PerilbookError,
  source: SourceWords,
  names: readonly string[],
  named: NamedColumns,
  { rows }: FileHead,
): PerilbookError {
  const likely = (isLikely: (fields: readonly string[]) => boolean) =>
    source.likelyHeader?.(isLikely) ?? null;
  const isHeader = (fields: readonly string[]) => mayBeHeader(fields, named);
  // What the file says of itself is surer than a line without numbers.
  const isTitle = names.filter(Boolean).length <= 1 && source.columnsHint == null;
  const line = likely(isHeader) ?? (isTitle ? likely(areNames) : null);
  const isNamed = Object.keys(named).some((part) => part !== 'order');
  const ofValues = isNamed
    ? null
    : (geocoderHint(names) ?? firstLineHint(names) ?? numbersHint(names, rows[0]?.fields ?? []));
  // Without another header line, the locations may be on another sheet. A note on the header that was read is not of the suggested one.
  const hints =
    line === null
      ? [ofValues ?? source.columnsHint ?? error.hint, source.note]
          .filter((words) => words != null)
          .join(' ')
      : `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
  const context = line === null ? error.context : { ...error.context, header_line: line };
  return new PerilbookError('INPUT_COLUMNS', error.message, hints, context, error);
}

/** The error with the sheets of the workbook that have a location; as it is where there are none, or where another header line was found. */
export async function withSheets(
  error: unknown,
  names: readonly string[],
  { likelySheets }: Pick<RowSource, 'likelySheets'>,
  named: NamedColumns,
): Promise<unknown> {
  if (!(error instanceof PerilbookError) || likelySheets === undefined) return error;
  if (error.code !== 'INPUT_COLUMNS' || error.context.header_line !== undefined) return error;
  // The sheet that is read has a location, and lacks something else.
  if (mayBeHeader(names, named)) return error;
  const sheets = await likelySheets((fields) => mayBeHeader(fields, named));
  const [first] = sheets;
  if (first === undefined) return error;
  const listed = sheets.map((name) => JSON.stringify(name)).join(', ');
  const have = sheets.length === 1 ? 'has columns' : 'have columns';
  const hint = `${listed} ${have} that look like a location: add --sheet ${shellWord(first)} (sheet: ${JSON.stringify(first)} in the job file).`;
  return new PerilbookError(error.code, error.message, hint, error.context, error);
}

/** Whether the fields of a line may be the names of columns, with the location or with those that the user names. */
function mayBeHeader(fields: readonly string[], named: NamedColumns): boolean {
  const asked = [named.column, named.lat, named.lng].filter((name) => name !== undefined);
  if (asked.length === 0) return mayHaveLocation(fields);
  const plain = fields.map((field) => field.trim().toLowerCase());
  return asked.every((name) => plain.includes(name.trim().toLowerCase()));
}

/** A file without a header, whose first line has a place in one value. */
function firstLineHint(names: readonly string[]): string | null {
  const place = names
    .slice(0, MOST_COLUMNS)
    .findIndex((name) => pairsIn(name).some((pair) => isLocation(...pair)));
  if (place < 0) return null;
  return `The first line looks like data: --no-header --location ${place + 1}.`;
}

/** The latitude and the longitude of a value, strictly and leniently read. */
function pairsIn(text: string): (readonly [lat: string, lng: string])[] {
  const place = placeInValue(text, null);
  const strict =
    typeof place === 'object' && place !== null ? ([place.lat, place.lng] as const) : null;
  return [strict, splitLenientPair(text)].filter((pair) => pair !== null);
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

/** The hint for what the Census Bureau's batch geocoder returns; null for other files. */
export function geocoderHint(names: readonly string[]): string | null {
  if (!/^(?:Match|No_Match|Tie)$/.test(names[2] ?? '')) return null;
  return 'This is a result of the geocoder of the Census Bureau: add --no-header --location 6 (docs/analyst/addresses.md).';
}

/** Whether a line below a title may be the names of columns, though not those of a location. */
function areNames(fields: readonly string[]): boolean {
  return fields.filter(Boolean).length > 1 && !fields.some((text) => /^[+-]?[\d.,]+$/.test(text));
}

/** A file without a header, read without `--no-header`, would lose its first location as column names. @throws INPUT_COLUMNS */
export function refuseLocationAsHeader(
  names: readonly string[],
  { lat, lng }: PlaceColumns,
  file: string,
): void {
  const pairs = lat === lng ? pairsIn(names[lat]!) : [[names[lat]!, names[lng]!] as const];
  // In lenient notation too: a strict job would report this row.
  const location = pairs.find((candidate) => isLocation(...candidate));
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
