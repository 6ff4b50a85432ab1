import type { MultiPolygon, Polygon, Position } from 'geojson';

/** Whether a ray from (x, y) to the east crosses the edge from a to b: the even-odd rule for a point in a polygon. An edge includes its
 * southern end and excludes its northern one, so a ray through a vertex counts once. The product is always computed from the southern
 * end: two areas that share an edge then round alike, and a point on it is in exactly one of them. */
export function crossesEastward(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if (ay > y === by > y) return false;
  return ay < by ? (x - ax) * (by - ay) < (y - ay) * (bx - ax) : (x - bx) * (ay - by) < (y - by) * (ax - bx);
}

/** The rings of each polygon, the outer one first. */
export function polygonsOf(geometry: Polygon | MultiPolygon): Position[][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
}
