import type { MultiPolygon, Polygon, Position } from 'geojson';
import { memo } from '../base/memo.ts';
import { type Location, METERS_PER_DEGREE, UNITS_PER_DEGREE } from './coordinates.ts';
import { NearestSearch } from './nearest.ts';
import { crossesEastward, type Path, partsOfPolygon } from './polygon-parts.ts';

/** Rings in one array: the number of rings, the number of positions of each, then longitude and latitude in turn in units of 1e-7 degrees
 * (about a centimetre): half the size of doubles. Each ring ends where it begins. A negative number of rings: each outer ring begins a part,
 * and the rings after it with negative numbers of positions are its holes. A positive one: rings alike, each of which is a hole in the
 * others or an island in their holes. */
export type PackedRings = Int32Array;

/** Packs rings of which it is not known which are holes. */
export function packRings(rings: readonly (readonly Position[])[]): PackedRings {
  return pack(rings, () => 1, 1);
}

/** The parts of an area, packed. */
export function packArea(geometry: Polygon | MultiPolygon): PackedRings {
  const parts = polygonsOf(geometry).flatMap((rings) => partsOfPolygon(rings, pathOf));
  const outer = new Set<readonly Position[]>(parts.map(([ring]) => ring!));
  return pack(parts.flat(), (ring) => (outer.has(ring) ? 1 : -1), -1);
}

/** The rings in bytes of a database, which may begin at any address: copied only where they do not begin at a whole value. */
export function ringsOfBytes({ buffer, byteOffset, byteLength }: Uint8Array): PackedRings {
  return byteOffset % 4 === 0
    ? new Int32Array(buffer, byteOffset, byteLength / 4)
    : new Int32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}

function pack(
  rings: readonly (readonly Position[])[],
  signOf: (ring: readonly Position[]) => 1 | -1,
  sign: 1 | -1,
): PackedRings {
  const closed = rings.map(closedRing);
  const positions = closed.reduce((sum, ring) => sum + ring.length, 0);
  const packed = new Int32Array(1 + closed.length + 2 * positions);
  packed[0] = sign * closed.length;
  let at = 1 + closed.length;
  for (const [index, ring] of closed.entries()) {
    packed[1 + index] = signOf(rings[index]!) * ring.length;
    for (const [lng, lat] of ring) {
      packed[at++] = Math.round(lng! * UNITS_PER_DEGREE);
      packed[at++] = Math.round(lat! * UNITS_PER_DEGREE);
    }
  }
  return packed;
}

function pathOf(ring: readonly Position[]): Path {
  const path = new Float64Array(2 * ring.length);
  for (const [index, [lng, lat]] of ring.entries()) {
    path[2 * index] = lng!;
    path[2 * index + 1] = lat!;
  }
  return path;
}

/** The rings of each polygon, the outer one first. */
export function polygonsOf(geometry: Polygon | MultiPolygon): Position[][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
}

function closedRing(ring: readonly Position[]): readonly Position[] {
  const [first, last] = [ring[0], ring.at(-1)];
  if (first === undefined || (first[0] === last![0] && first[1] === last![1])) return ring;
  return [...ring, first];
}

/** The edges of rings, sorted into bands of latitude, so that a test of a location or a small box reads only the edges near it: about 10
 * of the 1,700 edges of a TIGER/Line tract. */
export interface Outline {
  readonly rings: PackedRings;
  /** The edges of each band, by the index of their first coordinate; an edge is in every band that it touches. */
  readonly edges: Uint32Array;
  /** Where the edges of each band begin, and where the last ones end. */
  readonly starts: Uint32Array;
  readonly south: number;
  readonly bandHeight: number;
}

/** With 4 edges a band, a tract has about 1.5 entries for each edge: the index takes less memory than the coordinates. A band is no lower
 * than the mean edge is high: of an outline with hundreds of holes, each edge would be in thirty bands. */
const EDGES_PER_BAND = 4;

/** One ring with so few edges needs no bands. A state has hundreds of thousands of such zones: they share their lists. */
const MOST_PLAIN_EDGES = 64;

