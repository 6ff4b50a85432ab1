import { resultOrNull } from '../base/errors.ts';
import { DEGREES, pointOfWkb } from './geometry-points.ts';
import type { LocationFinding } from './parse-location.ts';

/** Which of the two numbers of a place comes first. */
export const PLACE_ORDERS = ['lat,lng', 'lng,lat'] as const;
export type PlaceOrder = (typeof PLACE_ORDERS)[number];

/** The two texts of a place in one value. */
export interface PlaceInValue {
  readonly lat: string;
  readonly lng: string;
  /** The order that was used; null where the numbers have names. */
  readonly order: PlaceOrder | null;
}

interface TwoNumbers {
  readonly first: unknown;
  readonly second: unknown;
  /** As the format has it; null where it leaves this open. */
  readonly order: PlaceOrder | null;
}

type FormReading =
  | TwoNumbers
  | { readonly lat: unknown; readonly lng: unknown }
  | LocationFinding
  | null;

interface PlaceForm {
  readonly is: RegExp;
  readonly read: (match: RegExpExecArray) => FormReading;
}

const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';
const inFormat = (first: unknown, second: unknown): TwoNumbers => ({
  first,
  second,
  order: 'lng,lat',
});
const open = (first: unknown, second: unknown): TwoNumbers => ({ first, second, order: null });

/** All ways in which a place stands in one value; the first that fits reads it. Values of every file format come here as texts: lists and
 * structs as JSON, bytes as base64. */
const FORMS: readonly PlaceForm[] = [
  // WKT and EWKT: `POINT Z (-97.2 38.5 4)`, `SRID=4326;POINT(-97.2 38.5)`, a MULTIPOINT of one.
  {
    is: /^(?:SRID=(\d+);)?\s*(?:MULTI)?POINT\s*(?:Z|M|ZM)?\s*\(+\s*([^\s,()]+)\s+([^\s,()]+)(?:\s+[^\s,()]+){0,2}\s*\)+$/i,
    read: ([, srid, x, y]) =>
      srid === undefined || DEGREES.test(srid) ? inFormat(x, y) : 'other_system',
  },
  { is: /^(?:SRID=\d+;)?\s*(?:MULTI)?POINT\s*(?:Z|M|ZM)?\s*EMPTY$/i, read: () => 'empty' },
  {
    is: /^(?:SRID=\d+;)?\s*(?:MULTIPOINT|(?:MULTI)?(?:LINESTRING|POLYGON|SURFACE|CURVE)|CURVEPOLYGON|GEOMETRYCOLLECTION)\b/i,
    read: () => 'not_a_point',
  },
  // Well-known binary: hex as of PostGIS, base64 as of Parquet's bytes.
  {
    is: /^(?:\\x|0x)?(0[01](?:[\da-f]{2}){20,})$/i,
    read: ([, hex]) => binaryPoint(Buffer.from(hex!, 'hex')),
  },
  {
    is: /^A[AQ][\w+/]{26,}={0,2}$/,
    read: ([base64]) => binaryPoint(Buffer.from(base64!, 'base64')),
  },
  // A geometry or a feature of GeoJSON, a struct of x and y, an object with lat and lng (Socrata).
  { is: /^\{.*\}$/s, read: ([text]) => placeOf(parsedObject(text!)) },
  // A list with a height.
  {
    is: /^\[\s*([^\s,[\]]+)\s*,\s*([^\s,[\]]+)\s*,\s*[^\s,[\]]+\s*\]$/,
    read: ([, a, b]) => open(a, b),
  },
  // `(38.5, -97.2)`, `[-97.2,38.5]`, `38.5 -97.2`, `geo:38.5,-97.2`.
  {
    is: /^(?:geo:)?[([]?\s*([^\s,;()[\]{}]+)\s*(?:[,;]|\s)\s*([^\s,;()[\]{}]+)\s*[)\]]?$/,
    read: ([, a, b]) => open(a, b),
  },
  // After the lines of an address (Socrata).
  {
    is: new RegExp(`[^(]\\(\\s*(${NUMBER})\\s*,\\s*(${NUMBER})\\s*\\)$`, 'is'),
    read: ([, a, b]) => open(a, b),
  },
];

/** Reads a place in one value; null if it is in no known form.
 * @param given the order, where the user gives it: it holds for all forms but those with names
 * @param assumed the order of numbers whose form leaves it open */
export function placeInValue(
  text: string,
  given: PlaceOrder | null,
  assumed: PlaceOrder = 'lat,lng',
): PlaceInValue | LocationFinding | null {
  const trimmed = text.trim();
  if (trimmed === '') return 'empty';
  for (const { is, read } of FORMS) {
    const match = is.exec(trimmed);
    const reading = match && read(match);
    if (reading === null) continue;
    if (typeof reading === 'string') return reading;
    if ('lat' in reading)
      return { lat: numberText(reading.lat), lng: numberText(reading.lng), order: null };
    const order = given ?? reading.order ?? assumed;
    const [first, second] = [numberText(reading.first), numberText(reading.second)];
    return order === 'lat,lng'
      ? { lat: first, lng: second, order }
      : { lat: second, lng: first, order };
  }
  return null;
}

const numberText = (value: unknown): string => String(value ?? '');

function binaryPoint(bytes: Uint8Array): FormReading {
  const { latitude, longitude, problem, remark } = pointOfWkb(bytes);
  if (remark !== undefined) return 'not_a_point';
  if (problem !== undefined) return problem.includes('EPSG') ? 'other_system' : 'not_a_point';
  return inFormat(longitude, latitude);
}

/** An object of JSON, or as Python prints it. */
function parsedObject(text: string): unknown {
  return (
    resultOrNull(() => JSON.parse(text)) ??
    resultOrNull(() => JSON.parse(text.replaceAll("'", '"')))
  );
}

const LAT_NAME = /^(?:lat(?:itude)?|y)$/i;
const LNG_NAME = /^(?:lng|lon|long|longitude|x)$/i;

function placeOf(value: unknown): FormReading {
  if (typeof value !== 'object' || value === null) return null;
  const { type, geometry, coordinates } = value as Readonly<Record<string, unknown>>;
  if (geometry !== undefined && type === 'Feature')
    return geometry === null ? 'empty' : placeOf(geometry);
  const at = positionOf(type, coordinates);
  const isPoint = type === undefined || type === 'Point' || type === 'MultiPoint';
  if (isPoint && Array.isArray(at) && at.length === 0) return 'empty';
  if (isPoint && Array.isArray(at) && !Array.isArray(at[0])) return inFormat(at[0], at[1]);
  if (Array.isArray(at)) return 'not_a_point';
  const named = (name: RegExp) => Object.entries(value).find(([key]) => name.test(key))?.[1];
  const [lat, lng] = [named(LAT_NAME), named(LNG_NAME)];
  return lat === undefined || lng === undefined ? null : { lat, lng };
}

/** The position of a point of GeoJSON, or of a MultiPoint of one. */
export function positionOf(type: unknown, coordinates: unknown): unknown {
  const isOne = type === 'MultiPoint' && Array.isArray(coordinates) && coordinates.length === 1;
  return isOne ? coordinates[0] : coordinates;
}
