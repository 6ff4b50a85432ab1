import { isCurrencyCode, isMarkOf } from '../../base/currencies.ts';
import { type Cell, cellOf, type Location } from '../../geo/coordinates.ts';
import { INSIDE_OUTLINE } from '../../geo/geometry-points.ts';
import { parseLenient, splitLenientPair } from '../../geo/lenient-location.ts';
import { noteOfText, type ParsedLocation, parseLocation } from '../../geo/parse-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Job } from '../../job/settings.ts';
import { directionOf } from '../../rows/location/location-columns.ts';
import { NO_LOCATION_NOTES } from '../../rows/no-locations.ts';
import type { Row } from '../../rows/port.ts';
import { parseCurrency, signedCurrency } from './currency.ts';
import { keptOfRow } from './kept-answers.ts';
import type { Layout, PairReading } from './layout.ts';
import { codeNumber } from './row-codes.ts';
import { type Codes, NO_CODES } from './row-groups.ts';
import type { RowFinding } from './row-places.ts';
import { currencyMark, FIRST_VALUE, MOST_AMOUNT, parseValue } from './value.ts';

/** Findings that lenient parsing may resolve. */
const OF_NOTATION = [
  'not_a_number',
  'degrees_minutes_seconds',
  'decimal_comma',
  'degree_symbol',
  'apostrophe',
];

/** How the location's columns are read. */
export type LocationLayout = Pick<Layout, 'pair'> & Partial<Pick<Layout, 'compass'>>;

export type LocateSettings = Pick<Job, 'precision' | 'coordinates'>;

/** The cell of a row, or what is wrong with its location. */
export type LocatedRow =
  | {
      readonly ok: true;
      readonly cell: Cell;
      readonly location: Location;
      /** Only lenient parsing could read it. */
      readonly isLenient: boolean;
      /** The location is a point inside an outline. */
      readonly isInside: boolean;
    }
  | {
      readonly ok: false;
      readonly finding: RowFinding;
      readonly note: string;
      /** Where the location would be, were its numbers swapped or their signs other. */
      readonly elsewhere?: Location;
    };

/** The cell of a row, or what is wrong with its location. */
export function locate(
  row: Row,
  { precision, coordinates }: LocateSettings,
  { pair, compass }: LocationLayout,
): LocatedRow {
  if (row.noLocation !== undefined)
    return { ok: false, finding: row.noLocation, note: NO_LOCATION_NOTES[row.noLocation] } as const;
  if (row.problem !== undefined) {
    const finding: RowFinding = row.isTooLong ? 'too_many_fields' : 'unreadable';
    return { ok: false, finding, note: row.problem } as const;
  }
  const [lat = '', lng = ''] = row.fields;
  const { parsed, isLenient, isInside } = pair
    ? readPair(lat, coordinates, pair)
    : readTexts(
        addSign(lat, row.fields, compass?.lat),
        addSign(lng, row.fields, compass?.lng),
        coordinates,
      );
  if (!parsed.ok) return parsed;
  const { location } = parsed;
  const cell = cellOf(location, precision);
  return { ok: true, cell, location, isLenient, isInside: isInside === true } as const;
}

/** A number with the sign of the compass letter that is in a column beside it. */
function addSign(
  text: string,
  fields: readonly string[],
  compass: number | null | undefined,
): string {
  if (compass == null || !/^\s*\d/.test(text)) return text;
  const direction = directionOf(fields[compass] ?? '');
  return direction === 'W' || direction === 'S' ? `-${text.trim()}` : text;
}

/** The place of a row as its file has it, also outside the US, null for none; and what is to be said of it. */
export function placeOfRow(
  row: Row,
  settings: LocateSettings,
  layout: LocationLayout,
): { readonly place: Location | null; readonly remark: string } {
  const located = locate(row, settings, layout);
  if (located.ok) {
    const remark = row.remark ?? (located.isInside ? INSIDE_OUTLINE : '');
    return { place: located.location, remark };
  }
  const isElsewhere = located.finding === 'outside_us' && 'elsewhere' in located;
  // What is not looked up has no remark on where it was.
  return { place: isElsewhere ? (located.elsewhere ?? null) : null, remark: '' };
}

/** A text that is no number, for a value in no known form. */
const NO_NUMBER = 'x';

interface ReadLocation {
  readonly parsed: ParsedLocation;
  readonly isLenient: boolean;
  /** The place is a point inside an outline. */
  readonly isInside?: boolean;
}

