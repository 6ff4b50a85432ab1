import type { MultiPolygon, Polygon, Position } from 'geojson';
import polylabel from 'polylabel';
import { type Location, UNITS_PER_DEGREE } from './coordinates.ts';
import { METERS_PER_DEGREE } from './distance.ts';
import { polygonsOf } from './outline.ts';

/** The width and height of the largest outline that one point stands for, in metres: parcels, campuses and farms, but no area of a ZIP
 * code. */
const LARGEST_OUTLINE = 1_200;

/** A point within an outline, in its widest part and outside its holes; of several polygons, in the roomiest. `too_large` for an outline of
 * which one point says too little, null for one without an inside. A centroid would not do: that of an L or a ring is outside. */
export function innerPoint(geometry: Polygon | MultiPolygon): Location | 'too_large' | null {
  const polygons = polygonsOf(geometry);
  const positions = polygons.flatMap(([outer = []]) => outer);
  const [origin] = positions;
  if (origin === undefined || !positions.every(isPosition)) return null;
  // Metres around the first position, so that both axes count the same.
  const [east, north] = [METERS_PER_DEGREE * Math.cos((origin[1]! * Math.PI) / 180), METERS_PER_DEGREE];
  const metres = ([lng, lat]: Position): [number, number] => [(lng! - origin[0]!) * east, (lat! - origin[1]!) * north];
  const all = positions.map(metres);
  const isLarge = [0, 1].some((axis) => extent(all, axis) > LARGEST_OUTLINE);
  if (isLarge) return 'too_large';
  let best: Position | null = null;
  let most = 0;
  for (const polygon of polygons) {
    if ((polygon[0]?.length ?? 0) < 4) continue;
    const point = polylabel(
      polygon.map((ring) => ring.map(metres)),
      PRECISION,
    );
    if (point.distance > most) [best, most] = [point, point.distance];
  }
  const degrees = (value: number) => Math.round(value * UNITS_PER_DEGREE) / UNITS_PER_DEGREE;
  return best && { lng: degrees(origin[0]! + best[0]! / east), lat: degrees(origin[1]! + best[1]! / north) };
}

/** What the note of a row says whose outline was looked up at such a point, and of one that is too large. */
export const INSIDE_OUTLINE = 'Looked up at a point inside its outline.';
export const TOO_LARGE_OUTLINE = 'The outline is more than about 1 km across: a point is needed.';

/** Metres: far less than the decimals of a place. */
const PRECISION = 0.5;

function isPosition(position: unknown): boolean {
  return Array.isArray(position) && Number.isFinite(position[0]) && Number.isFinite(position[1]);
}

function extent(positions: readonly Position[], axis: number): number {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const position of positions) {
    least = Math.min(least, position[axis]!);
    most = Math.max(most, position[axis]!);
  }
  return most - least;
}
