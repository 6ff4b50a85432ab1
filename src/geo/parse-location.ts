import { isDecimalNumber, LONGEST_NUMBER } from '../base/decimal-number.ts';
import { isNothing } from '../base/no-value.ts';
import type { Location } from './coordinates.ts';
import { OUTLINE_PROBLEMS } from './geometry-points.ts';
import { COAST_MARGIN_METERS, kmOffCoast } from './us-coverage.ts';

/** The sentence of each finding in `hazard_note`. */
export const LOCATION_NOTES = {
  empty: 'Latitude or longitude is missing.',
  not_a_number: 'Latitude or longitude is not a number.',
  degrees_minutes_seconds:
    'Latitude or longitude is in degrees, minutes and seconds: decimal degrees are needed.',
  decimal_comma: 'Latitude or longitude has a decimal comma: a decimal point is needed.',
  degree_symbol:
    'Latitude or longitude has a degree sign or a compass letter: a plain signed number is needed.',
  apostrophe:
    'An apostrophe stands before the latitude or longitude, as spreadsheets mark texts: remove it.',
  letter_o:
    'The compass letter O is West in some languages and East in others: write W or E, or a minus for West.',
  not_a_point:
    'The geometry is not one point: give its centroid in two columns of degrees (--lat, --lng).',
  too_large: OUTLINE_PROBLEMS.too_large,
  area_code:
    'The place is a code of an area (geohash, plus code, MGRS, UTM, H3, three words): convert it to latitude and longitude in degrees.',
  other_system: OUTLINE_PROBLEMS.other_system,
  out_of_range:
    'Latitude is beyond 90 or longitude beyond 180 degrees. If they are projected coordinates (metres, feet), convert them to degrees.',
  east_of_180: 'The longitude counts from 0 to 360: subtract 360 from those above 180.',
  millionths: 'Latitude and longitude are in millionths of a degree: divide them by 1,000,000.',
  ten_millionths:
    'Latitude and longitude are in ten millionths of a degree: divide them by 10,000,000.',
  packed_degrees:
    'Latitude and longitude are degrees, minutes and hundredths of seconds in one number (DDMMSSss), as in the National Bridge Inventory: convert them to decimal degrees, negative in the West.',
  null_island: 'Latitude and longitude are both 0, which stands for a missing place.',
  swapped: 'Latitude and longitude seem exchanged: the other way round the place is in the US.',
  sign_lost: 'The sign of the longitude seems lost: with the other sign the place is in the US.',
  outside_us: 'The place is outside the US.',
} as const;

/** Why the two texts of a row are not a usable location. The codes are stable. */
export type LocationFinding = keyof typeof LOCATION_NOTES;

export type ParsedLocation =
  | { readonly ok: true; readonly location: Location }
  | {
      readonly ok: false;
      readonly finding: LocationFinding;
      readonly note: string;
      /** Set for `outside_us` and `sign_lost`. */
      readonly elsewhere?: Location;
    };

const DECIMAL_COMMA = /^[+-]?\d{1,3},\d+$/;
/** The degree sign, and what a wrong encoding makes of it (U+FFFD, masculine ordinal). */
const DEGREE_SIGN = '(?:°|º|˚|\\ufffd|deg\\.?)';
const DECORATED = new RegExp(`^[NSEW]?\\s*[+-]?[\\d.]+\\s*${DEGREE_SIGN}?\\s*[NSEW]?$`, 'i');
const SEXAGESIMAL = new RegExp(
  `^[NSEW]?\\s*[+-]?\\d{1,3}\\s*(?:${DEGREE_SIGN}|[d:\\s-])\\s*\\d{1,2}(?:\\.\\d+)?\\s*(?:['’′m:\\s-]\\s*(?:\\d{1,2}(?:\\.\\d+)?\\s*(?:["”″s]|'')?)?)?\\s*[NSEW]?$`,
  'i',
);

/** Reads the two texts of a row. Nothing is ever corrected: a guessed place would be bought and reported as the row's own. */
export function parseLocation(
  latText: string,
  lngText: string,
  isUs: (location: Location) => boolean,
): ParsedLocation {
  const lat = readNumber(latText.trim());
  const lng = readNumber(lngText.trim());
  // The longitude's letter is the rarer cause, and the other readings of the row end with it.
  if (typeof lat === 'string') return unread(lng === 'letter_o' ? lng : lat, latText);
  if (typeof lng === 'string') return unread(lng, lngText);
  return checkLocation({ lat, lng }, isUs);
}

