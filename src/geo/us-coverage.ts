import { createRequire } from 'node:module';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Location } from './coordinates.ts';
import { distanceMeters } from './distance.ts';
import { isNearLandBorder } from './land-border.ts';
import { squaredDistanceFromOrigin } from './segment.ts';

/** The shapes are drawn for 1:10m: real piers, harbours and islets lie up to 1.9 km outside of them (Cuttyhunk 1.5, Navy
 * Pier 1.3, Alcatraz 1.9). A place refused here is never asked about, one let through is judged by the service: so wide. */
const COAST_MARGIN_KM = 3;

/** At a land border 3 km would let in the centres of Windsor (0.96 km outside), Matamoros (1.9) and Tijuana (2.9), and none
 * at all would refuse Calais, Maine (0.44). What a neighbour has within this strip (Windsor's waterfront) counts as inside. */
const BORDER_MARGIN_KM = 0.5;

/** Inhabited or visited islands of the states and territories that the shapes leave out. */
const OMITTED_ISLANDS: readonly Location[] = [
  { lat: 43.7645, lng: -69.3154 }, // Monhegan, Maine
  { lat: 43.8638, lng: -68.8886 }, // Matinicus, Maine
  { lat: 44.118, lng: -68.363 }, // Frenchboro, Maine
  { lat: 65.758, lng: -168.953 }, // Little Diomede, Alaska
  { lat: 37.6989, lng: -123.0034 }, // Farallon Islands, California
  { lat: -11.0558, lng: -171.0775 }, // Swains Island, American Samoa
];

const KM_PER_DEGREE = 111.2;
const SOUTH = -15;
const NORTH = 72;
/** 0.05 degrees: small enough that nearly all places fall into a tile that is all inside, 12.5 MB of untouched memory. */
const TILES_PER_DEGREE = 20;
const COLUMNS = 360 * TILES_PER_DEGREE;
const ROWS = (NORTH - SOUTH) * TILES_PER_DEGREE;

const UNKNOWN = 0;
const INSIDE = 1;
const OUTSIDE = 2;
const MIXED = 3;

interface Coverage {
  /** One of the four words above for each tile; filled as places ask. */
  readonly tiles: Uint8Array;
  /** ax, ay, bx, by of each edge of the outlines, in degrees. */
  readonly edges: Float64Array;
  /** The edges that cross each row of tiles: what a ray along the parallel can meet. */
  readonly rowEdges: readonly Int32Array[];
  /** The edges near each mixed tile: what a place in it can be close to. */
  readonly tileEdges: ReadonlyMap<number, number[]>;
}

let coverage: Coverage | undefined;

/** True for places in the 50 states, DC, Puerto Rico, Guam, the US Virgin Islands, American Samoa and the Northern Mariana
 * Islands, and up to 3 km off their coasts (0.5 km at land borders). The shapes are read at the first call (about 50 ms). */
export function isCovered(location: Location): boolean {
  const { lat, lng } = location;
  if (!(lat >= SOUTH && lat < NORTH && lng >= -180 && lng <= 180)) return false;
  coverage ??= loadCoverage();
  const tile = tileOf(lat, lng);
  const known = coverage.tiles[tile];
  if (known === INSIDE) return true;
  if (known === OUTSIDE) return false;
  if (known === MIXED) return isWithin(coverage, lat, lng) || isBeside(coverage, tile, location);
  const inside = isWithin(coverage, lat, lng);
  coverage.tiles[tile] = inside ? INSIDE : OUTSIDE;
  return inside;
}

