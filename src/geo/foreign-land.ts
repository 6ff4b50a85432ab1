import type { Location } from './coordinates.ts';
import { crossesEastward } from './edge-crossing.ts';
import { EdgeIndex, edgesOf } from './edge-index.ts';
import neighbours from './foreign-land.json' with { type: 'json' };

/*
 * The land of Canada, Mexico and the British Virgin Islands, the only neighbours within 40 km of the US. foreign-land.json
 * is made from Natural Earth's 1:10m countries (test/geo/foreign-land-source.ts), exact to some 200 m as far as it is near the
 * US; elsewhere only the way round is kept.
 */

interface ForeignLand {
  readonly index: EdgeIndex;
  /** The edges that cross each tenth of a degree of latitude. */
  readonly byTenth: ReadonlyMap<number, number[]>;
}

let land: ForeignLand | undefined;

/** Kilometres to the nearest shore or border of foreign land, and whether the location lies in it. Infinite where none is
 * within about 27 km; then it is not in it either, or so far inside that no US place can be meant. */
export function foreignLandAt({ lat, lng }: Location): { readonly km: number; readonly isInside: boolean } {
  land ??= loadForeignLand();
  const km = land.index.km(lat, lng);
  return { km, isInside: Number.isFinite(km) && holds(land, lat, lng) };
}

function loadForeignLand(): ForeignLand {
  const { scale, translate, rings } = neighbours;
  const edges = edgesOf(rings.map((ring) => positionsOf(ring, scale, translate)));
  const byTenth = new Map<number, number[]>();
  for (let edge = 0; edge < edges.length; edge += 4) {
    const [ay, by] = [edges[edge + 1]!, edges[edge + 3]!];
    for (let tenth = tenthOf(Math.min(ay, by)); tenth <= tenthOf(Math.max(ay, by)); tenth++) {
      const others = byTenth.get(tenth);
      if (others) others.push(edge);
      else byTenth.set(tenth, [edge]);
    }
  }
  return { index: new EdgeIndex(edges), byTenth };
}

/** Delta-coded whole steps of the grid, as in TopoJSON. */
function positionsOf(ring: readonly number[], scale: readonly number[], translate: readonly number[]): number[][] {
  const positions: number[][] = [];
  let [x, y] = [0, 0];
  for (let i = 0; i < ring.length; i += 2) {
    x += ring[i]!;
    y += ring[i + 1]!;
    positions.push([x * scale[0]! + translate[0]!, y * scale[1]! + translate[1]!]);
  }
  return positions;
}

function holds({ index: { edges }, byTenth }: ForeignLand, lat: number, lng: number): boolean {
  let within = false;
  for (const edge of byTenth.get(tenthOf(lat)) ?? []) {
    if (crossesEastward(edges, edge, lat, lng)) within = !within;
  }
  return within;
}

function tenthOf(lat: number): number {
  return Math.floor(lat * 10);
}