function readTexts(lat: string, lng: string, coordinates: Job['coordinates']): ReadLocation {
  const strict = parseLocation(lat, lng, isCovered);
  if (strict.ok || !OF_NOTATION.includes(strict.finding))
    return { parsed: strict, isLenient: false };
  return orLenient(strict, parseLenient(lat, lng, isCovered), coordinates);
}

function readPair(
  text: string,
  coordinates: Job['coordinates'],
  { given, assumed }: PairReading,
): ReadLocation {
  const place = placeInValue(text, given, assumed);
  if (typeof place === 'string') {
    return {
      parsed: { ok: false, finding: place, note: noteOfText(place, text) },
      isLenient: false,
    };
  }
  const strict = parseLocation(place?.lat ?? NO_NUMBER, place?.lng ?? NO_NUMBER, isCovered);
  if (strict.ok || !OF_NOTATION.includes(strict.finding)) {
    // Numbers whose form leaves the order open are read as the whole file decides: no one order would read those that differ.
    const isOfFormat =
      given === null && place !== null && place.order !== assumed && place.order === 'lng,lat';
    if (strict.ok || strict.finding !== 'swapped' || !isOfFormat)
      return { parsed: strict, isLenient: false, isInside: place?.isInside === true };
    return {
      parsed: { ...strict, note: `${strict.note} --location-order lat,lng would read it.` },
      isLenient: false,
    };
  }
  const halves = splitLenientPair(text, given ?? assumed);
  return orLenient(strict, halves && parseLenient(...halves, isCovered), coordinates);
}

/** In a strict job, the note suggests lenient parsing if it reads a place, also one outside the US. */
function orLenient(
  strict: Extract<ParsedLocation, { ok: false }>,
  lenient: ParsedLocation | null,
  coordinates: Job['coordinates'],
): ReadLocation {
  if (lenient === null) return { parsed: strict, isLenient: false };
  if (coordinates === 'lenient') return { parsed: lenient, isLenient: true };
  const isRead = lenient.ok || lenient.finding === 'outside_us';
  const note = isRead ? `${strict.note} ${LENIENT_SUGGESTION}` : strict.note;
  return { parsed: { ...strict, note }, isLenient: false };
}

const LENIENT_SUGGESTION = '--coordinates lenient would read it.';

/** The end of a note on a location that a job with an option can read, with the option. */
export const OPTION_SUGGESTION = / (--(?:coordinates|location-order) \S+) would read it\.$/;

/** The scan's result for one row, which depends on this row alone. */
export interface ScannedRow {
  readonly located:
    | { readonly ok: true; readonly cell: Cell; readonly isLenient: boolean }
    | {
        readonly ok: false;
        readonly finding: RowFinding;
        readonly note: string;
        readonly elsewhere?: Location;
      };
  readonly value: number;
  /** The value that loss rates apply to; NaN: none is known, or the job asks for no losses. */
  readonly lossValue: number;
  /** Why a value counts as 0; null where it counts. */
  readonly valueProblem: ValueProblem | null;
  /** The currency of the first sign at its amounts, where nothing else says their currency; null for none. */
  readonly signed: string | null;
  /** For each column of codes; then what the kept columns of an earlier run have (`KEPT`), where there are such. */
  readonly codes: Codes;
}

/** The first field of a row that counts as 0. A sum insured is not negative; a column that the job names may be. */
export interface ValueProblem {
  readonly finding:
    | 'value_not_a_number'
    | 'value_negative'
    | 'value_missing'
    | 'value_too_large'
    | 'value_in_other_currency'
    | 'formula_not_calculated';
  readonly column: string;
  readonly text: string;
}

const NO_VALUE = { value: 0, lossValue: Number.NaN, valueProblem: null, signed: null };
/** The columns are those of the layout. A column may be mostly blank, so rows share the problem. */
const MISSING: ValueProblem = { finding: 'value_missing', column: '', text: '' };

/** What the scan needs of a row: its place, its value and its codes of areas. */
export function scannedRow(row: Row, settings: LocateSettings, layout: Layout): ScannedRow {
  const located = locate(row, settings, layout);
  // Rows that are not looked up are in no sum of values. Written out: a spread takes half a microsecond a row.
  const { value, lossValue, valueProblem, signed } = located.ok ? rowValue(row, layout) : NO_VALUE;
  return { located, value, lossValue, valueProblem, signed, codes: rowCodes(row, layout) };
}

/** How many numbers a row has beside its place: its codes, and what the kept columns of an earlier run have (`KEPT`). */
export function codesWidth({ codes, keptAnswers }: Pick<Layout, 'codes' | 'keptAnswers'>): number {
  return codes.length + (keptAnswers === null ? 0 : 1);
}