/** The lists of one ring in one band. @param positions how many it has */
const plainLists = memo((positions: number) => ({
  edges: Uint32Array.from({ length: Math.max(0, positions - 1) }, (_, edge) => 2 + 2 * edge),
  starts: Uint32Array.of(0, Math.max(0, positions - 1)),
}));

type Scratch = [firsts: Uint32Array, lows: Uint32Array, highs: Uint32Array];

/** The edges of the outline that is being made, and the bands in which they begin and end: kept, because a county's zones have 100,000. */
let [firsts, lows, highs] = [0, 0, 0].map(() => new Uint32Array(1024)) as Scratch;

/** Sorts the edges of rings into bands of latitude, so that a search looks at few of them. */
export function makeOutline(rings: PackedRings): Outline {
  const ringCount = Math.abs(rings[0]!);
  if (ringCount === 1 && rings[1]! <= MOST_PLAIN_EDGES + 1) {
    // Every latitude is in the only band.
    return { rings, ...plainLists(rings[1]!), south: 0, bandHeight: 1 };
  }
  let count = 0;
  for (let ring = 1; ring <= ringCount; ring++) count += Math.max(0, Math.abs(rings[ring]!) - 1);
  if (firsts.length < count)
    [firsts, lows, highs] = [0, 0, 0].map(() => new Uint32Array(2 * count)) as Scratch;
  let [south, north] = [Infinity, -Infinity];
  let heights = 0;
  let at = 1 + ringCount;
  let next = 0;
  for (let ring = 1; ring <= ringCount; ring++) {
    const end = at + 2 * Math.abs(rings[ring]!);
    for (; at < end; at += 2) {
      const y = rings[at + 1]!;
      south = Math.min(south, y);
      north = Math.max(north, y);
      if (at + 2 >= end) continue;
      firsts[next++] = at;
      heights += Math.abs(rings[at + 3]! - y);
    }
  }
  const most = heights === 0 ? 1 : Math.ceil(((north - south) * count) / heights);
  const bands = Math.min(Math.ceil(count / EDGES_PER_BAND), most);
  const bandHeight = Math.max(1, (north - south) / bands);
  const starts = new Uint32Array(bands + 1);
  for (let edge = 0; edge < count; edge++) {
    const [a, b] = [rings[firsts[edge]! + 1]!, rings[firsts[edge]! + 3]!];
    const low = bandOf(Math.min(a, b), south, bandHeight, bands);
    const high = bandOf(Math.max(a, b), south, bandHeight, bands);
    lows[edge] = low;
    highs[edge] = high;
    for (let band = low; band <= high; band++) starts[band + 1]! += 1;
  }
  for (let band = 0; band < bands; band++) starts[band + 1]! += starts[band]!;
  const filled = starts.slice(0, bands);
  const edges = new Uint32Array(starts[bands]!);
  for (let edge = 0; edge < count; edge++) {
    const first = firsts[edge]!;
    const high = highs[edge]!;
    for (let band = lows[edge]!; band <= high; band++) {
      edges[filled[band]!] = first;
      filled[band]! += 1;
    }
  }
  return { rings, edges, starts, south, bandHeight };
}

const isOneRing = (rings: PackedRings): boolean => rings[0] === 1 || rings[0] === -1;

/** Whether an outline is one ring without bands. */
function isPlain({ rings, starts }: Pick<Outline, 'rings' | 'starts'>): boolean {
  return starts.length === 2 && isOneRing(rings);
}

/** What the objects of an outline take. */
const OVERHEAD_VALUES = 60;

/** The number of values in memory, of 4 bytes each. */
export function sizeOfOutline({ rings, edges, starts }: Outline): number {
  return OVERHEAD_VALUES + rings.length + (starts.length > 2 ? edges.length + starts.length : 0);
}

/** The band of a latitude; beyond the outline, the first or the last. */
function bandOf(y: number, south: number, bandHeight: number, bands: number): number {
  return Math.max(0, Math.min(bands - 1, Math.floor((y - south) / bandHeight)));
}

/** Whether a location is in an outline, exactly: a place on an edge that two areas share is in exactly one of them. */
export function outlineHolds(outline: Outline, { lat, lng }: Location): boolean {
  return holdsPoint(outline, lng * UNITS_PER_DEGREE, lat * UNITS_PER_DEGREE);
}

