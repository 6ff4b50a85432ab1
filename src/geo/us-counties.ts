import type { MultiPolygon, Polygon } from 'geojson';
import { feature } from 'topojson-client';
import type { Location } from './coordinates.ts';
import { edgesOf, isInside, polygonsOf, squaredDistance } from './edges.ts';
import { censusNames, usAtlas } from './us-atlas.ts';

/** A county, parish, borough, municipio or island, as the census codes it. */
export interface County {
  /** Five digits; the first two are the state's. */
  readonly code: string;
  readonly name: string;
  /** A state, the district or a territory, with its two digits. */
  readonly state: { readonly code: string; readonly name: string };
}

interface CountyOutline extends County {
  readonly edges: Float64Array;
  readonly south: number;
  readonly north: number;
  readonly west: number;
  readonly east: number;
}

/** The counties whose boxes touch each tile of half a degree. */
type CountyTiles = ReadonlyMap<number, readonly CountyOutline[]>;

const TILES_PER_DEGREE = 2;
const COLUMNS = 360 * TILES_PER_DEGREE;

/** A pier or an islet off the drawn coast belongs to the nearest county, up to about 30 km away. */
const FARTHEST_DEGREES = 0.3;

let known: CountyTiles | undefined;

/**
 * The county of a location, from us-atlas (1:10m: within some hundred metres of a border it may be the neighbour; Connecticut
 * has its eight former counties). Off the coast it is the nearest county; null outside the US.
 */
export function countyAt(location: Location): County | null {
  return countyHolding(location) ?? nearest(known!, location);
}

/** The county whose outline holds a location; null off the drawn coast. */
export function countyHolding({ lat, lng }: Location): County | null {
  known ??= loadCounties();
  const here = known.get(tileOf(lat, lng)) ?? [];
  for (const county of here) {
    const { south, north, west, east } = county;
    if (lat >= south && lat <= north && lng >= west && lng <= east && isInside(county.edges, lat, lng)) return county;
  }
  return null;
}

function loadCounties(): CountyTiles {
  const atlas = usAtlas('counties-10m');
  const states = censusNames('states');
  const tiles = new Map<number, CountyOutline[]>();
  for (const { id, properties, geometry } of feature(atlas, atlas.objects.counties).features) {
    const rings = polygonsOf(geometry as Polygon | MultiPolygon).flat();
    const [code, state] = [String(id), String(id).slice(0, 2)];
    const [lngs, lats] = [0, 1].map((at) => rings.flat().map((point) => point[at]!)) as [number[], number[]];
    const county = {
      ...{ code, name: properties.name, state: { code: state, name: states.get(state)! }, edges: edgesOf(rings) },
      ...{ south: Math.min(...lats), north: Math.max(...lats), west: Math.min(...lngs), east: Math.max(...lngs) },
    };
    // By ring, not by county: the Aleutians are on both sides of the 180th meridian.
    for (const tile of new Set(rings.flatMap(tilesAround))) {
      const others = tiles.get(tile);
      if (others) others.push(county);
      else tiles.set(tile, [county]);
    }
  }
  return tiles;
}

function tilesAround(ring: readonly (readonly number[])[]): number[] {
  const lngs = ring.map(([lng]) => lng!);
  const lats = ring.map(([, lat]) => lat!);
  const tiles: number[] = [];
  const [west, east] = [columnOf(Math.min(...lngs)), columnOf(Math.max(...lngs))];
  for (let row = rowOf(Math.min(...lats)); row <= rowOf(Math.max(...lats)); row++) {
    for (let column = west; column <= east; column++) tiles.push(row * COLUMNS + column);
  }
  return tiles;
}

const rowOf = (lat: number): number => Math.floor((lat + 90) * TILES_PER_DEGREE);
const columnOf = (lng: number): number => Math.floor((lng + 180) * TILES_PER_DEGREE);
const tileOf = (lat: number, lng: number): number => rowOf(lat) * COLUMNS + columnOf(lng);

function nearest(tiles: CountyTiles, { lat, lng }: Location): County | null {
  const shrink = Math.cos((lat * Math.PI) / 180);
  const around = [-1, 0, 1].flatMap((row) => [-1, 0, 1].map((column) => tileOf(lat, lng) + row * COLUMNS + column));
  let best: County | null = null;
  let least = FARTHEST_DEGREES ** 2;
  for (const county of new Set(around.flatMap((tile) => tiles.get(tile) ?? []))) {
    const { edges } = county;
    for (let edge = 0; edge < edges.length; edge += 4) {
      const ax = (edges[edge]! - lng) * shrink;
      const bx = (edges[edge + 2]! - lng) * shrink;
      const distance = squaredDistance(ax, edges[edge + 1]! - lat, bx, edges[edge + 3]! - lat);
      if (distance >= least) continue;
      least = distance;
      best = county;
    }
  }
  return best;
}

/** `Miami-Dade, Florida`; '' off every outline. */
export function countyName(county: County | null): string {
  return county === null ? '' : `${county.name}, ${county.state.name}`;
}