function loadCoverage(): Coverage {
  const edges = readEdges();
  const tiles = new Uint8Array(COLUMNS * ROWS).fill(UNKNOWN);
  const tileEdges = new Map<number, number[]>();
  const rows: number[][] = Array.from({ length: ROWS }, () => []);
  for (let edge = 0; edge < edges.length; edge += 4) {
    const [ax, ay, bx, by] = [edges[edge]!, edges[edge + 1]!, edges[edge + 2]!, edges[edge + 3]!];
    const [south, north] = [Math.min(ay, by), Math.max(ay, by)];
    for (let row = rowOf(south); row <= rowOf(north); row++) rows[row]!.push(edge);
    forTilesAround([Math.min(ax, bx), south, Math.max(ax, bx), north], (tile) => {
      tiles[tile] = MIXED;
      const near = tileEdges.get(tile);
      if (near) near.push(edge);
      else tileEdges.set(tile, [edge]);
    });
  }
  for (const { lat, lng } of OMITTED_ISLANDS) {
    forTilesAround([lng, lat, lng, lat], (tile) => {
      tiles[tile] = MIXED;
    });
  }
  return { tiles, edges, rowEdges: rows.map((row) => Int32Array.from(row)), tileEdges };
}

function readEdges(): Float64Array {
  const atlas: Topology<{ nation: GeometryCollection }> = createRequire(import.meta.url)('us-atlas/states-10m.json');
  const edges: number[] = [];
  for (const { geometry } of feature(atlas, atlas.objects.nation).features) {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') continue;
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;
    for (const ring of polygons.flat()) {
      for (let i = 1; i < ring.length; i++) edges.push(ring[i - 1]![0]!, ring[i - 1]![1]!, ring[i]![0]!, ring[i]![1]!);
    }
  }
  return Float64Array.from(edges);
}

/** Even-odd rule with a ray to the east; each edge holds its southern end and not its northern one, so that a ray through a
 * vertex is counted once, and holes and islands need no care. */
function isWithin({ edges, rowEdges }: Coverage, lat: number, lng: number): boolean {
  let within = false;
  const crossing = rowEdges[rowOf(lat)]!;
  for (let i = 0; i < crossing.length; i++) {
    const edge = crossing[i]!;
    const ay = edges[edge + 1]!;
    const by = edges[edge + 3]!;
    if (ay > lat === by > lat) continue;
    const ax = edges[edge]!;
    if (lng < ((edges[edge + 2]! - ax) * (lat - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}

function isBeside({ edges, tileEdges }: Coverage, tile: number, location: Location): boolean {
  const { lat, lng } = location;
  const shrink = Math.cos((lat * Math.PI) / 180);
  let nearest = Number.POSITIVE_INFINITY;
  for (const edge of tileEdges.get(tile) ?? []) {
    const ax = (edges[edge]! - lng) * shrink;
    const bx = (edges[edge + 2]! - lng) * shrink;
    nearest = Math.min(nearest, squaredDistanceFromOrigin(ax, edges[edge + 1]! - lat, bx, edges[edge + 3]! - lat));
  }
  const km = Math.sqrt(nearest) * KM_PER_DEGREE;
  if (km <= BORDER_MARGIN_KM) return true;
  if (km <= COAST_MARGIN_KM) return !isNearLandBorder(location);
  return OMITTED_ISLANDS.some((island) => distanceMeters(island, location) <= COAST_MARGIN_KM * 1000);
}

/** Calls `visit` for each tile that the box (west, south, east, north) touches, the margin around it included. */
function forTilesAround(box: readonly [number, number, number, number], visit: (tile: number) => void): void {
  const margin = COAST_MARGIN_KM / KM_PER_DEGREE;
  const [west, south, east, north] = box;
  const widest = margin / Math.cos(((Math.max(Math.abs(south), Math.abs(north)) + margin) * Math.PI) / 180);
  const [first, last] = [columnOf(west - widest), columnOf(east + widest)];
  for (let row = rowOf(south - margin); row <= rowOf(north + margin); row++) {
    for (let column = first; column <= last; column++) visit(row * COLUMNS + column);
  }
}

function tileOf(lat: number, lng: number): number {
  return rowOf(lat) * COLUMNS + columnOf(lng);
}

function rowOf(lat: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((lat - SOUTH) * TILES_PER_DEGREE)));
}

function columnOf(lng: number): number {
  return Math.min(COLUMNS - 1, Math.max(0, Math.floor((lng + 180) * TILES_PER_DEGREE)));
}
