import { DECIMAL_NUMBER } from '../base/decimal-number.ts';
import { isNothing } from '../base/no-value.ts';
import type { LocationFinding } from './parse-location.ts';
import { areaCodeFinding, pointOfGeohash, sexagesimalDegrees } from './place-codes.ts';
import { outlineOfWkt, placeOfBinary, pointInSystem } from './place-geometries.ts';
import { parsedJson, placeOfJson } from './place-objects.ts';
import { type FormReading, inOpenOrder, isBox, isPlace, type PlaceOrder } from './place-order.ts';

/** The two texts of a place in one value. */
export interface PlaceInValue {
  readonly lat: string;
  readonly lng: string;
  /** The order that was used; null where the numbers have names. */
  readonly order: PlaceOrder | null;
  /** The value is a small outline, and this a point inside it. */
  readonly isInside?: true;
}

interface PlaceForm {
  readonly is: RegExp;
  /** A text of any length may be one. */
  readonly isLong?: true;
  readonly read: (match: RegExpExecArray) => FormReading;
}

const DECIMAL = '[+-]?\\d{1,3}\\.\\d+';
/** A number, also with a degree sign or a compass letter: then the finding says so. */
const TOKEN = `['’]?[NSEWO]?[+\\-−]?[\\d.](?:[^\\s,;()\\[\\]{}:=/|~a-zA-Z]|[eE](?=[+-]?\\d)|[NSEWO]$|[NSEWO](?=[\\s,;)\\]]))*`;
const LABEL_END = '(?:itude)?["\']?\\s*[:=]?\\s*["\']?\\s*';

/** Two numbers with their names before them. */
const labelled = (first: string, second: string): RegExp =>
  new RegExp(
    `(?<![a-z])${first}${LABEL_END}(${DECIMAL_NUMBER})(?![\\d.]).*?(?<![a-z])${second}${LABEL_END}(${DECIMAL_NUMBER})(?![\\d.])`,
    'is',
  );

/** All ways in which a place stands in one value; the first that fits reads it. Values of every file format come here as texts: lists and
 * structs as JSON, bytes as base64. */
