import { PerilbookError } from '../../base/errors.ts';
import { parseLenient, splitLenientPair } from '../../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { RowSource } from '../port.ts';
import type { FileHead } from './file-head.ts';
import {
  isAxisName,
  mayHaveLocation,
  NAME_CLASSES,
  type PlaceCandidate,
  type PlaceColumns,
  plainName,
  proposeLocations,
} from './location-names.ts';
import {
  columnOptions,
  columnsError,
  columnsText,
  indexOfNamed,
  type NamedColumns,
  refuseTwins,
  shapesHint,
  shapesText,
} from './named-columns.ts';
import { agree, type PlaceScore, placesByValue, scorePlaces } from './place-scores.ts';

/** The columns of the location; of one column with both, `lat` and `lng` are equal. */
export interface LocationColumns extends PlaceColumns {
  /** The chosen columns and why the choice is uncertain; null if it is certain. */
  readonly note: string | null;
  /** The columns with N or S, and with E or W, of unsigned numbers. Left out where there are none. */
  readonly compass?: CompassColumns;
}

/** Columns of compass letters beside unsigned numbers; null for none. */
export interface CompassColumns {
  readonly lat: number | null;
  readonly lng: number | null;
}

/** What an opened file says of its columns beside its head. */
type SourceWords = Pick<RowSource, 'shapes' | 'note' | 'columnsHint' | 'likelyHeader'>;

/** Decides which columns are the location: names propose, the values of the first rows decide. Reads nothing.
 * @param names the columns without those of an earlier run
 * @param file its name in errors
 * @throws INPUT_COLUMNS where no columns hold a location, or where it is unclear which: with the options that name them */
export function decideLocation(
  head: FileHead,
  names: readonly string[],
  named: NamedColumns,
  source: SourceWords,
  file: string,
): LocationColumns {
  const given = namedLocation(names, named, source, head);
  if (given !== null) {
    refuseLocationAsHeader(names, given, file);
    return withCompass(head, names, { place: given, note: null });
  }
  const choice = choose(head, names, named);
  switch (choice.kind) {
    case 'chosen':
      refuseLocationAsHeader(names, choice.place, file);
      if (choice.isByName) refuseTwins(names, choice.place, named);
      return withCompass(head, names, choice);
    case 'unclear':
      for (const option of choice.options) refuseLocationAsHeader(names, option, file);
      throw unclear(names, choice);
    case 'projected': {
      const hint =
        'They look like metres or feet: convert them to degrees (EPSG:4326), or name two columns of degrees: --lat COLUMN --lng COLUMN.';
      const [lat, lng] = [names[choice.place.lat], names[choice.place.lng]];
      throw columnsError(`"${lat}" and "${lng}" hold no degrees`, names, { hint });
    }
    case 'none':
      throw withHint(missingError(names, named, source), source, names, named, head);
  }
}

/** The columns that the user names; null where some are left open. @throws INPUT_COLUMNS */
function namedLocation(
  names: readonly string[],
  named: NamedColumns,
  source: SourceWords,
  head: FileHead,
): PlaceColumns | null {
  const { shapes } = source;
  try {
    if (named.column !== undefined) {
      const both = indexOfNamed(names, named.column, 'location');
      if (shapes === undefined || shapes.column !== names[both]) return { lat: both, lng: both };
      const hint =
        'Name two columns of degrees: --lat COLUMN --lng COLUMN, or a column of points: --location COLUMN.';
      throw columnsError(shapesText(shapes), names, { column: named.column, hint });
    }
    const { lat, lng } = namedPair(names, named);
    if (lat === undefined || lng === undefined) return null;
    if (lat !== lng) return { lat, lng };
    throw columnsError(`Latitude and longitude are both column "${names[lat]}"`, names);
  } catch (error) {
    throw error instanceof PerilbookError ? withHint(error, source, names, named, head) : error;
  }
}

