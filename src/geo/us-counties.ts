import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Location } from './coordinates.ts';
import { crossesEastward } from './edge-crossing.ts';
import { squaredDistanceFromOrigin } from './segment.ts';

/** A county, parish, borough, municipio or island, as the census codes it. */
export interface County {
  /** Five digits; the first two are the state's. */
  readonly code: string;
  readonly name: string;
  readonly state: State;
}

/** A state, the district or a territory. */
interface State {
  /** Two digits. */
  readonly code: string;
  readonly name: string;
}

type Named = { readonly name: string };

type CountiesAtlas = Topology<{ counties: GeometryCollection<Named>; states: GeometryCollection<Named> }>;

interface Outlined extends County {
  /** ax, ay, bx, by of each edge, in degrees. */
  readonly edges: Float64Array;
  readonly south: number;
  readonly north: number;
}

interface CountyMap {
  /** The counties whose boxes touch each tile of half a degree. */
  readonly tiles: ReadonlyMap<number, readonly Outlined[]>;
}

const TILES_PER_DEGREE = 2;
const COLUMNS = 360 * TILES_PER_DEGREE;

/** A pier or an islet off the drawn coast belongs to the nearest county, up to about 30 km away. */
const FARTHEST_DEGREES = 0.3;

let known: CountyMap | undefined;

/**
 * The county that a location lies in, by the outlines of us-atlas (1:10m, so places within some hundred metres of a border
 * may fall to the neighbour; Connecticut with its eight counties); off the coast the nearest. Null outside the US.
 */
export function countyAt(location: Location): County | null {
  known ??= loadCounties();
  const { lat, lng } = location;
  const here = known.tiles.get(tileOf(lat, lng)) ?? [];
  return here.find((county) => holds(county, lat, lng)) ?? nearest(known, location);
}

function loadCounties(): CountyMap {
  const atlas: CountiesAtlas = createRequire(import.meta.url)('us-atlas/counties-10m.json');
  const states = new Map(
    atlas.objects.states.geometries.map(({ id, properties }) => [
      String(id),
      { code: String(id), name: (properties as Named).name },
    ]),
  );
  const tiles = new Map<number, Outlined[]>();
  for (const { id, properties, geometry } of feature(atlas, atlas.objects.counties).features) {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') continue;
    const rings = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates).flat();
    const edges = Float64Array.from(rings.flatMap(edgesOf));
    const code = String(id);
    const state = states.get(code.slice(0, 2))!;
    const lats = rings.flat().map(([, lat]) => lat!);
    const county = {
      ...{ code, name: properties.name, state, edges },
      ...{ south: Math.min(...lats), north: Math.max(...lats) },
    };
    // By ring, not by county: the Aleutians lie on both sides of the 180th meridian.
    for (const tile of new Set(rings.flatMap(tilesAround))) {
      const others = tiles.get(tile);
      if (others) others.push(county);
      else tiles.set(tile, [county]);
    }
  }
  return { tiles };
}

function edgesOf(ring: readonly (readonly number[])[]): number[] {
  return ring.slice(1).flatMap(([lng, lat], index) => [ring[index]![0]!, ring[index]![1]!, lng!, lat!]);
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

function holds({ edges, south, north }: Outlined, lat: number, lng: number): boolean {
  if (lat < south || lat > north) return false;
  let within = false;
  for (let edge = 0; edge < edges.length; edge += 4) {
    if (crossesEastward(edges, edge, lat, lng)) within = !within;
  }
  return within;
}

function nearest({ tiles }: CountyMap, { lat, lng }: Location): County | null {
  const shrink = Math.cos((lat * Math.PI) / 180);
  const around = [-1, 0, 1].flatMap((row) => [-1, 0, 1].map((column) => tileOf(lat, lng) + row * COLUMNS + column));
  let best: County | null = null;
  let least = FARTHEST_DEGREES ** 2;
  for (const county of new Set(around.flatMap((tile) => tiles.get(tile) ?? []))) {
    const { edges } = county;
    for (let edge = 0; edge < edges.length; edge += 4) {
      const ax = (edges[edge]! - lng) * shrink;
      const bx = (edges[edge + 2]! - lng) * shrink;
      const distance = squaredDistanceFromOrigin(ax, edges[edge + 1]! - lat, bx, edges[edge + 3]! - lat);
      if (distance >= least) continue;
      least = distance;
      best = county;
    }
  }
  return best;
}
