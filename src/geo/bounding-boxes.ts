import type { Polygon } from 'geojson';
import type { Location } from './coordinates.ts';

/** A box on the map in degrees, ends included. */
export interface Box {
  readonly minLng: number;
  readonly maxLng: number;
  readonly minLat: number;
  readonly maxLat: number;
}

/** The box of a location alone. */
export function boxOfLocation({ lat, lng }: Location): Box {
  return { minLng: lng, maxLng: lng, minLat: lat, maxLat: lat };
}

/** Slightly less than that of coordinates.ts (111,195.08 m), so that a box never cuts off a point just within the radius. */
const METERS_PER_DEGREE = 111_190;

/** The boxes that hold every point within `meters` of a location: one, or two where the 180th meridian cuts it.
 * @param meters the radius; up to some hundred kilometres is meant */
export function boxesAround({ lat, lng }: Location, meters: number): Box[] {
  const dLat = meters / METERS_PER_DEGREE;
  const minLat = Math.max(-90, lat - dLat);
  const maxLat = Math.min(90, lat + dLat);
  const narrowest = Math.cos((Math.max(Math.abs(minLat), Math.abs(maxLat)) * Math.PI) / 180);
  const dLng = dLat / Math.max(narrowest, 1e-9);
  if (dLng >= 180) return [{ minLng: -180, maxLng: 180, minLat, maxLat }];
  const west = lng - dLng;
  const east = lng + dLng;
  if (west >= -180 && east <= 180) return [{ minLng: west, maxLng: east, minLat, maxLat }];
  const box = (minLng: number, maxLng: number): Box => ({ minLng, maxLng, minLat, maxLat });
  return west < -180
    ? [box(-180, east), box(west + 360, 180)]
    : [box(west, 180), box(-180, east - 360)];
}

/** The box that holds every point within `meters` of a box, cut at the 180th meridian. */
export function widenedBox({ minLat, maxLat, minLng, maxLng }: Box, meters: number): Box {
  const south = boxesAround({ lat: minLat, lng: 0 }, meters)[0]!;
  const north = boxesAround({ lat: maxLat, lng: 0 }, meters)[0]!;
  const degrees = Math.max(south.maxLng, north.maxLng);
  return {
    minLat: south.minLat,
    maxLat: north.maxLat,
    minLng: Math.max(-180, minLng - degrees),
    maxLng: Math.min(180, maxLng + degrees),
  };
}

/** A box as a polygon. */
export function polygonOfBox({ minLng, maxLng, minLat, maxLat }: Box): Polygon {
  const corners = [
    [minLng, minLat],
    [maxLng, minLat],
    [maxLng, maxLat],
    [minLng, maxLat],
    [minLng, minLat],
  ];
  return { type: 'Polygon', coordinates: [corners] };
}

/** How deep the coordinates of a geometry are nested, and the fewest positions in its innermost list. A ring may be open. */
const SHAPES: Readonly<Record<string, { readonly depth: number; readonly fewest: number }>> = {
  Point: { depth: 0, fewest: 1 },
  MultiPoint: { depth: 1, fewest: 1 },
  LineString: { depth: 1, fewest: 2 },
  MultiLineString: { depth: 2, fewest: 2 },
  Polygon: { depth: 2, fewest: 3 },
  MultiPolygon: { depth: 3, fewest: 3 },
};

/** A geometry without its rings and lines that are too short to have an inside or a length: simplified files have them beside good ones.
 * One of which nothing else is left stays as it is, and so does a polygon whose outer ring is too short: it has no box. */
export function withoutShortParts(geometry: unknown): unknown {
  const { type, coordinates } = (geometry ?? {}) as { type?: unknown; coordinates?: unknown };
  if (typeof type !== 'string' || !Array.isArray(coordinates)) return geometry;
  const { fewest } = SHAPES[type] ?? { fewest: 0 };
  const isShort = (part: unknown) => Array.isArray(part) && part.length < fewest;
  const longRings = (rings: unknown): unknown =>
    Array.isArray(rings) && !isShort(rings[0]) && rings.some(isShort)
      ? rings.filter((ring) => !isShort(ring))
      : rings;
  const isNothing = (rings: unknown) =>
    Array.isArray(rings) && (rings.length === 0 || (rings.length === 1 && isShort(rings[0])));
  const partsOf = (): unknown => {
    switch (type) {
      case 'MultiLineString':
        return coordinates.filter((line) => !isShort(line));
      case 'Polygon':
        return longRings(coordinates);
      case 'MultiPolygon':
        return coordinates.filter((rings) => !isNothing(rings)).map(longRings);
      default:
        return coordinates;
    }
  };
  const parts = partsOf();
  return parts === coordinates || (parts as readonly unknown[]).length === 0
    ? geometry
    : { ...(geometry as object), coordinates: parts };
}

type GrowingBox = { -readonly [edge in keyof Box]: number };

/** The box of a GeoJSON geometry, and the check of its coordinates: a schema over every vertex of 85,000 areas would
 * take longer than the rest of the load.
 * @returns the box in degrees, or null for no geometry, an empty one, or one beyond ±180/±90 degrees */
export function boxOfGeometry(geometry: unknown): Box | null {
  const box: GrowingBox = {
    minLng: Infinity,
    maxLng: -Infinity,
    minLat: Infinity,
    maxLat: -Infinity,
  };
  return grow(box, geometry) ? box : null;
}

/** Whether a geometry is none, or has no position. */
export function isEmptyGeometry(geometry: unknown): boolean {
  const { coordinates, geometries } = (geometry ?? {}) as {
    coordinates?: unknown;
    geometries?: unknown;
  };
  if (Array.isArray(geometries)) return geometries.every(isEmptyGeometry);
  const positions = Array.isArray(coordinates) ? coordinates.flat(Number.POSITIVE_INFINITY) : [];
  return (
    geometry === null ||
    geometry === undefined ||
    (Array.isArray(coordinates) && positions.length === 0)
  );
}

function grow(box: GrowingBox, geometry: unknown): boolean {
  if (geometry === null || typeof geometry !== 'object') return false;
  const { type, coordinates, geometries } = geometry as {
    type?: unknown;
    coordinates?: unknown;
    geometries?: unknown;
  };
  if (type === 'GeometryCollection') {
    return (
      Array.isArray(geometries) &&
      geometries.length > 0 &&
      geometries.every((member) => grow(box, member))
    );
  }
  const shape = typeof type === 'string' && Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
  return shape !== undefined && growByCoordinates(box, coordinates, shape.depth, shape.fewest);
}

function growByCoordinates(
  box: GrowingBox,
  coordinates: unknown,
  depth: number,
  fewest: number,
): boolean {
  if (!Array.isArray(coordinates)) return false;
  if (depth > 0) {
    if (coordinates.length < (depth === 1 ? fewest : 1)) return false;
    return coordinates.every((member) => growByCoordinates(box, member, depth - 1, fewest));
  }
  const [lng, lat] = coordinates as [unknown, unknown];
  // Written so that NaN fails too.
  if (typeof lng !== 'number' || typeof lat !== 'number') return false;
  if (!(Math.abs(lng) <= 180 && Math.abs(lat) <= 90)) return false;
  box.minLng = Math.min(box.minLng, lng);
  box.maxLng = Math.max(box.maxLng, lng);
  box.minLat = Math.min(box.minLat, lat);
  box.maxLat = Math.max(box.maxLat, lat);
  return true;
}