function rowCodes({ fields }: Row, { codes, keptAnswers }: Layout): Codes {
  if (codes.length === 0 && keptAnswers === null) return NO_CODES;
  const ofLayers = codes.map(({ at, level }) => codeNumber(fields[at] ?? '', level));
  return keptAnswers === null ? ofLayers : [...ofLayers, keptOfRow(fields, keptAnswers).has];
}

/** The value of a row: the sum of its value columns. A text that is no number, a negative value, one that is too large and one in another
 * currency count as 0 and are reported; so is a row whose value columns are all blank. */
export function rowValue(
  row: Row,
  layout: Layout,
): Pick<ScannedRow, 'value' | 'lossValue' | 'valueProblem' | 'signed'> {
  let value = 0;
  let signed: string | null = null;
  let lossValue = Number.NaN;
  let valueProblem: ValueProblem | null = null;
  let hasValue = layout.values === 0;
  const decimal = decimalOf(row, layout);
  const ownCurrency = currencyOfRow(row, layout);
  for (let index = FIRST_VALUE; index < FIRST_VALUE + layout.values; index++) {
    const text = row.fields[index] ?? '';
    const isGiven = text !== '' && text.trim() !== '';
    hasValue ||= isGiven;
    const part = valueAt(row, index, decimal);
    const mark = currencyMark(text);
    if (ownCurrency === null) signed ??= signedCurrency(text, mark, part);
    const finding =
      problemOfNumber(part, mark, ownCurrency, layout) ??
      (part! < 0 && !layout.mayBeNegative
        ? 'value_negative'
        : row.formulas?.includes(layout.columns[index]!)
          ? 'formula_not_calculated'
          : null);
    if (finding === null) {
      value += part!;
      if (isGiven && layout.lossValues.includes(index))
        lossValue = Number.isNaN(lossValue) ? part! : lossValue + part!;
    } else valueProblem ??= { finding, column: layout.used.value[index - FIRST_VALUE]!, text };
  }
  const problem = hasValue ? valueProblem : (valueProblem ?? MISSING);
  return { value, lossValue, valueProblem: problem, signed };
}

/** Why the number in a field is not known; null where it is. @param own the currency of its row */
function problemOfNumber(
  part: number | null,
  mark: string,
  own: string | null,
  { amountCurrency }: Layout,
): ValueProblem['finding'] | null {
  if (part === null) return 'value_not_a_number';
  if (Math.abs(part) > MOST_AMOUNT) return 'value_too_large';
  if (mark === '' || isMarkOf(mark, own ?? amountCurrency.assumed ?? USUAL_CURRENCY)) return null;
  return 'value_in_other_currency';
}

/** That of amounts of which nothing says it. */
export const USUAL_CURRENCY = 'USD';

/** The currency of a row's amounts that its column, the job or a name says; null where only their signs can. */
function currencyOfRow({ fields }: Row, { currency, amountCurrency }: Layout): string | null {
  const own = currency === null ? '' : parseCurrency(fields[currency]);
  return isCurrencyCode(own) ? own : amountCurrency.given;
}

/** The number in a field. A number of a format with types has a point: dots in it are no groups of digits. */
function valueAt({ fields, types }: Row, at: number, decimal: 'point' | 'comma'): number | null {
  return parseValue(fields[at] ?? '', types?.[at] === 'number' ? 'point' : decimal);
}

/** The decimal separator of a row's texts of values: that of its coordinates, because the whole file is not known yet. */
function decimalOf({ fields }: Row, { pair }: Layout): 'point' | 'comma' {
  const lat = fields[0] ?? '';
  const lng = fields[1] ?? '';
  if (pair || !(lat.includes(',') || lng.includes(','))) return 'point';
  const both = `${lat} ${lng}`;
  return /\d,\d/.test(both) && !/\d\.\d/.test(both) ? 'comma' : 'point';
}

/** The value of a row; null if no value column has a number, because unknown is not zero. */
export function valueIfAny(row: Row, layout: Layout): number | null {
  const texts = row.fields.slice(FIRST_VALUE, FIRST_VALUE + layout.values);
  const decimal = decimalOf(row, layout);
  const ownCurrency = currencyOfRow(row, layout);
  const hasNumber = texts.some((text, at) => {
    const part = valueAt(row, FIRST_VALUE + at, decimal);
    const problem = problemOfNumber(part, currencyMark(text), ownCurrency, layout);
    return text.trim() !== '' && problem === null;
  });
  return hasNumber ? rowValue(row, layout).value : null;
}