/** @throws INPUT_COLUMNS */
function namedPair(
  names: readonly string[],
  named: NamedColumns,
): { readonly lat: number | undefined; readonly lng: number | undefined } {
  return {
    lat: named.lat === undefined ? undefined : indexOfNamed(names, named.lat, 'latitude'),
    lng: named.lng === undefined ? undefined : indexOfNamed(names, named.lng, 'longitude'),
  };
}

type LocationChoice =
  | {
      readonly kind: 'chosen';
      readonly place: PlaceColumns;
      readonly note: string | null;
      /** False where the values alone show it. */
      readonly isByName: boolean;
    }
  | {
      readonly kind: 'unclear';
      /** What works, the best first. */
      readonly options: readonly PlaceColumns[];
      /** Columns with a better name that do not. */
      readonly skipped: PassedOver | null;
    }
  | { readonly kind: 'projected'; readonly place: PlaceColumns }
  | { readonly kind: 'none' };

/** Columns with a better name than those that were taken, and what is wrong with them. */
interface PassedOver {
  readonly place: PlaceColumns;
  readonly verdict: PlaceScore['verdict'];
}

interface ScoredPlace {
  readonly candidate: PlaceCandidate;
  readonly score: PlaceScore;
}

function choose(head: FileHead, names: readonly string[], named: NamedColumns): LocationChoice {
  const { lat, lng } = namedPair(names, named);
  const isOpen = lat === undefined && lng === undefined;
  const fits = (pair: PlaceColumns) =>
    isOpen ||
    (pair.lat !== pair.lng && (lat ?? pair.lat) === pair.lat && (lng ?? pair.lng) === pair.lng);
  const rows = head.rows.filter(({ isTooLong }) => isTooLong !== true);
  const scored = proposeLocations(names, fits).map(
    (candidate): ScoredPlace => ({ candidate, score: scorePlaces(rows, candidate) }),
  );
  const byName =
    rows.length === 0 ? firstByName(scored, names) : bestByValues(scored, names, rows.length);
  if (byName?.kind === 'chosen' && !isOpen) return { ...byName, note: null };
  if (byName !== null) return byName;
  if (!isOpen) {
    // The named column has an unusual name; the other may still have a usual one.
    const axis = lat === undefined ? 'lat' : 'lng';
    const other = names.findIndex(
      (name, i) => i !== lat && i !== lng && isAxisName(plainName(name), axis),
    );
    if (other < 0) return { kind: 'none' };
    return {
      kind: 'chosen',
      place: { lat: lat ?? other, lng: lng ?? other },
      note: null,
      isByName: true,
    };
  }
  // Its first line is an answer, not names.
  if (geocoderHint(names) !== null) return { kind: 'none' };
  const byValue = placesByValue(rows, names.length).map(
    (place): ScoredPlace => ({
      candidate: { ...place, nameClass: 'qualified' },
      score: scorePlaces(rows, place),
    }),
  );
  const found = bestByValues(byValue, names, rows.length);
  const [first] = scored.filter(({ candidate }) => candidate.lat !== candidate.lng);
  if (found?.kind === 'chosen') {
    const passed = first && { place: first.candidate, verdict: first.score.verdict };
    const note = passed
      ? passedNote(names, found.place, passed, rows.length)
      : (found.note ?? takenNote(names, found.place));
    return { ...found, isByName: false, note };
  }
  if (found !== null) return found;
  if (first === undefined) return { kind: 'none' };
  // Names of degrees without any: the rows say what is wrong with each.
  return first.candidate.nameClass === 'weak' && first.score.verdict === 'no_place'
    ? { kind: 'projected', place: first.candidate }
    : {
        kind: 'chosen',
        place: first.candidate,
        note: weakNote(names, first.candidate),
        isByName: true,
      };
}

/** The best names of a file without rows. */
function firstByName(
  scored: readonly ScoredPlace[],
  names: readonly string[],
): LocationChoice | null {
  const pairs = scored.map(({ candidate }) => candidate).filter(({ lat, lng }) => lat !== lng);
  const [first, ...others] = pairs;
  if (first === undefined) return null;
  const alike = others.filter(({ nameClass }) => nameClass === first.nameClass);
  return {
    kind: 'chosen',
    place: first,
    note: notedOthers(names, first, alike) ?? weakNote(names, first),
    isByName: true,
  };
}

