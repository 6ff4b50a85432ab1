import type { Location } from './coordinates.ts';
import { EdgeIndex } from './edge-index.ts';
import { edgesOf } from './edges.ts';
import neighbours from './foreign-land.json' with { type: 'json' };

/*
 * The land of Canada, Mexico and the British Virgin Islands, the only neighbours within 40 km of the US. foreign-land.json
 * is made from Natural Earth's 1:10m countries by test/geo/foreign-land-source.ts. Near the US it is accurate to about 200 m;
 * farther away only every tenth of a degree is kept.
 */

let land: EdgeIndex | undefined;

/** Kilometres to the nearest foreign shore or border, and whether the location is on foreign land. When none is within
 * about 27 km the distance is infinite and `isInside` false. */
export function foreignLandAt({ lat, lng }: Location): { readonly km: number; readonly isInside: boolean } {
  land ??= new EdgeIndex(edgesOf(neighbours.rings.map(positionsOf)));
  const km = land.km(lat, lng);
  return { km, isInside: Number.isFinite(km) && land.isInside(lat, lng) };
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
