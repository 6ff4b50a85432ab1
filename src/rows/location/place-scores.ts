import { distanceMeters, type Location } from '../../geo/coordinates.ts';
import { parseLenient, splitLenientPair } from '../../geo/lenient-location.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { placeInValue } from '../../geo/place-in-value.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { Row } from '../port.ts';
import type { PlaceColumns } from './location-names.ts';

/* Values decide: what the first rows have in the columns that may hold the location. */

/** What the rows of two columns, or of one with both, are: places in the US; places once their notation is changed (a lost sign, millionths,
 * exchanged columns); numbers of degrees elsewhere; anything else; nothing. */
type PlaceVerdict = 'us' | 'other_notation' | 'elsewhere' | 'no_place' | 'empty';

export interface PlaceScore {
  readonly verdict: PlaceVerdict;
  /** How many of the rows have something there. */
  readonly filled: number;
  /** The share of these that are places in the US. */
  readonly usShare: number;
  /** Three rows or more, all at one place. */
  readonly isConstant: boolean;
  /** Most of the filled rows have a longitude in the US without its sign. */
  readonly hasLostSigns: boolean;
  /** The place of each row, or null. */
  readonly places: readonly (Location | null)[];
}

/** Findings of values that mean a place once they are written otherwise. */
const OTHER_NOTATION: ReadonlySet<LocationFinding> = new Set<LocationFinding>([
  'swapped',
  'sign_lost',
  'east_of_180',
  'millionths',
  'ten_millionths',
  'degrees_minutes_seconds',
  'packed_degrees',
  'degree_symbol',
  'decimal_comma',
  'letter_o',
  'too_large',
  'other_system',
]);
const EMPTY: ReadonlySet<LocationFinding> = new Set<LocationFinding>(['empty', 'null_island']);

/** Judges the values of the first rows in some columns. */
export function scorePlaces(rows: readonly Row[], { lat, lng }: PlaceColumns): PlaceScore {
  const places: (Location | null)[] = [];
  const counts = { us: 0, other_notation: 0, elsewhere: 0, no_place: 0, empty: 0 };
  let lostSigns = 0;
  for (const { fields } of rows) {
    const [one, other] = [fields[lat] ?? '', fields[lng] ?? ''];
    const read = lat === lng ? readValue(one) : readTwo(one, other);
    if (read.finding === 'sign_lost') lostSigns++;
    counts[verdictOf(read)]++;
    places.push(read.finding === null ? read.location : null);
  }
  const filled = rows.length - counts.empty;
  const most = (...verdicts: (keyof typeof counts)[]) =>
    verdicts.reduce((sum, verdict) => sum + counts[verdict], 0) * 2 >= filled;
  const verdict: PlaceVerdict =
    filled === 0
      ? 'empty'
      : most('us')
        ? 'us'
        : most('us', 'other_notation')
          ? 'other_notation'
          : most('us', 'other_notation', 'elsewhere')
            ? 'elsewhere'
            : 'no_place';
  const [first, ...others] = places.filter((place) => place !== null);
  const isConstant =
    others.length >= 2 && others.every((place) => distanceMeters(place, first!) < SAME_METERS);
  const usShare = filled === 0 ? 0 : counts.us / filled;
  return { verdict, filled, usShare, isConstant, hasLostSigns: lostSigns * 2 > filled, places };
}

type ReadPlace =
  | { readonly finding: null; readonly location: Location }
  | { readonly finding: LocationFinding };

function verdictOf({ finding }: ReadPlace): PlaceVerdict {
  if (finding === null) return 'us';
  if (EMPTY.has(finding)) return 'empty';
  if (OTHER_NOTATION.has(finding)) return 'other_notation';
  return finding === 'outside_us' ? 'elsewhere' : 'no_place';
}

function readTwo(lat: string, lng: string): ReadPlace {
  const strict = parseLocation(lat, lng, isCovered);
  const lenient = strict.ok ? strict : parseLenient(lat, lng, isCovered);
  if (lenient?.ok) return { finding: null, location: lenient.location };
  return { finding: (strict.ok ? null : strict.finding)! };
}

