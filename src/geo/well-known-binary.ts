import type { MultiPolygon, Position } from 'geojson';
import { resultOrNull } from '../base/errors.ts';
import { INSIDE_OUTLINE, innerPoint, TOO_LARGE_OUTLINE } from './inner-point.ts';

/** The location of a geometry, or the reason why it has none. */
export interface PointText {
  readonly latitude: string;
  readonly longitude: string;
  readonly problem?: string;
  /** For the row's note. */
  readonly remark?: string;
}

export const NO_POINT: PointText = { latitude: '', longitude: '' };

const KINDS = ['', 'point', 'line', 'polygon', 'group of points', 'group of lines', 'group of polygons', 'collection'];
const [POINT, POLYGON, MULTI_POINT, MULTI_POLYGON] = [1, 3, 4, 6];

/** Reference systems whose coordinates are degrees, by their EPSG numbers. */
export const DEGREES = /\b(?:CRS84h?|4326|4269|4979|4258)\b/i;

/** Reads a point in well-known binary, or a group of one, with or without height, measure and reference system; of a small outline, a
 * point inside it. */
export function pointOfWkb(value: unknown): PointText {
  const unreadable = { ...NO_POINT, problem: 'The geometry cannot be read.' };
  if (!(value instanceof Uint8Array) || value.length < 5) return unreadable;
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const little = view.getUint8(0) === 1;
  const type = view.getUint32(1, little);
  const kind = (type & 0x0fffffff) % 1000;
  const at = type & 0x20000000 ? 9 : 5;
  const srid = at === 9 && value.length >= at ? view.getUint32(5, little) : 0;
  if (srid !== 0 && !DEGREES.test(String(srid)))
    return { ...NO_POINT, problem: `The geometry is in EPSG:${srid}, not in degrees.` };
  if (kind === POLYGON || kind === MULTI_POLYGON) return pointInOutline(value);
  if (kind === MULTI_POINT && value.length >= at + 4 && view.getUint32(at, little) === 1)
    return pointOfWkb(value.subarray(at + 4));
  if (kind !== POINT)
    return KINDS[kind] ? { ...NO_POINT, problem: `The geometry is a ${KINDS[kind]}, not a point.` } : unreadable;
  if (value.length < at + 16) return unreadable;
  return pointOf(view.getFloat64(at, little), view.getFloat64(at + 8, little));
}

function pointInOutline(bytes: Uint8Array): PointText {
  const inner = resultOrNull(() => innerPoint(outlineOfWkb(bytes)));
  if (inner === null) return { ...NO_POINT, problem: 'The geometry is an outline without an inside, or damaged.' };
  if (inner === 'too_large') return { ...NO_POINT, problem: TOO_LARGE_OUTLINE };
  return { ...pointOf(inner.lng, inner.lat), remark: INSIDE_OUTLINE };
}

/** A point without coordinates is written as two NaN. */
function pointOf(x: number, y: number): PointText {
  return Number.isNaN(x) && Number.isNaN(y) ? NO_POINT : { latitude: String(y), longitude: String(x) };
}

/** The polygons of an outline in well-known binary, with or without height, measure and reference system (ISO and EWKB). Throws a
 * `RangeError` where the bytes end before it. */
export function outlineOfWkb(bytes: Uint8Array): MultiPolygon {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const coordinates: Position[][][] = [];
  let at = 0;
  const readPolygons = () => {
    const little = view.getUint8(at) === 1;
    const count = () => {
      const value = view.getUint32(at, little);
      at += 4;
      // Each part takes 4 bytes or more: a damaged count would reserve memory.
      if (value > bytes.length) throw new RangeError('damaged');
      return value;
    };
    at += 1;
    const type = view.getUint32(at, little);
    at += type & 0x20000000 ? 8 : 4;
    const kind = (type & 0x0fffffff) % 1000;
    const axes = Math.floor((type & 0x0fffffff) / 1000);
    const more = (type & 0x80000000 ? 1 : 0) + (type & 0x40000000 ? 1 : 0) + (axes === 3 ? 2 : axes > 0 ? 1 : 0);
    if (kind === MULTI_POLYGON) {
      for (let parts = count(); parts > 0; parts--) readPolygons();
      return;
    }
    if (kind !== POLYGON) throw new RangeError('no outline');
    const rings: Position[][] = [];
    for (let left = count(); left > 0; left--) {
      const ring: Position[] = [];
      for (let positions = count(); positions > 0; positions--) {
        ring.push([view.getFloat64(at, little), view.getFloat64(at + 8, little)]);
        at += 16 + 8 * more;
      }
      rings.push(ring);
    }
    coordinates.push(rings);
  };
  readPolygons();
  return { type: 'MultiPolygon', coordinates };
}