const rank = ({ candidate }: ScoredPlace): number => NAME_CLASSES.indexOf(candidate.nameClass);
const isOther = ({ candidate }: ScoredPlace): boolean => candidate.nameClass === 'other_place';

/** The best of the candidates by their values; null where none has places.
 * @param scored the best names first */
function bestByValues(
  scored: readonly ScoredPlace[],
  names: readonly string[],
  rows: number,
): LocationChoice | null {
  const levels = ['us', 'other_notation', 'elsewhere'] as const;
  const level = levels.find((verdict) => scored.some(({ score }) => score.verdict === verdict));
  if (level === undefined) return null;
  const usable = scored.filter(({ score }) => score.verdict === level);
  const [named] = usable as [ScoredPlace, ...ScoredPlace[]];
  // One place in all rows is that of an office, beside places that differ.
  const varied = usable.find((place) => !place.score.isConstant && !isOther(place));
  const first = named.score.isConstant && varied !== undefined ? varied : named;
  // Two columns of numbers say the same with types.
  const isPair = ({ candidate: { lat, lng } }: ScoredPlace) => lat !== lng;
  const asPair = isPair(first)
    ? undefined
    : usable.find((place) => isPair(place) && agree(place.score, first.score));
  const best = asPair ?? first;
  const rivals = usable.filter((place) => place !== best && !agree(place.score, best.score));
  const serious = rivals.filter((rival) => {
    if (rival.score.isConstant && !best.score.isConstant) return false;
    const isFuller = rival.score.filled >= best.score.filled * 2;
    if (rank(rival) === rank(best)) return rival.score.filled * 2 >= best.score.filled;
    return isFuller && !isOther(rival);
  });
  const skipped = scored.find(
    (place) =>
      rank(place) < rank(first) && !usable.includes(place) && place.candidate.nameClass !== 'weak',
  );
  const passed: PassedOver | null =
    skipped === undefined ? null : { place: skipped.candidate, verdict: skipped.score.verdict };
  if (serious.length > 0)
    return { kind: 'unclear', options: [best, ...serious].map(placeOf), skipped: null };
  // A better name with places elsewhere, or without any where the words speak of another place: which one is meant?
  if (passed !== null && (passed.verdict === 'elsewhere' || isOther(best))) {
    const options =
      passed.verdict === 'elsewhere' ? [placeOf(best), passed.place] : [placeOf(best)];
    return { kind: 'unclear', options, skipped: passed };
  }
  const note =
    passed === null
      ? (notedOthers(names, placeOf(best), rivals.map(placeOf)) ?? weakNote(names, best.candidate))
      : passedNote(names, placeOf(best), passed, rows);
  return { kind: 'chosen', place: placeOf(best), note, isByName: true };
}

const placeOf = ({ candidate: { lat, lng } }: ScoredPlace): PlaceColumns => ({ lat, lng });

const roleOf = (place: PlaceColumns): string =>
  place.lat === place.lng ? 'the location' : 'latitude and longitude';

function takenNote(names: readonly string[], place: PlaceColumns): string {
  return place.lat === place.lng
    ? `Column "${names[place.lat]}" was taken as the location.`
    : `${columnsText(names, place)} were taken as ${roleOf(place)}.`;
}

/** Certain are the names of coordinates alone. */
function weakNote(
  names: readonly string[],
  { nameClass, ...place }: PlaceCandidate,
): string | null {
  const isCertain = place.lat !== place.lng && nameClass !== 'weak' && nameClass !== 'other_place';
  return isCertain ? null : takenNote(names, place);
}

function notedOthers(
  names: readonly string[],
  chosen: PlaceColumns,
  others: readonly PlaceColumns[],
): string | null {
  if (others.length === 0) return null;
  const listed = others.map((place) => columnsText(names, place)).join(', ');
  return `Several columns look like locations: ${columnsText(names, chosen)} were taken, not ${listed}.`;
}

