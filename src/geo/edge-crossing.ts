/**
 * Whether a ray from a point to the east crosses an edge: for the even-odd rule of a point in a polygon. Each edge holds its southern
 * end and not its northern one, so that a ray through a vertex is counted once, and holes and islands need no care.
 *
 * @param edges four numbers an edge: longitude and latitude of its ends, in degrees
 * @param edge the index of its first number
 */
export function crossesEastward(edges: ArrayLike<number>, edge: number, lat: number, lng: number): boolean {
  const ay = edges[edge + 1]!;
  const by = edges[edge + 3]!;
  if (ay > lat === by > lat) return false;
  const ax = edges[edge]!;
  return lng < ((edges[edge + 2]! - ax) * (lat - ay)) / (by - ay) + ax;
}
