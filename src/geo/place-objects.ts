import type { MultiPolygon, Polygon, Position } from 'geojson';
import { resultOrNull } from '../base/errors.ts';
import { DEGREES } from './geometry-points.ts';
import { placeInOutline, pointInSystem } from './place-geometries.ts';
import { type FormReading, inFormat, inOpenOrder, isBox } from './place-order.ts';

/* Places in JSON: geometries, structs, lists, and what databases make of them. */

/** A value of JSON, or as Python or JavaScript print it; null for other texts. */
export function parsedJson(text: string): unknown {
  return (
    resultOrNull(() => JSON.parse(text)) ??
    resultOrNull(() => JSON.parse(text.replaceAll("'", '"'))) ??
    null
  );
}

type JsonMembers = Readonly<Record<string, unknown>>;

const LAT_NAME = /^_?(?:lat(?:itude)?|y)$/i;
const LNG_NAME = /^_?(?:lng|lon|long|longitude|x)$/i;
const OUTLINE = /^(?:multi)?polygon$/i;

/** The place of an object or a list. */
export function placeOfJson(given: unknown): FormReading {
  const value = unwrapped(given);
  if (Array.isArray(value)) return placeOfList(value);
  if (typeof value !== 'object' || value === null) return null;
  const { type, geometry, coordinates } = value as JsonMembers;
  if (geometry !== undefined && type === 'Feature')
    return geometry === null ? 'empty' : placeOfJson(geometry);
  if (OUTLINE.test(String(type)) && Array.isArray(coordinates))
    return placeInOutline(plainNumbers(value) as Polygon | MultiPolygon);
  const ofEsri = placeOfEsri(value);
  if (ofEsri !== null) return ofEsri;
  const at = unwrapped(positionOf(type, coordinates));
  const isPoint = type === undefined || /^(?:multi)?point$/i.test(String(type));
  if (isPoint && typeof at === 'string') return placeOfList(at.split(/[,;\s]+/));
  if (isPoint && Array.isArray(at) && at.length === 0) return 'empty';
  if (isPoint && Array.isArray(at) && !Array.isArray(at[0]))
    return inFormat(unwrapped(at[0]), unwrapped(at[1]));
  if (Array.isArray(at)) return 'not_a_point';
  const named = (name: RegExp) =>
    unwrapped(Object.entries(value).find(([key]) => name.test(key))?.[1]);
  const [lat, lng] = [named(LAT_NAME), named(LNG_NAME)];
  if (lat != null && lng != null) return { lat, lng };
  return lat === null && lng === null ? 'empty' : null;
}

/** The place of a geometry of Esri JSON: rings, or a point in another system than degrees; null for another object. */
function placeOfEsri(value: object): FormReading {
  const { rings, x, y, spatialReference } = plainNumbers(value) as JsonMembers;
  const { latestWkid, wkid = latestWkid } = (spatialReference ?? {}) as JsonMembers;
  const isInDegrees = wkid === undefined || DEGREES.test(String(wkid));
  if (Array.isArray(rings)) {
    const outline = { type: 'Polygon', coordinates: rings as Position[][] } as const;
    return isInDegrees ? placeInOutline(outline) : 'other_system';
  }
  if (isInDegrees || typeof x !== 'number' || typeof y !== 'number') return null;
  return pointInSystem(String(wkid), String(x), String(y));
}

/** Two numbers, with a height; in which order they stand is open. */
function placeOfList(list: readonly unknown[]): FormReading {
  const [first, second, ...others] = list.map(unwrapped);
  if (isBox([first, second], [others[0], others[1]])) return 'not_a_point';
  if (others.length > 2 || [first, second].some((one) => typeof one === 'object')) return null;
  return first === undefined || second === undefined ? null : inOpenOrder(first, second);
}

/** A database writes a value in an object of one member: Mongo `{"$numberDouble": "25.7"}`, DynamoDB `{"N": "25.7"}`. */
function unwrapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const [only, ...others] = Object.entries(value);
  return only !== undefined && others.length === 0 && WRAPPING.test(only[0])
    ? unwrapped(only[1])
    : value;
}

const WRAPPING = /^(?:\$\w+|[A-Z]{1,2})$/;

/** The position of a point of GeoJSON, or of a MultiPoint of one. */
export function positionOf(type: unknown, coordinates: unknown): unknown {
  const isOne = type === 'MultiPoint' && Array.isArray(coordinates) && coordinates.length === 1;
  return isOne ? coordinates[0] : coordinates;
}

/** A geometry whose numbers are numbers: wrapped ones and long ones that are kept as texts are read. */
function plainNumbers(geometry: unknown): unknown {
  return JSON.parse(JSON.stringify(geometry), (_, value) => unwrapped(value));
}
