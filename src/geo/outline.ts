import type { MultiPolygon, Polygon, Position } from 'geojson';
import { memo } from '../base/memo.ts';
import { type Location, METERS_PER_DEGREE, UNITS_PER_DEGREE } from './coordinates.ts';
import { crossesEastward, NearestSearch } from './nearest.ts';

/** Rings, outer ones and holes alike, in one array: the number of rings, the number of positions of each, then longitude and latitude in
 * turn in units of 1e-7 degrees (about a centimetre): half the size of doubles. Each ring ends where it begins. */
export type PackedRings = Int32Array;

export function packRings(rings: readonly (readonly Position[])[]): PackedRings {
  const closed = rings.map(closedRing);
  const positions = closed.reduce((sum, ring) => sum + ring.length, 0);
  const packed = new Int32Array(1 + closed.length + 2 * positions);
  packed[0] = closed.length;
  let at = 1 + closed.length;
  for (const [index, ring] of closed.entries()) {
    packed[1 + index] = ring.length;
    for (const [lng, lat] of ring) {
      packed[at++] = Math.round(lng! * UNITS_PER_DEGREE);
      packed[at++] = Math.round(lat! * UNITS_PER_DEGREE);
    }
  }
  return packed;
}

/** The rings of an area, packed. */
export function packArea(geometry: Polygon | MultiPolygon): PackedRings {
  return packRings(polygonsOf(geometry).flat());
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

export function makeOutline(rings: PackedRings): Outline {
  if (rings[0] === 1 && rings[1]! <= MOST_PLAIN_EDGES + 1) {
    // Every latitude is in the only band.
    return { rings, ...plainLists(rings[1]!), south: 0, bandHeight: 1 };
  }
  let count = 0;
  for (let ring = 1; ring <= rings[0]!; ring++) count += Math.max(0, rings[ring]! - 1);
  if (firsts.length < count)
    [firsts, lows, highs] = [0, 0, 0].map(() => new Uint32Array(2 * count)) as Scratch;
  let [south, north] = [Infinity, -Infinity];
  let heights = 0;
  let at = 1 + rings[0]!;
  let next = 0;
  for (let ring = 1; ring <= rings[0]!; ring++) {
    const end = at + 2 * rings[ring]!;
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
export function outlineHolds(
  { rings, edges, starts, south, bandHeight }: Outline,
  { lat, lng }: Location,
): boolean {
  const [x, y] = [lng * UNITS_PER_DEGREE, lat * UNITS_PER_DEGREE];
  const band = bandOf(y, south, bandHeight, starts.length - 1);
  let inside = false;
  for (let k = starts[band]!; k < starts[band + 1]!; k++) {
    const first = edges[k]!;
    if (
      crossesEastward(rings[first]!, rings[first + 1]!, rings[first + 2]!, rings[first + 3]!, x, y)
    )
      inside = !inside;
  }
  return inside;
}

/** Metres from a location to the nearest edge of an outline; infinite when none is within `meters`. */
export function metersToEdges(outline: Outline, location: Location, meters: number): number {
  const { rings, edges, starts, south, bandHeight } = outline;
  const bands = starts.length - 1;
  const [x, y] = [location.lng * UNITS_PER_DEGREE, location.lat * UNITS_PER_DEGREE];
  const reach = (meters / METERS_PER_DEGREE) * UNITS_PER_DEGREE;
  // A hundredth more, because the plane of the search is not the sphere. Across the antimeridian all edges are measured.
  const reachEast = (1.01 * reach) / Math.cos((location.lat * Math.PI) / 180);
  const isWrapped = !(Math.abs(x) + reachEast < 180 * UNITS_PER_DEGREE);
  const search = new NearestSearch(location);
  const last = bandOf(y + reach, south, bandHeight, bands);
  for (let band = bandOf(y - reach, south, bandHeight, bands); band <= last; band++) {
    for (let k = starts[band]!; k < starts[band + 1]!; k++) {
      const first = edges[k]!;
      const [ax, ay, bx, by] = [
        rings[first]!,
        rings[first + 1]!,
        rings[first + 2]!,
        rings[first + 3]!,
      ];
      if ((ay < y - reach && by < y - reach) || (ay > y + reach && by > y + reach)) continue;
      if (
        !isWrapped &&
        ((ax < x - reachEast && bx < x - reachEast) || (ax > x + reachEast && bx > x + reachEast))
      )
        continue;
      search.measureSegment(
        ax / UNITS_PER_DEGREE,
        ay / UNITS_PER_DEGREE,
        bx / UNITS_PER_DEGREE,
        by / UNITS_PER_DEGREE,
      );
    }
  }
  const nearest = search.meters() ?? Number.POSITIVE_INFINITY;
  return nearest <= meters ? nearest : Number.POSITIVE_INFINITY;
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
  const bands = starts.length - 1;
  const middle = bandOf(y, south, bandHeight, bands);
  const last = bandOf(y + half, south, bandHeight, bands);
  let inside = false;
  for (let band = bandOf(y - half, south, bandHeight, bands); band <= last; band++) {
    for (let k = starts[band]!; k < starts[band + 1]!; k++) {
      const first = edges[k]!;
      const ax = rings[first]! - x;
      const ay = rings[first + 1]! - y;
      const bx = rings[first + 2]! - x;
      const by = rings[first + 3]! - y;
      if ((ay < -half && by < -half) || (ay > half && by > half) || (ax < -half && bx < -half))
        continue;
      // Twice the area of the triangle of the centre and the edge; exact for edges of up to 9 degrees (2^53).
      const area = ax * by - ay * bx;
      const isEast = ax > half && bx > half;
      if (!isEast && Math.abs(area) <= half * (Math.abs(bx - ax) + Math.abs(by - ay)))
        return 'crosses';
      // A ray from the centre to the east, as in `crossesEastward`. Each edge that it may cross is in the band of the centre.
      if (band === middle && ay > 0 !== by > 0 && area > 0 === by > ay) inside = !inside;
    }
  }
  return inside ? 'holds' : 'apart';
}
