import type { MultiPolygon, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { Location } from '../../geo/coordinates.ts';
import { polygonsOf } from '../../geo/edges.ts';
import { type Outline, outlineHolds, outlineOf, packRings } from '../../geo/outline.ts';
import { usAtlas } from '../../geo/us-atlas.ts';
import { countyHolding } from '../../geo/us-counties.ts';
import { stateOf } from '../tables/states.ts';
import { between, type Random } from './random.ts';

export interface SampleCounty {
  readonly geoid: string;
  readonly name: string;
  readonly state: string;
  readonly geometry: Polygon | MultiPolygon;
  /** Centre of the largest part. */
  readonly centre: Location;
  /** The largest first. */
  readonly parts: readonly [LandPart, ...LandPart[]];
}

/** One polygon of a county: its outline, and its box as south, west, north, east. */
interface LandPart {
  readonly outline: () => Outline;
  readonly box: readonly [south: number, west: number, north: number, east: number];
}

/** The counties of the US; a place in none of them is not on land. */
export interface Land {
  readonly counties: readonly SampleCounty[];
  countyAt(location: Location): SampleCounty | null;
}

/** Reads the county boundaries of the us-atlas package, with DC and the territories. */
export function readLand(): Land {
  const atlas = usAtlas('counties-10m');
  const counties = feature(atlas, atlas.objects.counties).features.map(({ id, properties, geometry }) =>
    countyOf(String(id), properties.name, geometry as Polygon | MultiPolygon),
  );
  counties.sort((a, b) => (a.geoid < b.geoid ? -1 : 1));
  const byCode = new Map(counties.map((county) => [county.geoid, county]));
  return { counties, countyAt: (location) => byCode.get(countyHolding(location)?.code ?? '') ?? null };
}

/** A random place in the county's largest part, uniformly distributed. */
export function placeIn(county: SampleCounty, random: Random): Location {
  const [largest] = county.parts;
  const [south, west, north, east] = largest.box;
  const outline = largest.outline();
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const place = { lat: between(random, south, north), lng: between(random, west, east) };
    if (outlineHolds(outline, place)) return place;
  }
  return county.centre;
}

function countyOf(geoid: string, name: string, geometry: Polygon | MultiPolygon): SampleCounty {
  const parts = polygonsOf(geometry)
    .map((rings) => ({
      outline: () => outlineOf(packRings(rings)),
      box: boxOf(rings[0]!),
      ...shoelace(rings[0] as [number, number][]),
    }))
    .sort((a, b) => b.area - a.area);
  const [{ centre }] = parts as [(typeof parts)[0]];
  return { geoid, name, state: stateOf(geoid), geometry, centre, parts: parts as unknown as SampleCounty['parts'] };
}

function boxOf(ring: readonly Position[]): LandPart['box'] {
  let [south, west, north, east] = [90, 180, -90, -180];
  for (const [lng, lat] of ring as [number, number][]) {
    south = Math.min(south, lat);
    north = Math.max(north, lat);
    west = Math.min(west, lng);
    east = Math.max(east, lng);
  }
  return [south, west, north, east];
}

/** Area in square degrees and centroid of a ring, by the shoelace formula. */
function shoelace(ring: readonly [number, number][]): { area: number; centre: Location } {
  const [x0, y0] = ring[0]!;
  let [twice, sumX, sumY] = [0, 0, 0];
  for (let i = 1; i < ring.length; i += 1) {
    const [ax, ay] = [ring[i - 1]![0] - x0, ring[i - 1]![1] - y0];
    const [bx, by] = [ring[i]![0] - x0, ring[i]![1] - y0];
    const cross = ax * by - bx * ay;
    twice += cross;
    sumX += (ax + bx) * cross;
    sumY += (ay + by) * cross;
  }
  // The simplified outline of Falls Church, Virginia, has collapsed into a line.
  if (twice === 0) return { area: 0, centre: { lat: y0, lng: x0 } };
  return {
    area: Math.abs(twice / 2),
    centre: { lat: y0 + sumY / (3 * twice), lng: x0 + sumX / (3 * twice) },
  };
}
