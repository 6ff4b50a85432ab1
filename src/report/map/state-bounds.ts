import { createRequire } from 'node:module';
import { geoPath } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

/** Shapes on the projected plane of the map. */
export type ProjectedAtlas = Topology<{
  counties: GeometryCollection;
  states: GeometryCollection<{ name: string }>;
  nation: GeometryCollection;
}>;

/** us-atlas's projected shapes: equal areas, Alaska and Hawaii moved below, without the territories. */
export function projectedAtlas(): ProjectedAtlas {
  return createRequire(import.meta.url)('us-atlas/counties-albers-10m.json') as ProjectedAtlas;
}

/** A box on the projected plane; y grows to the south. */
export interface PlaneBox {
  readonly west: number;
  readonly north: number;
  readonly east: number;
  readonly south: number;
}

/** The box around a state, by its census code; null for a territory. */
export function stateBounds(code: string): PlaneBox | null {
  const atlas = projectedAtlas();
  const state = feature(atlas, atlas.objects.states).features.find(({ id }) => String(id).padStart(2, '0') === code);
  if (state === undefined) return null;
  const [[west, north], [east, south]] = geoPath().bounds(state);
  return { west, north, east, south };
}
