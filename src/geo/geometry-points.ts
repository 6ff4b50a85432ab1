import { createRequire } from 'node:module';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import type polylabel from 'polylabel';
import { resultOrNull } from '../base/errors.ts';
import { type Location, METERS_PER_DEGREE, UNITS_PER_DEGREE } from './coordinates.ts';
import { isPosition } from './nearest.ts';
import { polygonsOf } from './outline.ts';

let loaded: typeof polylabel | undefined;

/** Loaded with the first outline: the start of each command would pay for it. */
function loadPolylabel(): typeof polylabel {
  loaded ??= (createRequire(import.meta.url)('polylabel') as { default: typeof polylabel }).default;
  return loaded;
}

/** The location of a geometry, or the reason why it has none. */
export interface PointText {
  readonly latitude: string;
  readonly longitude: string;
  readonly problem?: string;
  /** For the row's note. */
  readonly remark?: string;
}

export const NO_POINT: PointText = { latitude: '', longitude: '' };

const KINDS = [
  '',
  'point',
  'line',
  'polygon',
  'group of points',
  'group of lines',
  'group of polygons',
  'collection',
];
const [POINT, POLYGON, MULTI_POINT, MULTI_POLYGON] = [1, 3, 4, 6];

/** Reference systems whose coordinates are degrees, by their EPSG numbers. */
export const DEGREES = /\b(?:CRS84h?|4326|4269|4979|4258)\b/i;

/** The number of the coordinate system in EWKB; 0 for none. */
export function sridOfWkb(bytes: Uint8Array): number {
  if (bytes.length < 9) return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const { little, at } = readHeader(view, 0);
  return at === 9 ? view.getUint32(5, little) : 0;
}

/** Reads a point in well-known binary (ISO or EWKB, with any axes), or a group of one; of a small outline, a point inside it.
 * @param isAnySystem gives the numbers of other systems than degrees, too */
export function pointOfWkb(value: unknown, isAnySystem = false): PointText {
  const unreadable = { ...NO_POINT, problem: 'The geometry cannot be read.' };
  if (!(value instanceof Uint8Array) || value.length < 5) return unreadable;
  const view = new DataView(value.buffer, value.byteOffset, value.length);
  const { little, kind, at } = readHeader(view, 0);
  const srid = at === 9 && value.length >= at ? view.getUint32(5, little) : 0;
  if (srid !== 0 && !isAnySystem && !DEGREES.test(String(srid)))
    return { ...NO_POINT, problem: `The geometry is in EPSG:${srid}, not in degrees.` };
  if (kind === POLYGON || kind === MULTI_POLYGON) return pointInOutline(value);
  if (kind === MULTI_POINT && value.length >= at + 4 && view.getUint32(at, little) === 1)
    return pointOfWkb(value.subarray(at + 4));
  if (kind !== POINT)
    return KINDS[kind]
      ? { ...NO_POINT, problem: `The geometry is a ${KINDS[kind]}, not a point.` }
      : unreadable;
  if (value.length < at + 16) return unreadable;
  return pointOf(view.getFloat64(at, little), view.getFloat64(at + 8, little));
}

/** The order of the bytes and the kind of the geometry at a position, where its content begins, and how many axes it has beside two. */
function readHeader(view: DataView, from: number) {
  const little = view.getUint8(from) === 1;
  const type = view.getUint32(from + 1, little);
  const axes = Math.floor((type & 0x0fffffff) / 1000);
  const more =
    (type & 0x80000000 ? 1 : 0) + (type & 0x40000000 ? 1 : 0) + (axes === 3 ? 2 : axes > 0 ? 1 : 0);
  return { little, kind: (type & 0x0fffffff) % 1000, at: from + (type & 0x20000000 ? 9 : 5), more };
}

function pointInOutline(bytes: Uint8Array): PointText {
  const inner = resultOrNull(() => innerPoint(outlineOfWkb(bytes)));
  if (inner === null)
    return { ...NO_POINT, problem: 'The geometry is an outline without an inside, or damaged.' };
  if (typeof inner === 'string') return { ...NO_POINT, problem: OUTLINE_PROBLEMS[inner] };
  return { ...pointOf(inner.lng, inner.lat), remark: INSIDE_OUTLINE };
}