/** A part holds what its outer ring winds round, however often and in which direction, and none of its holes does: so a ring that crosses
 * itself or is wound twice, parts that overlap and holes that do are resolved as unions. */
function holdsPoint(
  { rings, edges, starts, south, bandHeight }: Outline,
  x: number,
  y: number,
): boolean {
  if (isPlain({ rings, starts })) return ringHolds(rings, x, y);
  const band = bandOf(y, south, bandHeight, starts.length - 1);
  const hasParts = rings[0]! < 0;
  let holds = false;
  let ring = 1;
  let end = 1 + Math.abs(rings[0]!) + 2 * Math.abs(rings[1]!);
  let winding = 0;
  // The edges of a band are in the order of the rings.
  for (let k = starts[band]!; k < starts[band + 1]!; k++) {
    const first = edges[k]!;
    const [ay, by] = [rings[first + 1]!, rings[first + 3]!];
    if (!crossesEastward(rings[first]!, ay, rings[first + 2]!, by, x, y)) continue;
    while (first >= end) {
      if (winding !== 0) holds = hasParts ? rings[ring]! > 0 : !holds;
      winding = 0;
      ring += 1;
      if (holds && hasParts && rings[ring]! > 0) return true;
      end += 2 * Math.abs(rings[ring]!);
    }
    winding += ay < by ? 1 : -1;
  }
  return winding === 0 ? holds : hasParts ? rings[ring]! > 0 : !holds;
}

/** As `holdsPoint`, of one ring without bands. */
function ringHolds(rings: PackedRings, x: number, y: number): boolean {
  const below = Math.floor(y);
  const end = 2 * rings[1]!;
  let winding = 0;
  for (let first = 2; first < end; first += 2) {
    first = edgeBetween(rings, first, end, below + 1, below);
    if (first >= end) break;
    const [ay, by] = [rings[first + 1]!, rings[first + 3]!];
    if (crossesEastward(rings[first]!, ay, rings[first + 2]!, by, x, y))
      winding += ay < by ? 1 : -1;
  }
  return winding !== 0;
}

/** Metres from a location to the nearest edge of an outline; infinite when none is within `meters`. */
export function metersToEdges(outline: Outline, location: Location, meters: number): number {
  const { rings, edges, starts, south, bandHeight } = outline;
  const [x, y] = [location.lng * UNITS_PER_DEGREE, location.lat * UNITS_PER_DEGREE];
  const reach = (meters / METERS_PER_DEGREE) * UNITS_PER_DEGREE;
  const [low, high] = [y - reach, y + reach];
  // A hundredth more, because the plane of the search is not the sphere. Across the antimeridian all edges are measured.
  const reachEast = (1.01 * reach) / Math.cos((location.lat * Math.PI) / 180);
  const isWrapped = !(Math.abs(x) + reachEast < 180 * UNITS_PER_DEGREE);
  const [west, east] = isWrapped ? [-Infinity, Infinity] : [x - reachEast, x + reachEast];
  // Of most outlines no edge is so near.
  let search: NearestSearch | null = null;
  const isPlainRing = isPlain(outline);
  const bands = starts.length - 1;
  const last = isPlainRing ? -1 : bandOf(high, south, bandHeight, bands);
  for (let band = bandOf(low, south, bandHeight, bands); band <= last; band++) {
    for (let k = starts[band]!; k < starts[band + 1]!; k++) {
      const first = edges[k]!;
      // Not as lists: V8 made one for each edge.
      const ax = rings[first]!;
      const bx = rings[first + 2]!;
      if ((ax < west && bx < west) || (ax > east && bx > east)) continue;
      const ay = rings[first + 1]!;
      const by = rings[first + 3]!;
      if ((ay < low && by < low) || (ay > high && by > high)) continue;
      search ??= new NearestSearch(location);
      measureEdge(search, rings, first);
    }
  }
  const end = isPlainRing ? 2 * rings[1]! : 0;
  for (let first = 2; first < end; first += 2) {
    first = edgeBetween(rings, first, end, low, high);
    if (first >= end) break;
    const ax = rings[first]!;
    const bx = rings[first + 2]!;
    if ((ax < west && bx < west) || (ax > east && bx > east)) continue;
    search ??= new NearestSearch(location);
    measureEdge(search, rings, first);
  }
  const nearest = search?.meters() ?? Number.POSITIVE_INFINITY;
  return nearest <= meters ? nearest : Number.POSITIVE_INFINITY;
}

