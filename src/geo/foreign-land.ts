import type { Location } from './coordinates.ts';
import neighbours from './foreign-land.json' with { type: 'json' };
import { metersToEdges, type Outline, outlineHolds, outlineOf, packRings } from './outline.ts';

/* The land of Canada, Mexico and the British Virgin Islands, the only neighbours within 40 km of the US. foreign-land.json is made from
 * Natural Earth's 1:10m countries by test/geo/foreign-land-source.ts. Near the US it is accurate to about 200 m; farther away only every
 * tenth of a degree is kept. */

/** The farthest distance that is measured. */
export const FARTHEST_METERS = 28_000;

let land: Outline | undefined;

/** Kilometres to the nearest foreign shore or border, infinite when none is within 28 km, and whether the location is on foreign land. */
export function foreignLandAt(location: Location): { readonly km: number; readonly isInside: boolean } {
  land ??= outlineOf(packRings(neighbours.rings.map(positionsOf)));
  const km = metersToEdges(land, location, FARTHEST_METERS) / 1_000;
  return { km, isInside: outlineHolds(land, location) };
}

/** Decodes delta-coded grid steps, as in TopoJSON. */
function positionsOf(ring: readonly number[]): number[][] {
  const { scale, translate } = neighbours;
  const positions: number[][] = [];
  let [x, y] = [0, 0];
  for (let i = 0; i < ring.length; i += 2) {
    x += ring[i]!;
    y += ring[i + 1]!;
    positions.push([x * scale[0]! + translate[0]!, y * scale[1]! + translate[1]!]);
  }
  return positions;
}