/** A place in one value, in either order: the whole column decides which one it is. */
function readValue(text: string): ReadPlace {
  const place = placeInValue(text, null);
  if (typeof place === 'string') return { finding: place };
  const pairs = [place && ([place.lat, place.lng] as const), splitLenientPair(text)];
  let first: LocationFinding | null = null;
  for (const pair of pairs.filter((pair) => pair !== null)) {
    for (const [lat, lng] of [pair, [pair[1], pair[0]] as const]) {
      const read = readTwo(lat, lng);
      if (read.finding === null) return read;
      first ??= read.finding;
    }
  }
  // Whole numbers outside the US may be anything.
  if (first === 'outside_us' && !DECIMAL.test(text)) return { finding: 'not_a_number' };
  return { finding: first ?? 'not_a_number' };
}

const SAME_METERS = 1_000;
const AGREEING_SHARE = 0.95;

/** Whether two choices name the same places: within a kilometre in nearly all rows where both have one. */
export function agree(one: PlaceScore, other: PlaceScore): boolean {
  let [both, near] = [0, 0];
  for (const [row, place] of one.places.entries()) {
    const second = other.places[row];
    if (place === null || second == null) continue;
    both++;
    if (distanceMeters(place, second) < SAME_METERS) near++;
  }
  return both > 0 && near >= both * AGREEING_SHARE;
}

/** The latitudes and longitudes of the US, roughly, the territories too. */
const isLatitude = (degrees: number): boolean => degrees >= -15 && degrees <= 72;
const isLongitude = (degrees: number): boolean =>
  (degrees >= -180 && degrees <= -64) || (degrees >= 144 && degrees <= 180);

const NEARLY_ALL = 0.95;
/** Two decimals are a kilometre; whole numbers in two columns may be anything. */
const DECIMAL = /\d[.,]\d{2}/;
/** More columns of such numbers are a matrix, not a list. */
const MOST_COLUMNS = 60;

/** The columns whose values are places in the US in nearly all rows, whatever their names are. */
export function placesByValue(rows: readonly Row[], width: number): PlaceColumns[] {
  const all = Array.from({ length: width }, (_, index) => index);
  const numbersOf = (index: number) => {
    const texts = rows.map(({ fields }) => (fields[index] ?? '').trim()).filter(Boolean);
    // A column that is mostly blank is not that of the rows' places.
    if (texts.length * 2 < rows.length || texts.length === 0) return null;
    const decimals = texts.filter((text) => DECIMAL.test(text)).length;
    const numbers = texts.map((text) => Number(text.replace(',', '.')));
    return decimals * 2 > texts.length && numbers.filter(Number.isNaN).length * 2 < texts.length
      ? numbers
      : null;
  };
  const columns = all.map(numbersOf);
  const axis = (fits: (degrees: number) => boolean) =>
    all
      .filter((index) => {
        const numbers = columns[index];
        return numbers != null && numbers.filter(fits).length >= numbers.length * NEARLY_ALL;
      })
      .slice(0, MOST_COLUMNS);
  const longitudes = axis(isLongitude);
  const pairs = axis(isLatitude).flatMap((lat) => longitudes.map((lng) => ({ lat, lng })));
  const values = all.filter((index) => columns[index] === null).map((i) => ({ lat: i, lng: i }));
  return [...pairs, ...values].filter((place) => {
    // Most columns are neither: a few rows show it.
    if (scorePlaces(filledRows(rows, place.lat), place).usShare === 0) return false;
    const { usShare, filled } = scorePlaces(rows, place);
    return usShare >= NEARLY_ALL && filled * 2 >= rows.length;
  });
}

const ROWS_PROBED = 20;

function filledRows(rows: readonly Row[], column: number): Row[] {
  const filled: Row[] = [];
  for (const row of rows) {
    if ((row.fields[column] ?? '').trim() !== '') filled.push(row);
    if (filled.length === ROWS_PROBED) break;
  }
  return filled;
}
