import type { Outline } from './area-outlines.ts';

/**
 * An outline with its edges sorted into horizontal bands, so that a question about a small box reads only the edges beside
 * it: about 10 of the 1,700 that a tract of TIGER/Line has.
 */
export interface BandedOutline {
  /** The rings one after another, each closed; longitude and latitude in turn, in units of 1e-7 degrees. */
  readonly coordinates: Int32Array;
  /** The edges of each band, by the index of their first coordinate; an edge is in every band that it touches. */
  readonly edges: Uint32Array;
  /** Where the edges of each band begin, and where the last ones end. */
  readonly starts: Uint32Array;
  readonly south: number;
  readonly bandHeight: number;
}

/** With 4 edges for each band, a tract has about 1.5 entries an edge: the index takes less memory than the coordinates. */
const EDGES_PER_BAND = 4;

export function bandOutline(rings: Outline): BandedOutline {
  const closed = rings.map(closedRing);
  const coordinates = new Int32Array(closed.reduce((sum, ring) => sum + ring.length, 0));
  const firsts: number[] = [];
  let at = 0;
  for (const ring of closed) {
    coordinates.set(ring, at);
    for (let i = 0; i + 2 < ring.length; i += 2) firsts.push(at + i);
    at += ring.length;
  }
  let south = Infinity;
  let north = -Infinity;
  for (let i = 1; i < coordinates.length; i += 2) {
    south = Math.min(south, coordinates[i]!);
    north = Math.max(north, coordinates[i]!);
  }
  const bands = Math.ceil(firsts.length / EDGES_PER_BAND);
  const bandHeight = Math.max(1, (north - south) / bands);
  const starts = new Uint32Array(bands + 1);
  const toEachBand = (act: (band: number, first: number) => void): void => {
    for (const first of firsts) {
      const [a, b] = [coordinates[first + 1]!, coordinates[first + 3]!];
      const to = bandOf(Math.max(a, b), south, bandHeight, bands);
      for (let band = bandOf(Math.min(a, b), south, bandHeight, bands); band <= to; band++) act(band, first);
    }
  };
  toEachBand((band) => starts[band + 1]!++);
  for (let band = 0; band < bands; band++) starts[band + 1]! += starts[band]!;
  const next = starts.slice(0, bands);
  const edges = new Uint32Array(starts[bands]!);
  toEachBand((band, first) => {
    edges[next[band]!++] = first;
  });
  return { coordinates, edges, starts, south, bandHeight };
}

/** The number of values in memory. */
export function sizeOfBands({ coordinates, edges, starts }: BandedOutline): number {
  return coordinates.length + edges.length + starts.length;
}

/**
 * Whether an outline holds a whole square box, passes through it, or is apart from it, exactly. An edge that only touches
 * the box passes through it.
 *
 * @param x the longitude of the box's centre in units of 1e-7 degrees
 * @param y the latitude
 * @param half half the side
 */
export function relationToBox(
  outline: BandedOutline,
  x: number,
  y: number,
  half: number,
): 'holds' | 'crosses' | 'apart' {
  const { coordinates, edges, starts, south, bandHeight } = outline;
  const bands = starts.length - 1;
  const middle = bandOf(y, south, bandHeight, bands);
  const last = bandOf(y + half, south, bandHeight, bands);
  let inside = false;
  for (let band = bandOf(y - half, south, bandHeight, bands); band <= last; band++) {
    for (let k = starts[band]!; k < starts[band + 1]!; k++) {
      const first = edges[k]!;
      const ax = coordinates[first]! - x;
      const ay = coordinates[first + 1]! - y;
      const bx = coordinates[first + 2]! - x;
      const by = coordinates[first + 3]! - y;
      if ((ay < -half && by < -half) || (ay > half && by > half) || (ax < -half && bx < -half)) continue;
      // Twice the area of the triangle of the centre and the edge; exact for edges of up to 9 degrees (2^53).
      const area = ax * by - ay * bx;
      const isEast = ax > half && bx > half;
      if (!isEast && Math.abs(area) <= half * (Math.abs(bx - ax) + Math.abs(by - ay))) return 'crosses';
      // A ray from the centre to the east, as in `crossesEastward`. Each edge that it may cross is in the band of the centre.
      if (band === middle && ay > 0 !== by > 0 && area > 0 === by > ay) inside = !inside;
    }
  }
  return inside ? 'holds' : 'apart';
}

/** The band of a latitude; beyond the outline, the first or the last. */
function bandOf(y: number, south: number, bandHeight: number, bands: number): number {
  return Math.max(0, Math.min(bands - 1, Math.floor((y - south) / bandHeight)));
}

function closedRing(ring: Int32Array): Int32Array {
  if (ring[0] === ring[ring.length - 2] && ring[1] === ring[ring.length - 1]) return ring;
  return Int32Array.of(...ring, ring[0]!, ring[1]!);
}
