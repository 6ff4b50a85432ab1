import type { MultiPolygon, Polygon, Position } from 'geojson';
import { resultOrNull } from '../base/errors.ts';
import { EARTH_RADIUS_OF_MERCATOR } from './coordinates.ts';
import { DEGREES, innerPoint, OUTLINE_PROBLEMS, pointOfWkb, sridOfWkb } from './geometry-points.ts';
import { type FormReading, inFormat, inOpenOrder } from './place-order.ts';

/* Places in the texts and bytes of geometries. */

/** The metres of a map in a browser, by EPSG's and Esri's numbers. */
const MERCATOR = /^(?:3857|3785|900913|102100|102113)$/;

/** A point of WKT in a coordinate system. @param srid its EPSG number; undefined: degrees */
export function pointInSystem(srid: string | undefined, x: string, y: string): FormReading {
  if (srid === undefined || srid === '0' || DEGREES.test(srid)) return inFormat(x, y);
  return MERCATOR.test(srid) ? degreesOfMercator(Number(x), Number(y)) : 'other_system';
}

function degreesOfMercator(x: number, y: number): FormReading {
  const degrees = (radians: number) => ((radians * 180) / Math.PI).toFixed(7);
  return inFormat(
    degrees(x / EARTH_RADIUS_OF_MERCATOR),
    degrees(Math.atan(Math.sinh(y / EARTH_RADIUS_OF_MERCATOR))),
  );
}

/** A point inside a small outline. */
export function placeInOutline(geometry: Polygon | MultiPolygon): FormReading {
  const inner = resultOrNull(() => innerPoint(geometry));
  if (inner === null) return 'not_a_point';
  return typeof inner === 'string' ? inner : { ...inFormat(inner.lng, inner.lat), isInside: true };
}

/** The outline of WKT. @param rings `((x y, x y, …), …)`, or a list of such */
export function outlineOfWkt(srid: string | undefined, kind: string, rings: string): FormReading {
  if (srid !== undefined && srid !== '0' && !DEGREES.test(srid)) return 'other_system';
  const json = rings
    .replace(
      /(?<![^\s,()])[^\s,()]+(?:\s+[^\s,()]+)+/g,
      (position) => `[${position.trim().split(/\s+/).join(',')}]`,
    )
    .replaceAll('(', '[')
    .replaceAll(')', ']');
  const coordinates = resultOrNull(() => JSON.parse(json) as Position[][]);
  if (coordinates === null) return 'not_a_point';
  const isOne = kind.toUpperCase() === 'POLYGON';
  return placeInOutline({
    type: 'MultiPolygon',
    coordinates: (isOne ? [coordinates] : coordinates) as Position[][][],
  });
}

/** Well-known binary, and the forms of MySQL (a system's number before it) and of SQL Server. */
export function placeOfBinary(bytes: Buffer): FormReading {
  if (isSqlServerPoint(bytes)) {
    // geography has the latitude first, geometry the x: the whole column decides.
    return inOpenOrder(bytes.readDoubleLE(6), bytes.readDoubleLE(14));
  }
  if (isMysql(bytes)) {
    const srid = bytes.readUInt32LE(0);
    const rest = wkbPlace(bytes.subarray(4));
    return srid === 0 || DEGREES.test(String(srid)) || typeof rest !== 'object'
      ? rest
      : 'other_system';
  }
  return bytes[0] === 0 || bytes[0] === 1 ? wkbPlace(bytes) : null;
}

/** A system's number, version 1 or 2, and the marks of a valid single point. */
function isSqlServerPoint(bytes: Buffer): boolean {
  return bytes.length === 22 && (bytes[4] === 1 || bytes[4] === 2) && bytes[5] === 0x0c;
}

/** After 4 bytes, an order of bytes and a kind of geometry. A point in well-known binary itself has 21 bytes. */
function isMysql(bytes: Buffer): boolean {
  return (
    bytes.length >= 25 && bytes[4] === 1 && bytes.readUInt32LE(5) <= 7 && bytes.readUInt32LE(5) > 0
  );
}

function wkbPlace(bytes: Buffer): FormReading {
  const srid = sridOfWkb(bytes);
  if (srid !== 0 && MERCATOR.test(String(srid))) {
    const { latitude, longitude, problem } = pointOfWkb(bytes, true);
    return problem === undefined
      ? degreesOfMercator(Number(longitude), Number(latitude))
      : 'other_system';
  }
  const { latitude, longitude, problem, remark } = pointOfWkb(bytes);
  if (problem !== undefined) return findingOf(problem);
  if (latitude === '') return 'empty';
  const place = inFormat(longitude, latitude);
  return remark === undefined ? place : { ...place, isInside: true };
}

function findingOf(problem: string): FormReading {
  if (problem.includes('EPSG')) return 'other_system';
  return problem === OUTLINE_PROBLEMS.too_large ? 'too_large' : 'not_a_point';
}
