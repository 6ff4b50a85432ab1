import type { Box } from './bounding-boxes.ts';

/** How deep the coordinates of a geometry are nested, and the least number of positions in its innermost list. */
const SHAPES: Readonly<Record<string, { readonly depth: number; readonly fewest: number }>> = {
  Point: { depth: 0, fewest: 1 },
  MultiPoint: { depth: 1, fewest: 1 },
  LineString: { depth: 1, fewest: 2 },
  MultiLineString: { depth: 2, fewest: 2 },
  Polygon: { depth: 2, fewest: 4 },
  MultiPolygon: { depth: 3, fewest: 4 },
};

type GrowingBox = { -readonly [edge in keyof Box]: number };

/**
 * The box of a GeoJSON geometry, and the check of its coordinates: a schema over every vertex of 85,000 areas would
 * take longer than the rest of the load.
 *
 * @returns the box in degrees, or null for no geometry, an empty one, or one beyond ±180/±90 degrees
 */
export function boxOfGeometry(geometry: unknown): Box | null {
  const box: GrowingBox = { minLng: Infinity, maxLng: -Infinity, minLat: Infinity, maxLat: -Infinity };
  return grow(box, geometry) ? box : null;
}

function grow(box: GrowingBox, geometry: unknown): boolean {
  if (geometry === null || typeof geometry !== 'object') return false;
  const { type, coordinates, geometries } = geometry as { type?: unknown; coordinates?: unknown; geometries?: unknown };
  if (type === 'GeometryCollection') {
    return Array.isArray(geometries) && geometries.length > 0 && geometries.every((member) => grow(box, member));
  }
  const shape = typeof type === 'string' && Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
  return shape !== undefined && growByCoordinates(box, coordinates, shape.depth, shape.fewest);
}

function growByCoordinates(box: GrowingBox, coordinates: unknown, depth: number, fewest: number): boolean {
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