/** Checks a place before anything is bought for it. */
export function checkLocation(
  location: Location,
  isUs: (location: Location) => boolean,
): ParsedLocation {
  const { lat, lng } = location;
  if (lat === 0 && lng === 0) return unlocated('null_island');
  const inRange = isOnEarth(location);
  if (inRange && isUs(location)) return { ok: true, location };
  const exchanged = { lat: lng, lng: lat };
  if (isOnEarth(exchanged) && isUs(exchanged)) return unlocated('swapped');
  if (!inRange) return unlocated(otherUnit(location, isUs));
  if (isUs({ lat, lng: -lng })) return { ...unlocated('sign_lost'), elsewhere: location };
  const km = kmOffCoast(location);
  const note = km === null ? {} : { note: offCoastNote(km) };
  return { ...unlocated('outside_us'), ...note, elsewhere: location };
}

/** Where it is a matter of distance, the row says so: a wind farm 26 km out is a US place to its owner. */
const offCoastNote = (km: number): string =>
  `The place is outside the US: ${km} km off its coast, and up to ${COAST_MARGIN_METERS / 1_000} km count.`;

/** What numbers are that are no degrees, if they then mean a place in the US. Projected metres and feet are smaller than millionths. */
function otherUnit({ lat, lng }: Location, isUs: (location: Location) => boolean): LocationFinding {
  const isPlace = (location: Location) => isOnEarth(location) && isUs(location);
  if (isPlace({ lat, lng: lng - 360 })) return 'east_of_180';
  if (isPlace({ lat: lat / 1e6, lng: lng / 1e6 })) return 'millionths';
  if (isPlace({ lat: lat / 1e7, lng: lng / 1e7 })) return 'ten_millionths';
  const packed = { lat: packedDegrees(lat), lng: packedDegrees(lng) };
  if (packed.lat === null || packed.lng === null) return 'out_of_range';
  const [north, west] = [packed.lat, -Math.abs(packed.lng)];
  return isPlace({ lat: north, lng: west }) ? 'packed_degrees' : 'out_of_range';
}

/** The degrees of DDMMSSss: 25462748 is 25 degrees, 46 minutes, 27.48 seconds; null for others. Projected metres and feet are smaller. */
function packedDegrees(number: number): number | null {
  const size = Math.abs(number);
  const [degrees, minutes, seconds] = [
    Math.floor(size / 1e6),
    Math.floor(size / 1e4) % 100,
    (size / 100) % 100,
  ];
  return degrees >= 13 && degrees <= 180 && minutes < 60 && seconds < 60
    ? Math.sign(number) * (degrees + minutes / 60 + seconds / 3_600)
    : null;
}

function readNumber(text: string): number | LocationFinding {
  if (isDecimalNumber(text)) return Number(text);
  if (isNothing(text)) return 'empty';
  if (text.length > LONGEST_NUMBER) return 'not_a_number';
  if (DECIMAL_COMMA.test(text)) return 'decimal_comma';
  if (/^['’]\s*[+-]?[\d.]/.test(text)) return 'apostrophe';
  const compass = text.replace(/(?<=\d[°º˚'"’′”″\s]*)O$|^O(?=\s*\d)/i, 'W');
  if (
    compass !== text &&
    typeof readNumber(compass) === 'string' &&
    readNumber(compass) !== 'not_a_number'
  )
    return 'letter_o';
  if (DECORATED.test(text) && /\d/.test(text) && !/\..*\./.test(text)) return 'degree_symbol';
  return SEXAGESIMAL.test(text) ? 'degrees_minutes_seconds' : 'not_a_number';
}

function unread(finding: LocationFinding, text: string) {
  return { ok: false, finding, note: noteOfText(finding, text) } as const;
}

/** Long enough for the words that mean nothing; a row of dashes may be longer. */
const LONGEST_WORD = 24;

/** The note on a text that is no location: where it says that there is none, with what the file has. */
export function noteOfText(finding: LocationFinding, text: string): string {
  const word = text.trim();
  if (finding !== 'empty' || word === '') return LOCATION_NOTES[finding];
  const shown = word.length > LONGEST_WORD ? `${word.slice(0, LONGEST_WORD)}…` : word;
  return `${LOCATION_NOTES.empty.slice(0, -1)}: the file has "${shown}" there.`;
}

/** The note on rows without a location whose own notes differ: some are blank, or they have other texts. */
export function noteOfMissing(one: string, other: string): string {
  const told = one === LOCATION_NOTES.empty ? other : one;
  return told.replace(': the file has "', ': some rows have "');
}

function isOnEarth({ lat, lng }: Location): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
}

function unlocated(finding: LocationFinding) {
  return { ok: false, finding, note: LOCATION_NOTES[finding] } as const;
}