/** A point without coordinates is written as two NaN. */
function pointOf(x: number, y: number): PointText {
  return Number.isNaN(x) && Number.isNaN(y)
    ? NO_POINT
    : { latitude: String(y), longitude: String(x) };
}

/** The polygons of an outline in well-known binary (ISO or EWKB, with any axes). @throws RangeError where the bytes end before it */
export function outlineOfWkb(bytes: Uint8Array): MultiPolygon {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const coordinates: Position[][][] = [];
  let at = 0;
  const readPolygons = () => {
    const { little, kind, at: content, more } = readHeader(view, at);
    at = content;
    const count = () => {
      const value = view.getUint32(at, little);
      at += 4;
      // Each part takes 4 bytes or more: a damaged count would reserve memory.
      if (value > bytes.length) throw new RangeError('damaged');
      return value;
    };
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

/** A point as Well-Known Binary, little-endian, one character a byte: its form in the fields of a row. */
export function pointText(lat: number, lng: number): string {
  const bytes = Buffer.allocUnsafe(21);
  bytes[0] = 1;
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(lng, 5);
  bytes.writeDoubleLE(lat, 13);
  return bytes.toString('latin1');
}

/** The degrees of a text that `pointText` made. */
export function degreesOfPoint(text: string): { readonly lat: number; readonly lng: number } {
  const bytes = Buffer.from(text, 'latin1');
  return { lng: bytes.readDoubleLE(5), lat: bytes.readDoubleLE(13) };
}

/** What the note of a row says whose outline was looked up at such a point, and of one that has none. */
export const INSIDE_OUTLINE = 'Looked up at a point inside its outline.';
export const OUTLINE_PROBLEMS = {
  too_large: 'The outline is more than about 1 km across: a point is needed.',
  other_system:
    'The geometry is in another coordinate system than degrees: convert it to EPSG:4326.',
} as const;
type OutlineProblem = keyof typeof OUTLINE_PROBLEMS;

/** The sides of the largest outline that one point stands for, in metres: parcels, campuses and farms, but no area of a ZIP code. */
const LARGEST_OUTLINE = 1_200;
/** Metres: far less than the decimals of a place. */
const PRECISION = 0.5;

/** A point within an outline, in its widest part and outside its holes; of several polygons, in the roomiest. `too_large` for an outline of
 * which one point says too little, `other_system` for numbers that are no degrees, null for one without an inside. A centroid would not do: that of an L or a ring is outside. */
export function innerPoint(geometry: Polygon | MultiPolygon): Location | OutlineProblem | null {
  const polygons = polygonsOf(geometry);
  const positions = polygons.flatMap(([outer = []]) => outer);
  const [origin] = positions;
  if (origin === undefined || !positions.every(isPosition)) return null;
  const isInDegrees = ([lng, lat]: Position) => Math.abs(lat!) <= 90 && Math.abs(lng!) <= 180;
  if (!isInDegrees(origin)) return 'other_system';
  // Metres around the first position, so that both axes count the same.
  const [east, north] = [
    METERS_PER_DEGREE * Math.cos((origin[1]! * Math.PI) / 180),
    METERS_PER_DEGREE,
  ];
  const metres = ([lng, lat]: Position): [number, number] => [
    (lng! - origin[0]!) * east,
    (lat! - origin[1]!) * north,
  ];
  const all = positions.map(metres);
  const end = (of: typeof Math.max, axis: number) =>
    all.reduce((far, position) => of(far, position[axis]!), 0);
  if ([0, 1].some((axis) => end(Math.max, axis) - end(Math.min, axis) > LARGEST_OUTLINE))
    return 'too_large';
  let best: Position | null = null;
  let most = 0;
  for (const polygon of polygons) {
    if ((polygon[0]?.length ?? 0) < 4) continue;
    const rings = polygon.map((ring) => ring.map(metres));
    const point = loadPolylabel()(rings, PRECISION);
    if (point.distance > most) [best, most] = [point, point.distance];
  }
  const degrees = (value: number) => Math.round(value * UNITS_PER_DEGREE) / UNITS_PER_DEGREE;
  return (
    best && {
      lng: degrees(origin[0]! + best[0]! / east),
      lat: degrees(origin[1]! + best[1]! / north),
    }
  );
}
