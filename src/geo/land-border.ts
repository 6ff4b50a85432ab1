import type { Position } from 'geojson';
import type { Location } from './coordinates.ts';
import border from './land-border.json' with { type: 'json' };
import { makeOutline, metersToEdges, type Outline, outlineHolds, packRings } from './outline.ts';

/* The border with Canada and Mexico as country-coder draws it (test/geo/land-border-source.ts): in towns and on surveyed lines to some 50 m,
 * where the shapes of 1:10m are off by up to 600. In the country its edges cut the bends of rivers by kilometres: those decide nothing.
 * Of country-coder 5.6.1, ISC License, Copyright (c) 2025 country-coder contributors. */

/** The US by this border, and the edges that decide on which side of it a place lies. */
export interface LandBorder {
  readonly us: Outline;
  readonly towns: Outline;
  readonly surveyed: Outline;
}

/** How near to one of its edges the border decides. */
const DECIDED_METERS = 1_000;
/** How far beyond it a place must be, so that none of the US is refused. */
const CLEAR_METERS = 50;

/** Makes the border from the file beside this one. */
export function makeLandBorder(): LandBorder {
  const { rings, towns, surveyed } = border as unknown as Record<keyof typeof border, Position[][]>;
  return {
    us: makeOutline(packRings(rings)),
    towns: makeOutline(packRings(towns)),
    surveyed: makeOutline(packRings(surveyed)),
  };
}

/** Whether a place lies clearly beyond the border. @param edges those that are asked */
export function isBeyond(
  border: LandBorder,
  location: Location,
  edges: readonly ('towns' | 'surveyed')[],
): boolean {
  const meters = Math.min(
    ...edges.map((name) => metersToEdges(border[name], location, DECIDED_METERS)),
  );
  return (
    meters > CLEAR_METERS && meters < Number.POSITIVE_INFINITY && !outlineHolds(border.us, location)
  );
}

/** Whether the border decides about any place within some metres of a location. */
export function isNearBorder(
  { towns, surveyed }: LandBorder,
  location: Location,
  meters: number,
): boolean {
  const reach = meters + DECIDED_METERS;
  return [towns, surveyed].some(
    (edges) => metersToEdges(edges, location, reach) < Number.POSITIVE_INFINITY,
  );
}