const FORMS: readonly PlaceForm[] = [
  // WKT and EWKT: `POINT Z (-97.2 38.5 4)`, `SRID=4326;POINT(-97.2 38.5)`, a MULTIPOINT of one.
  {
    is: /^<?(?:SRID=(\d+);)?\s*(?:MULTI)?POINT\s*(?:ZM?\s*|M\s*)?\(+\s*([^\s,()]+)\s+([^\s,()]+)(?:\s+[^\s,()]+){0,2}\s*\)+>?$/i,
    read: ([, srid, x, y]) => pointInSystem(srid, x!, y!),
  },
  { is: /^(?:SRID=\d+;)?\s*[A-Z]+\s*(?:ZM?\s*|M\s*)?EMPTY$/i, read: () => 'empty' },
  {
    is: /^<?(?:SRID=(\d+);)?\s*((?:MULTI)?POLYGON)\s*(?:ZM?\s*|M\s*)?(\(.*\))>?$/is,
    isLong: true,
    read: ([, srid, kind, rings]) => outlineOfWkt(srid, kind!, rings!),
  },
  {
    is: /^<?(?:SRID=\d+;)?\s*(?:MULTIPOINT|(?:MULTI)?(?:LINESTRING|POLYGON|SURFACE|CURVE)|CURVEPOLYGON|GEOMETRYCOLLECTION)\b/i,
    isLong: true,
    read: () => 'not_a_point',
  },
  // Well-known binary: hex as of PostGIS, MySQL and SQL Server, base64 as of Parquet's bytes.
  {
    is: /^(?:\\x|0x|X')?((?:[\da-f]{2}){21,})'?$/i,
    isLong: true,
    read: ([, hex]) => placeOfBinary(Buffer.from(hex!, 'hex')),
  },
  {
    is: /^A[AQ][\w+/]{26,}={0,2}$/,
    isLong: true,
    read: ([base64]) => placeOfBinary(Buffer.from(base64!, 'base64')),
  },
  // A geometry or a feature of GeoJSON, a struct of x and y, an object with lat and lng (Socrata), a list, as databases wrap their numbers.
  { is: /^[{[].*[}\]]$/s, isLong: true, read: ([text]) => placeOfJson(parsedJson(text)) },
  // ISO 6709: `+25.7743-080.1937/`, `+254627.5-0801137.3/`.
  {
    is: /^([+-]\d{2}(?:[0-5]\d){0,2}(?:\.\d+)?)([+-]\d{3}(?:[0-5]\d){0,2}(?:\.\d+)?)(?:[+-][\d.]+)?(?:CRS\w+)?\/?$/,
    read: ([, lat, lng]) => ({
      lat: sexagesimalDegrees(lat!, 2),
      lng: sexagesimalDegrees(lng!, 3),
    }),
  },
  // With a height, and parameters (RFC 5870, and the zoom of phones).
  {
    is: /^geo:([^\s,;?]+),([^\s,;?]+)(?:,[^\s,;?]+)?(?:[;?].*)?$/i,
    read: ([, lat, lng]) => ({ lat, lng }),
  },
  // `(38.5, -97.2)`, `[-97.2,38.5]`, `38.5 -97.2`, `geo:38.5,-97.2`.
  {
    is: new RegExp(`^(?:geo:)?[([]?\\s*(${TOKEN})\\s*(?:[,;]|\\s)\\s*(${TOKEN})\\s*[)\\]]?$`),
    read: ([, a, b]) => inOpenOrder(a, b),
  },
  // After the lines of an address (Socrata).
  {
    is: new RegExp(`[^(]\\(\\s*(${DECIMAL_NUMBER})\\s*,\\s*(${DECIMAL_NUMBER})\\s*\\)$`, 'is'),
    read: ([, a, b]) => inOpenOrder(a, b),
  },
  // With a height, and its accuracy (ODK): `25.7743 -80.1937 12.5 4.9`, KML's `-80.1937,25.7743,0`.
  {
    is: new RegExp(
      `^[([]?\\s*(${DECIMAL})\\s*[,;\\s]\\s*(${DECIMAL})\\s*[,;\\s]\\s*(${DECIMAL_NUMBER})(?:\\s*[,;\\s]\\s*(${DECIMAL_NUMBER}))?\\s*[)\\]]?$`,
      'i',
    ),
    read: ([, a, b, c, d]) => (isBox([a, b], [c, d]) ? 'not_a_point' : inOpenOrder(a, b)),
  },
  // The place of a map's link stands after the middle of its map.
  { is: new RegExp(`!3d(${DECIMAL})!4d(${DECIMAL})`), read: ([, lat, lng]) => ({ lat, lng }) },
  // `lat: 25.7, lng: -80.1`, `mlat=25.7&mlon=-80.1`, `CLLocationCoordinate2D(latitude: 25.7, longitude: -80.1)`.
  { is: labelled('m?lat', 'm?lo?ng?'), read: ([, lat, lng]) => ({ lat, lng }) },
  { is: labelled('m?lo?ng?', 'm?lat'), read: ([, lng, lat]) => ({ lat, lng }) },
  { is: labelled('y', 'x'), read: ([, lat, lng]) => ({ lat, lng }) },
  { is: labelled('x', 'y'), read: ([, lng, lat]) => ({ lat, lng }) },
  { is: /^[0-9b-hjkmnp-z]{4,12}$/, read: ([code]) => pointOfGeohash(code) },
  { is: /^.{8,}$/s, read: ([text]) => areaCodeFinding(text) },
  { is: /^.{3,}$/s, read: ([text]) => amidText(text) },
];

/** Two numbers with anything around them: `25.7/-80.1`, a map's link, XML. Only where one order is in the US, and each has decimals: a
 * text may have numbers of many kinds. Of several, two with as many decimals as a place has. */
function amidText(text: string): FormReading {
  const plain = text.replace(/%2C/gi, ',').replace(/%20|\+(?=\D)/g, ' ');
  // A minus after a digit is a hyphen, a digit after a letter is part of a word.
  const found =
    plain.match(/(?<![\p{L}\d.])(?:(?<!\d\s?)[+-])?\d{1,3}\.\d+(?![\p{L}.]*\d)/gu) ?? [];
  const all = plain.match(/\d+(?:\.\d+)?/g) ?? [];
  const exact = found.filter((number) => /\.\d{3}/.test(number));
  const chosen = exact.length === 2 ? exact : found;
  const isPair = chosen.length === 2 && (exact.length === 2 || all.length <= MOST_NUMBERS);
  const [first, second] = chosen;
  if (!isPair || !isPlace(first, second)) return null;
  return inOpenOrder(first, second);
}

/** A zoom, a height, an accuracy beside the two. */
const MOST_NUMBERS = 4;

/** A link, or a place after the lines of an address. Patterns that look for two numbers anywhere would take minutes for a field of a
 * million blanks. */
const LONGEST_PLACE = 2_048;

/** Reads a place in one value; null if it is in no known form.
 * @param given the order, where the user gives it: it holds for all forms but those with names
 * @param assumed the order of numbers whose form leaves it open */
export function placeInValue(
  text: string,
  given: PlaceOrder | null,
  assumed: PlaceOrder = 'lat,lng',
): PlaceInValue | LocationFinding | null {
  const trimmed = text.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (isNoPlace(trimmed)) return 'empty';
  for (const { is, isLong = false, read } of FORMS) {
    if (!isLong && trimmed.length > LONGEST_PLACE) continue;
    const match = is.exec(trimmed);
    const reading = match && read(match);
    if (reading === null) continue;
    if (typeof reading === 'string') return reading;
    if ('lat' in reading)
      return { lat: numberText(reading.lat), lng: numberText(reading.lng), order: null };
    const order = given ?? reading.order ?? assumed;
    const [first, second] = [numberText(reading.first), numberText(reading.second)];
    const inside = reading.isInside === true ? ({ isInside: true } as const) : {};
    return order === 'lat,lng'
      ? { lat: first, lng: second, order, ...inside }
      : { lat: second, lng: first, order, ...inside };
  }
  return null;
}

/** Nothing, in brackets too: `(None, None)`, `[]`, `{}`. */
function isNoPlace(text: string): boolean {
  if (text.length > LONGEST_NOTHING) return false;
  return text
    .replace(/[()[\]{}"']/g, '')
    .split(/[,;]|\s+/)
    .every((part) => isNothing(part.trim()));
}

const LONGEST_NOTHING = 24;

const numberText = (value: unknown): string => String(value ?? '');