function passedNote(
  names: readonly string[],
  chosen: PlaceColumns,
  { place, verdict }: PassedOver,
  rows: number,
): string {
  return `${columnsText(names, place)} ${PASSED[verdict](rows)}: ${columnsText(names, chosen)} ${chosen.lat === chosen.lng ? 'was' : 'were'} taken as ${roleOf(chosen)}.`;
}

/** What is wrong with columns that were passed over. */
const PASSED: Readonly<Record<PlaceScore['verdict'], (rows: number) => string>> = {
  us: () => 'lie in the US',
  other_notation: () => 'are in another notation',
  elsewhere: () => 'lie outside the US',
  no_place: () => 'hold no degrees',
  empty: (rows) => `have nothing in the first ${rows === 1 ? 'row' : `${rows} rows`}`,
};

const MOST_OPTIONS = 4;

function unclear(
  names: readonly string[],
  { options, skipped }: Extract<LocationChoice, { kind: 'unclear' }>,
): PerilbookError {
  const ways = options.slice(0, MOST_OPTIONS).map((place) => columnOptions(names, place));
  const shown = options.slice(0, MOST_OPTIONS).map((place) => columnsText(names, place));
  if (skipped !== null) {
    const message = `${columnsText(names, skipped.place)} ${PASSED[skipped.verdict](1).replace(' in the first row', '')}`;
    const hint = `If another location is meant, name it: ${ways.join(', or ')}.`;
    return columnsError(`${message}; ${shown[0]} lie in the US`, names, { hint });
  }
  const message = `Which columns are the location is unclear: ${shown.join(', or ')} hold different places`;
  return columnsError(message, names, { hint: `Name one: ${ways.join(', or ')}.` });
}

/** A word for a direction, by its first letter; O is West in some languages and East in others. */
const DIRECTION = /^\s*(?:([NSEW])|(north|south|east|west)(?:ern)?)\.?\s*$/i;

/** Adds the columns of compass letters where the longitudes have no sign, so that the places lie in the US only with them. */
function withCompass(
  { rows }: FileHead,
  names: readonly string[],
  { place, note }: { readonly place: PlaceColumns; readonly note: string | null },
): LocationColumns {
  const { lat, lng } = place;
  if (lat === lng || !scorePlaces(rows, place).hasLostSigns) return { lat, lng, note };
  const compassOf = (axis: 'lat' | 'lng'): number | null => {
    const letters = axis === 'lat' ? 'NS' : 'EW';
    const fitting = [...names.keys()].filter((index) => {
      const texts = rows.map(({ fields }) => fields[index] ?? '').filter((text) => text.trim());
      return texts.length > 0 && texts.every((text) => letters.includes(directionOf(text) ?? '?'));
    });
    return fitting.sort((a, b) => Math.abs(a - place[axis]) - Math.abs(b - place[axis]))[0] ?? null;
  };
  const compass = { lat: compassOf('lat'), lng: compassOf('lng') };
  if (compass.lng === null) return { lat, lng, note };
  const told = `Column "${names[compass.lng]}" says East or West of "${names[place.lng]}".`;
  return { lat, lng, compass, note: [note, told].filter(Boolean).join(' ') };
}

/** The compass letter of a word, in capitals; null for another text. */
export function directionOf(text: string): string | null {
  const [, letter, word] = DIRECTION.exec(text) ?? [];
  return (letter ?? word)?.charAt(0).toUpperCase() ?? null;
}

function missingError(
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
function withHint(
  error: PerilbookError,
  source: SourceWords,
  names: readonly string[],
  named: NamedColumns,
  { rows }: FileHead,
): PerilbookError {
  const likely = (isLikely: (fields: readonly string[]) => boolean) =>
    source.likelyHeader?.(isLikely) ?? null;
  const isHeader = (fields: readonly string[]) => mayBeHeader(fields, named);
  const line = likely(isHeader) ?? (names.filter(Boolean).length > 1 ? null : likely(areNames));
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
