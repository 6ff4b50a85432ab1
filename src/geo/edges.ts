import type { MultiPolygon, Polygon, Position } from 'geojson';

/** Kilometres of a degree of latitude. */
export const KM_PER_DEGREE = 111.2;

/**
 * Whether a ray from (x, y) to the east crosses the edge from a to b: the even-odd rule for a point in a polygon. An edge
 * includes its southern end and excludes its northern one, so a ray through a vertex counts once. The product is always
 * computed from the southern end: two areas that share an edge then round alike, and a point on it is in exactly one of them.
 */
export function crossesEastward(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if (ay > y === by > y) return false;
  return ay < by ? (x - ax) * (by - ay) < (y - ay) * (bx - ax) : (x - bx) * (ay - by) < (y - by) * (ax - bx);
}

/** The share of the way from a to b at which the segment is nearest to the origin, 0 to 1. */
export function nearestShare(ax: number, ay: number, bx: number, by: number): number {
  const dx = bx - ax;
  const dy = by - ay;
  const length = dx * dx + dy * dy;
  return length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
}

/** The squared distance of the origin from the segment a-b. */
export function squaredDistance(ax: number, ay: number, bx: number, by: number): number {
  const share = nearestShare(ax, ay, bx, by);
  const x = ax + share * (bx - ax);
  const y = ay + share * (by - ay);
  return x * x + y * y;
}

/** The edges of rings: ax, ay, bx, by of each, in degrees. */
export function edgesOf(rings: Iterable<readonly (readonly number[])[]>): Float64Array {
  const edges: number[] = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) edges.push(ring[i - 1]![0]!, ring[i - 1]![1]!, ring[i]![0]!, ring[i]![1]!);
  }
  return Float64Array.from(edges);
}

/** Whether a location is inside the rings that these edges come from; holes are outside. */
export function isInside(edges: Float64Array, lat: number, lng: number): boolean {
  let inside = false;
  for (let i = 0; i < edges.length; i += 4) {
    if (crossesEastward(edges[i]!, edges[i + 1]!, edges[i + 2]!, edges[i + 3]!, lng, lat)) inside = !inside;
  }
  return inside;
}

/** The rings of each polygon, the outer one first. */
export function polygonsOf(geometry: Polygon | MultiPolygon): Position[][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
}
