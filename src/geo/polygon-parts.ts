/** A path: longitudes and latitudes alternate, in degrees. A single position is a point. */
export type Path = Float64Array;

/** Whether a ray from (x, y) to the east crosses the edge from a to b: the even-odd rule for a point in a polygon. An edge includes its
 * southern end and excludes its northern one, so a ray through a vertex counts once. The product is always computed from the southern
 * end: two areas that share an edge then round alike, and a point on it is in exactly one of them. */
export function crossesEastward(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  x: number,
  y: number,
): boolean {
  if (ay > y === by > y) return false;
  return ay < by
    ? (x - ax) * (by - ay) < (y - ay) * (bx - ax)
    : (x - bx) * (ay - by) < (y - by) * (ax - bx);
}

/** The parts of a polygon, each with its outer ring first: a ring after the first is a hole, but some programs write all rings of an area as
 * one polygon. A ring outside of the first one, or in a hole, is then a part of its own. The first ring once more is no hole: it would
 * leave nothing of the polygon. */
export function partsOfPolygon<Ring>(
  rings: readonly Ring[],
  pathOf: (ring: Ring) => Path,
): Ring[][] {
  const [outer, ...rest] = rings;
  if (outer === undefined) return [];
  if (rest.length === 0) return [[outer]];
  const outerPath = pathOf(outer);
  const kept = rest
    .map((ring) => ({ ring, path: pathOf(ring) }))
    .filter(({ path }) => !isSameRing(path, outerPath));
  const others = kept.map(({ ring }) => ring);
  const paths = kept.map(({ path }) => path);
  const boxes = paths.map(boxOf);
  const isInHole = (index: number) =>
    boxes.some(
      (box, hole) =>
        hole !== index && isBoxIn(boxes[index]!, box) && isPathIn(paths[index]!, paths[hole]!),
    );
  const isHole = paths.map((path, index) => touchesInside(path, outerPath) && !isInHole(index));
  return [
    [outer, ...others.filter((_, index) => isHole[index])],
    ...others.filter((_, index) => !isHole[index]).map((ring) => [ring]),
  ];
}

/** Whether a ring winds round a point, however often and in which direction. The ring may be open. */
function windsRound(path: Path, x: number, y: number): boolean {
  let winding = 0;
  let xBefore = path[path.length - 2]!;
  let yBefore = path[path.length - 1]!;
  for (let at = 0; at < path.length; at += 2) {
    const [xNext, yNext] = [path[at]!, path[at + 1]!];
    if (crossesEastward(xBefore, yBefore, xNext, yNext, x, y)) winding += yBefore < yNext ? 1 : -1;
    xBefore = xNext;
    yBefore = yNext;
  }
  return winding !== 0;
}

/** Whether two rings have the same positions in turn, from any of them on and in any direction, closed or not. */
function isSameRing(path: Path, other: Path): boolean {
  const [from, to] = [openLength(path), openLength(other)];
  if (from !== to) return false;
  for (let begin = 0; begin < to; begin += 2) {
    if (other[begin] !== path[0] || other[begin + 1] !== path[1]) continue;
    for (const step of [2, -2]) {
      let at = 0;
      for (let index = begin; at < from; at += 2, index = (index + step + to) % to)
        if (path[at] !== other[index] || path[at + 1] !== other[index + 1]) break;
      if (at === from) return true;
    }
  }
  return false;
}

/** How long a ring is without the repetition of its first position. */
function openLength(path: Path): number {
  const last = path.length - 2;
  return last > 0 && path[0] === path[last] && path[1] === path[last + 1] ? last : path.length;
}

function touchesInside(path: Path, outer: Path): boolean {
  for (let at = 0; at < path.length; at += 2)
    if (windsRound(outer, path[at]!, path[at + 1]!)) return true;
  return false;
}

function isPathIn(path: Path, outer: Path): boolean {
  for (let at = 0; at < path.length; at += 2)
    if (!windsRound(outer, path[at]!, path[at + 1]!)) return false;
  return true;
}

type Edges = readonly [west: number, south: number, east: number, north: number];

function boxOf(path: Path): Edges {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < path.length; at += 2) {
    const [x, y] = [path[at]!, path[at + 1]!];
    if (x < west) west = x;
    if (x > east) east = x;
    if (y < south) south = y;
    if (y > north) north = y;
  }
  return [west, south, east, north];
}

function isBoxIn(box: Edges, outer: Edges): boolean {
  return box[0] > outer[0] && box[1] > outer[1] && box[2] < outer[2] && box[3] < outer[3];
}
