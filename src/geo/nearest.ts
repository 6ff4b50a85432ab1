import type { Location } from './coordinates.ts';
import { distanceMeters } from './distance.ts';

/**
 * Distance in metres from a location to the nearest of some GeoJSON features, 0 inside a polygon; null when none has a
 * geometry that can be read. Lines and outlines are measured to the nearest point of each segment, on a plane laid at
 * the location (an error below 0.1 % at the few tens of kilometres within which features are counted).
 */
export function nearestMeters(location: Location, features: readonly unknown[]): number | null {
  const plane = planeAt(location);
  let nearest: Nearest = { squared: Number.POSITIVE_INFINITY, at: null };
  for (const feature of features) {
    const geometry = (feature as { geometry?: unknown } | null)?.geometry;
    nearest = nearer(nearest, geometry, plane);
    if (nearest.squared === 0) return 0;
  }
  return nearest.at === null ? null : distanceMeters(location, plane.back(nearest.at));
}

type Position = readonly [lng: number, lat: number, ...rest: number[]];
type Point = readonly [x: number, y: number];

interface Nearest {
  readonly squared: number;
  readonly at: Point | null;
}

interface LocalPlane {
  to(position: Position): Point;
  back(point: Point): Location;
}

function planeAt(origin: Location): LocalPlane {
  const stretch = Math.cos((origin.lat * Math.PI) / 180);
  return {
    to: ([lng, lat]) => [(((lng - origin.lng + 540) % 360) - 180) * stretch, lat - origin.lat],
    back: ([x, y]) => ({ lat: y + origin.lat, lng: x / (stretch || 1) + origin.lng }),
  };
}

function nearer(best: Nearest, geometry: unknown, plane: LocalPlane): Nearest {
  if (geometry === null || typeof geometry !== 'object') return best;
  const { type, coordinates, geometries } = geometry as { type?: unknown; coordinates?: unknown; geometries?: unknown };
  switch (type) {
    case 'Point':
      return isPosition(coordinates) ? toPath(best, [coordinates], plane) : best;
    case 'MultiPoint':
      return positions(coordinates).reduce((near, position) => toPath(near, [position], plane), best);
    case 'LineString':
      return toPath(best, positions(coordinates), plane);
    case 'MultiLineString':
      return paths(coordinates).reduce((near, path) => toPath(near, path, plane), best);
    case 'Polygon':
      return toPolygon(best, paths(coordinates), plane);
    case 'MultiPolygon':
      return list(coordinates).reduce<Nearest>((near, rings) => toPolygon(near, paths(rings), plane), best);
    case 'GeometryCollection':
      return list(geometries).reduce<Nearest>((near, member) => nearer(near, member, plane), best);
    default:
      return best;
  }
}

function toPolygon(best: Nearest, rings: Position[][], plane: LocalPlane): Nearest {
  let inside = false;
  for (const ring of rings) if (originInRing(ring, plane)) inside = !inside;
  if (inside) return { squared: 0, at: [0, 0] };
  return rings.reduce((near, ring) => toPath(near, ring, plane), best);
}

/** The nearest point of a path to the plane's origin; a path of one position is a point. */
function toPath(best: Nearest, path: readonly Position[], plane: LocalPlane): Nearest {
  let near = best;
  let previous: Point | null = null;
  for (const position of path) {
    const point = plane.to(position);
    const at = previous === null ? point : nearestOfSegment(previous, point);
    const squared = at[0] * at[0] + at[1] * at[1];
    if (squared < near.squared) near = { squared, at };
    previous = point;
  }
  return near;
}

function nearestOfSegment(a: Point, b: Point): Point {
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, -(a[0] * dx + a[1] * dy) / length));
  return [a[0] + along * dx, a[1] + along * dy];
}

function originInRing(ring: readonly Position[], plane: LocalPlane): boolean {
  const points = ring.map((position) => plane.to(position));
  let inside = false;
  for (let i = 0, j = points.length - 1; i < points.length; j = i++) {
    const [xi, yi] = points[i]!;
    const [xj, yj] = points[j]!;
    if (yi > 0 !== yj > 0 && 0 < ((xj - xi) * -yi) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const positions = (value: unknown): Position[] => list(value).filter(isPosition);
const paths = (value: unknown): Position[][] => list(value).map(positions);

function isPosition(value: unknown): value is Position {
  return Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
}
