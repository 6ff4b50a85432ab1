import type { Location } from '../../geo/coordinates.ts';
import { distanceMeters } from '../../geo/distance.ts';

/** The lines and outlines of a feature, laid out for measuring: lng and lat in turn, one array a line or ring. */
export interface FeatureShape {
  readonly lines: readonly Float64Array[];
  /** The rings of each polygon. */
  readonly polygons: readonly (readonly Float64Array[])[];
}

/** The shape of a GeoJSON feature; null when it is not of lines and polygons alone, and `nearestMeters` must measure it. */
export function shapeOf(feature: unknown): FeatureShape | null {
  const { type, coordinates } = ((feature as { geometry?: unknown } | null)?.geometry ?? {}) as {
    type?: unknown;
    coordinates?: unknown;
  };
  switch (type) {
    case 'LineString':
      return { lines: [flat(coordinates)], polygons: [] };
    case 'MultiLineString':
      return { lines: list(coordinates).map(flat), polygons: [] };
    case 'Polygon':
      return { lines: [], polygons: [list(coordinates).map(flat)] };
    case 'MultiPolygon':
      return { lines: [], polygons: list(coordinates).map((rings) => list(rings).map(flat)) };
    default:
      return null;
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function flat(path: unknown): Float64Array {
  const positions = list(path).filter(
    (position): position is [number, number] =>
      Array.isArray(position) && Number.isFinite(position[0]) && Number.isFinite(position[1]),
  );
  const line = new Float64Array(2 * positions.length);
  for (const [index, [lng, lat]] of positions.entries()) line.set([lng, lat], 2 * index);
  return line;
}

/**
 * `nearestMeters` of the feature, in a tenth of the time: by the same arithmetic, to the last bit, without an object for each
 * position. Infinity for a shape without positions.
 */
export function metersToShape({ lines, polygons }: FeatureShape, location: Location): number {
  const plane: NearestSearch = {
    ...location,
    stretch: Math.cos((location.lat * Math.PI) / 180),
    x: 0,
    y: 0,
    squared: Infinity,
  };
  for (const line of lines) approach(plane, line);
  for (const rings of polygons) {
    let inside = false;
    for (const ring of rings) if (originInRing(plane, ring)) inside = !inside;
    if (inside) return 0;
    for (const ring of rings) approach(plane, ring);
  }
  if (plane.squared === Infinity) return Infinity;
  return distanceMeters(location, {
    lat: plane.y + location.lat,
    lng: plane.x / (plane.stretch || 1) + location.lng,
  });
}

/** A plane laid at a location, and the point nearest to it so far. */
interface NearestSearch extends Location {
  readonly stretch: number;
  x: number;
  y: number;
  squared: number;
}

/** Takes the nearest point of a path for the plane's when it is nearer; a path of one position is a point. */
function approach(plane: NearestSearch, path: Float64Array): void {
  let xBefore = 0;
  let yBefore = 0;
  for (let at = 0; at < path.length; at += 2) {
    const xHere = eastOf(plane, path[at]!);
    const yHere = path[at + 1]! - plane.lat;
    let x = xHere;
    let y = yHere;
    if (at > 0) {
      const dx = xHere - xBefore;
      const dy = yHere - yBefore;
      const length = dx * dx + dy * dy;
      const along = length === 0 ? 0 : Math.max(0, Math.min(1, -(xBefore * dx + yBefore * dy) / length));
      x = xBefore + along * dx;
      y = yBefore + along * dy;
    }
    const squared = x * x + y * y;
    if (squared < plane.squared) {
      plane.x = x;
      plane.y = y;
      plane.squared = squared;
    }
    xBefore = xHere;
    yBefore = yHere;
  }
}

function originInRing(plane: NearestSearch, ring: Float64Array): boolean {
  let inside = false;
  let xj = ring.length === 0 ? 0 : eastOf(plane, ring[ring.length - 2]!);
  let yj = ring.length === 0 ? 0 : ring[ring.length - 1]! - plane.lat;
  for (let at = 0; at < ring.length; at += 2) {
    const xi = eastOf(plane, ring[at]!);
    const yi = ring[at + 1]! - plane.lat;
    if (yi > 0 !== yj > 0 && 0 < ((xj - xi) * -yi) / (yj - yi) + xi) inside = !inside;
    xj = xi;
    yj = yi;
  }
  return inside;
}

/** How far east of the location, the short way round. The remainder is what takes the time, and is seldom needed. */
function eastOf({ lng, stretch }: NearestSearch, east: number): number {
  const turned = east - lng + 540;
  return ((turned >= 360 && turned < 720 ? turned - 360 : turned % 360) - 180) * stretch;
}
