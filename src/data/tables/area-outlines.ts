import type { MultiPolygon, Polygon } from 'geojson';
import { type Location, UNITS_PER_DEGREE } from '../../geo/coordinates.ts';
import { crossesEastward, polygonsOf } from '../../geo/edges.ts';
import { metersToShape } from '../../geo/nearest.ts';

/** The rings of an area, outer rings and holes alike: whether a place is inside follows from the number of rings around
 * it. Units of 1e-7 degrees (about a centimetre), lng and lat in turn: half the size of doubles. */
export type Outline = readonly Int32Array[];

/** Packs an area's geometry: the number of rings, the number of positions of each, then the coordinates. */
export function packOutline(geometry: Polygon | MultiPolygon): Buffer {
  const rings = polygonsOf(geometry).flat();
  const positions = rings.reduce((sum, ring) => sum + ring.length, 0);
  const packed = new Int32Array(1 + rings.length + 2 * positions);
  packed[0] = rings.length;
  let at = 1 + rings.length;
  for (const [index, ring] of rings.entries()) {
    packed[1 + index] = ring.length;
    for (const [lng, lat] of ring) {
      packed[at++] = Math.round(lng! * UNITS_PER_DEGREE);
      packed[at++] = Math.round(lat! * UNITS_PER_DEGREE);
    }
  }
  return Buffer.from(packed.buffer);
}

/** The outline that `packOutline` packed. */
export function unpackOutline(bytes: Buffer): Outline {
  // Copied, because the bytes of a row may start at any address.
  const packed = new Int32Array(new Uint8Array(bytes).buffer);
  const rings: Int32Array[] = [];
  let at = 1 + packed[0]!;
  for (let index = 0; index < packed[0]!; index++) {
    const end = at + 2 * packed[1 + index]!;
    rings.push(packed.subarray(at, end));
    at = end;
  }
  return rings;
}

/** Whether a location is in an area, exactly: a place on an edge that two areas share is in exactly one of them. */
export function outlineHolds(outline: Outline, location: Location): boolean {
  const x = location.lng * UNITS_PER_DEGREE;
  const y = location.lat * UNITS_PER_DEGREE;
  let inside = false;
  for (const ring of outline) {
    let xBefore = ring[ring.length - 2]!;
    let yBefore = ring[ring.length - 1]!;
    for (let i = 0; i < ring.length; i += 2) {
      const xHere = ring[i]!;
      const yHere = ring[i + 1]!;
      if (crossesEastward(xBefore, yBefore, xHere, yHere, x, y)) inside = !inside;
      xBefore = xHere;
      yBefore = yHere;
    }
  }
  return inside;
}

/** Distance in metres from a location to the nearest point of an outline. */
export function metersToOutline(outline: Outline, location: Location): number {
  const paths = outline.map((ring) => Float64Array.from(ring, (units) => units / UNITS_PER_DEGREE));
  return metersToShape({ paths, polygons: [] }, location);
}