function measureEdge(search: NearestSearch, rings: PackedRings, first: number): void {
  search.measureSegment(
    rings[first]! / UNITS_PER_DEGREE,
    rings[first + 1]! / UNITS_PER_DEGREE,
    rings[first + 2]! / UNITS_PER_DEGREE,
    rings[first + 3]! / UNITS_PER_DEGREE,
  );
}

/** Whether an outline contains a square box, crosses it, or is apart from it, exactly. An edge that only touches the box crosses it.
 * @param x the longitude of the box's centre in units of 1e-7 degrees
 * @param y the latitude
 * @param half half the side */
export function relationToBox(
  outline: Outline,
  x: number,
  y: number,
  half: number,
): 'holds' | 'crosses' | 'apart' {
  const { rings, edges, starts, south, bandHeight } = outline;
  if (isPlain(outline)) return ringRelationToBox(rings, x, y, half);
  const bands = starts.length - 1;
  const hasOneRing = isOneRing(rings);
  const middle = hasOneRing ? bandOf(y, south, bandHeight, bands) : -1;
  const last = bandOf(y + half, south, bandHeight, bands);
  let winding = 0;
  for (let band = bandOf(y - half, south, bandHeight, bands); band <= last; band++) {
    for (let k = starts[band]!; k < starts[band + 1]!; k++) {
      const first = edges[k]!;
      const ay = rings[first + 1]! - y;
      const by = rings[first + 3]! - y;
      if ((ay < -half && by < -half) || (ay > half && by > half)) continue;
      const ax = rings[first]! - x;
      const bx = rings[first + 2]! - x;
      if (ax < -half && bx < -half) continue;
      // Twice the area of the triangle of the centre and the edge; exact for edges of up to 9 degrees (2^53).
      const area = ax * by - ay * bx;
      const isEast = ax > half && bx > half;
      if (!isEast && Math.abs(area) <= half * (Math.abs(bx - ax) + Math.abs(by - ay)))
        return 'crosses';
      // A ray from the centre to the east, as in `crossesEastward`. Each edge that it may cross is in the band of the centre.
      if (band === middle && ay > 0 !== by > 0 && area > 0 === by > ay) winding += by > ay ? 1 : -1;
    }
  }
  const holds = hasOneRing ? winding !== 0 : holdsPoint(outline, x, y);
  return holds ? 'holds' : 'apart';
}

/** As `relationToBox`, of one ring without bands. */
function ringRelationToBox(
  rings: PackedRings,
  x: number,
  y: number,
  half: number,
): 'holds' | 'crosses' | 'apart' {
  const [south, north] = [Math.ceil(y - half), Math.floor(y + half)];
  const end = 2 * rings[1]!;
  let winding = 0;
  for (let first = 2; first < end; first += 2) {
    first = edgeBetween(rings, first, end, south, north);
    if (first >= end) break;
    const ax = rings[first]! - x;
    const bx = rings[first + 2]! - x;
    if (ax < -half && bx < -half) continue;
    const ay = rings[first + 1]! - y;
    const by = rings[first + 3]! - y;
    const area = ax * by - ay * bx;
    const isEast = ax > half && bx > half;
    if (!isEast && Math.abs(area) <= half * (Math.abs(bx - ax) + Math.abs(by - ay)))
      return 'crosses';
    if (ay > 0 !== by > 0 && area > 0 === by > ay) winding += by > ay ? 1 : -1;
  }
  return winding === 0 ? 'apart' : 'holds';
}

/** The first edge from one on whose ends are not both north of two latitudes, nor both south of them; `end` if there is none. Most edges of
 * a ring are, and their neighbours with them: this loop reads one number an edge. */
function edgeBetween(
  rings: PackedRings,
  from: number,
  end: number,
  south: number,
  north: number,
): number {
  let first = from;
  const lat = rings[first + 1]!;
  if (lat > north) while (first < end && rings[first + 3]! > north) first += 2;
  else if (lat < south) while (first < end && rings[first + 3]! < south) first += 2;
  return first;
}
