import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Location } from '../../geo/coordinates.ts';
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

/** One polygon of a county with the box around it: south, west, north, east. */
interface LandPart {
  readonly rings: readonly Position[][];
  readonly box: readonly [south: number, west: number, north: number, east: number];
}

/** The counties, and the county that a place lies in: what is land, and whose. */
export interface Land {
  readonly counties: readonly SampleCounty[];
  countyAt(location: Location): SampleCounty | null;
}

/** Reads the county boundaries of the us-atlas package: the Census Bureau's, simplified, with DC and the territories. */
export function readLand(): Land {
  const file = fileURLToPath(import.meta.resolve('us-atlas/counties-10m.json'));
  const topology = JSON.parse(readFileSync(file, 'utf8')) as Topology<{
    counties: GeometryCollection<{ name: string }>;
  }>;
  const counties = feature(topology, topology.objects.counties).features.map(({ id, properties, geometry }) =>
    countyOf(String(id), properties.name, geometry as Polygon | MultiPolygon),
  );
  counties.sort((a, b) => (a.geoid < b.geoid ? -1 : 1));
  return { counties, countyAt: lookup(counties) };
}

/** A place inside the county's largest part, any as likely as the other. */
export function placeIn(county: SampleCounty, random: Random): Location {
  const [largest] = county.parts;
  const [south, west, north, east] = largest.box;
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const place = { lat: between(random, south, north), lng: between(random, west, east) };
    if (contains(largest, place)) return place;
  }
  return county.centre;
}

function countyOf(geoid: string, name: string, geometry: Polygon | MultiPolygon): SampleCounty {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
  const parts = polygons
    .map((rings) => ({ rings, box: boxOf(rings[0]!), ...shoelace(rings[0] as [number, number][]) }))
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
  // Falls Church, Virginia, is so small that its simplified outline has collapsed into a line.
  if (twice === 0) return { area: 0, centre: { lat: y0, lng: x0 } };
  return {
    area: Math.abs(twice / 2),
    centre: { lat: y0 + sumY / (3 * twice), lng: x0 + sumX / (3 * twice) },
  };
}

const CELLS_PER_DEGREE = 4;

/** A county finder over a grid of quarter degrees, each with the county parts whose box touches it. */
function lookup(counties: readonly SampleCounty[]): Land['countyAt'] {
  const cells = new Map<number, { county: SampleCounty; part: LandPart }[]>();
  const key = (row: number, column: number) => row * 10_000 + column;
  const index = (degrees: number) => Math.floor(degrees * CELLS_PER_DEGREE);
  for (const county of counties) {
    for (const part of county.parts) {
      const [south, west, north, east] = part.box;
      for (let row = index(south); row <= index(north); row += 1) {
        for (let column = index(west); column <= index(east); column += 1) {
          const entry = { county, part };
          const cell = cells.get(key(row, column));
          if (cell) cell.push(entry);
          else cells.set(key(row, column), [entry]);
        }
      }
    }
  }
  return (location) => {
    const candidates = cells.get(key(index(location.lat), index(location.lng))) ?? [];
    return candidates.find(({ part }) => contains(part, location))?.county ?? null;
  };
}

/** Even-odd rule over all rings, so that holes are outside. */
function contains({ rings, box }: LandPart, { lat, lng }: Location): boolean {
  if (lat < box[0] || lng < box[1] || lat > box[2] || lng > box[3]) return false;
  let inside = false;
  for (const ring of rings as [number, number][][]) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i, i += 1) {
      const [xi, yi] = ring[i]!;
      const [xj, yj] = ring[j]!;
      if (yi > lat !== yj > lat && lng < ((xj - xi) * (lat - yi)) / (yj - yi) + xi) inside = !inside;
    }
  }
  return inside;
}
