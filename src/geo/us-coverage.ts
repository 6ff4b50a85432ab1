import type { MultiPolygon } from 'geojson';
import { feature } from 'topojson-client';
import type { Location } from './coordinates.ts';
import { distanceMeters, METERS_PER_DEGREE } from './distance.ts';
import { polygonsOf } from './edges.ts';
import { FARTHEST_METERS, foreignLandAt } from './foreign-land.ts';
import { metersToEdges, type Outline, outlineHolds, outlineOf, type PackedRings, packRings } from './outline.ts';
import { usAtlas } from './us-atlas.ts';

/** At 1:10m the shapes leave out piers, islets and whole inhabited islands (Treasure Island by 3 km, Monhegan by 15, Desecheo by 22).
 * Over water, a wide margin costs nothing where no neighbour's land is nearer: a location there is on such an island, and the service
 * decides about it. */
const COAST_MARGIN_KM = 25;

const KM_PER_DEGREE = METERS_PER_DEGREE / 1_000;

/** At a land border, no margin would refuse Calais, Maine (0.44 km outside); a kilometre would accept Windsor. Places
 * of a neighbour within this strip count as inside: the outlines of both sides are accurate to about 400 m only. */
const BORDER_MARGIN_KM = 0.5;

/** US islands that the shapes leave out and the margin does not reach, or that are nearer to a neighbour. Atolls have a larger radius. */
const OMITTED_ISLANDS: readonly (Location & { readonly km?: number })[] = [
  { lat: 43.9685, lng: -68.1281 }, // Mount Desert Rock, Maine
  { lat: 41.7367, lng: -83.1061 }, // West Sister Island, Ohio
  { lat: 48.262, lng: -88.26 }, // Gull Islands, Michigan
  { lat: 47.1833, lng: -87.225 }, // Stannard Rock, Michigan
  { lat: 37.6989, lng: -123.0034 }, // Farallon Islands, California
  { lat: 37.765, lng: -123.1 }, // North Farallon Islands, California
  { lat: 59.435, lng: -146.33 }, // Middleton Island, Alaska
  { lat: 53.93, lng: -168.03 }, // Bogoslof Island, Alaska
  { lat: 64.973, lng: -168.064 }, // King Island, Alaska
  { lat: 65.623, lng: -168.744 }, // Fairway Rock, Alaska
  { lat: 65.753, lng: -168.935 }, // Little Diomede, Alaska
  { lat: 21.655, lng: -160.543, km: 6 }, // Kaula, Hawaii
  { lat: 23.061, lng: -161.924 }, // Nihoa, Hawaii
  { lat: 23.575, lng: -164.7 }, // Necker Island, Hawaii
  { lat: 23.76, lng: -166.2, km: 20 }, // French Frigate Shoals, Hawaii
  { lat: 24.999, lng: -167.999 }, // Gardner Pinnacles, Hawaii
  { lat: 25.77, lng: -171.733 }, // Laysan, Hawaii
  { lat: 26.064, lng: -173.966 }, // Lisianski Island, Hawaii
  { lat: 27.86, lng: -175.85, km: 20 }, // Pearl and Hermes Atoll, Hawaii
  { lat: 28.394, lng: -178.294 }, // Kure Atoll, Hawaii
  { lat: -11.0558, lng: -171.0775 }, // Swains Island, American Samoa
  { lat: -14.546, lng: -168.152 }, // Rose Atoll, American Samoa
  { lat: 16.708, lng: 145.78 }, // Sarigan, Northern Mariana Islands
  { lat: 16.88, lng: 145.85 }, // Zealandia Bank, Northern Mariana Islands
  { lat: 17.31, lng: 145.84 }, // Guguan, Northern Mariana Islands
  { lat: 19.69, lng: 145.4 }, // Asuncion, Northern Mariana Islands
  { lat: 20.022, lng: 145.222 }, // Maug, Northern Mariana Islands
  { lat: 20.545, lng: 144.893 }, // Farallon de Pajaros, Northern Mariana Islands
];
const ISLAND_KM = 3;

const SOUTH = -15;
const NORTH = 72;
/** 0.05 degrees: small enough that nearly all places are in a tile that is all inside; 12.5 MB, most of it never
 * touched. */
const TILES_PER_DEGREE = 20;
const TILE_KM = KM_PER_DEGREE / TILES_PER_DEGREE;
/** From the middle of a tile to its corner, at the equator. */
const HALF_TILE_KM = TILE_KM * Math.SQRT1_2;
const COLUMNS = 360 * TILES_PER_DEGREE;
const ROWS = (NORTH - SOUTH) * TILES_PER_DEGREE;

const UNKNOWN = 0;
const INSIDE = 1;
const OUTSIDE = 2;
/** An edge crosses the tile. */
const MIXED = 3;
/** Outside the shapes, with an edge within the margin. */
const OFFSHORE = 4;
/** Like OFFSHORE, and the whole tile is nearer to the US, or all of it is foreign land. */
const NEAR_COAST = 5;
const FOREIGN = 6;
/** Within the radius of an omitted island, with no edge near. */
const ISLAND = 7;

/** The coverage as plain data in shared memory, which threads share. */
export interface SharedCoverage {
  /** One of the values above for each tile, computed by the first thread that needs it. */
  readonly tiles: Uint8Array;
  readonly rings: PackedRings;
}

interface Coverage extends SharedCoverage {
  /** Made when a tile needs it. */
  outline: Outline | null;
}

let loaded: Coverage | undefined;

/** Shares the coverage with another thread, which saves it 60 ms and 30 MB. */
export function sharedCoverage(): SharedCoverage {
  loaded ??= loadCoverage();
  const { tiles, rings } = loaded;
  return { tiles, rings };
}

/** Takes the coverage that another thread has loaded. */
export function useCoverage(shared: SharedCoverage): void {
  loaded ??= { ...shared, outline: null };
}

function outlineIn(coverage: Coverage): Outline {
  coverage.outline ??= outlineOf(coverage.rings);
  return coverage.outline;
}

const isInside = (coverage: Coverage, location: Location): boolean => outlineHolds(outlineIn(coverage), location);

/** Kilometres to the nearest edge; infinite when none is near. */
const kmToEdge = (coverage: Coverage, location: Location): number =>
  metersToEdges(outlineIn(coverage), location, FARTHEST_METERS) / 1_000;

/** True for places in the 50 states, DC, Puerto Rico, Guam, the US Virgin Islands, American Samoa and the Northern Mariana Islands, and
 * up to 25 km off their coasts unless foreign land is nearer. The first call reads the shapes (about 50 ms). */
export function isCovered(location: Location): boolean {
  const coverage = coverageFor(location);
  if (coverage === null) return false;
  const value = tileValue(coverage, location);
  if (value === INSIDE) return true;
  if (value === OUTSIDE || value === FOREIGN) return false;
  if (value === MIXED && isInside(coverage, location)) return true;
  return isOffCoast(coverage, value, location);
}

/** True for places that are covered but outside the drawn shapes: omitted islands, piers, and the sea. */
export function isOffshore(location: Location): boolean {
  const coverage = coverageFor(location);
  if (coverage === null || isInside(coverage, location)) return false;
  return isOffCoast(coverage, tileValue(coverage, location), location);
}

/** True for places near the US that belong to a neighbour. */
export function isForeign(location: Location): boolean {
  const { km, isInside: isOnForeignLand } = foreignLandAt(location);
  return (isOnForeignLand || Number.isFinite(km)) && !isCovered(location);
}

function coverageFor({ lat, lng }: Location): Coverage | null {
  if (!(lat >= SOUTH && lat < NORTH && lng >= -180 && lng <= 180)) return null;
  loaded ??= loadCoverage();
  return loaded;
}

function tileValue(coverage: Coverage, location: Location): number {
  const { lat, lng } = location;
  const tile = rowOf(lat) * COLUMNS + columnOf(lng);
  const cached = coverage.tiles[tile]!;
  if (cached !== UNKNOWN) return cached;
  if (isInside(coverage, location)) {
    markInside(coverage, tile);
    return INSIDE;
  }
  const value = valueOffCoast(coverage, rowOf(lat), columnOf(lng));
  coverage.tiles[tile] = value;
  return value;
}

/** Marks a tile and its unknown neighbours in the row: no edge crosses them, so they are inside like it. Testing each of them took a
 * tenth of a scan. */
function markInside({ tiles }: Coverage, tile: number): void {
  const first = tile - (tile % COLUMNS);
  let from = tile;
  while (from > first && tiles[from - 1] === UNKNOWN) from--;
  let to = tile + 1;
  while (to < first + COLUMNS && tiles[to] === UNKNOWN) to++;
  tiles.fill(INSIDE, from, to);
}

/** The value of a tile outside the shapes. Where the centre decides for the whole tile, its places need no check. */
function valueOffCoast(coverage: Coverage, row: number, column: number): number {
  if (!isNearMixed(coverage, row, column)) return OUTSIDE;
  const lat = SOUTH + (row + 0.5) / TILES_PER_DEGREE;
  const lng = -180 + (column + 0.5) / TILES_PER_DEGREE;
  const foreign = foreignLandAt({ lat, lng });
  const km = kmToEdge(coverage, { lat, lng });
  const isDeepInside = foreign.isInside && foreign.km > HALF_TILE_KM && km > HALF_TILE_KM + BORDER_MARGIN_KM;
  if (isDeepInside) return FOREIGN;
  return !foreign.isInside && foreign.km > km + 2 * HALF_TILE_KM ? NEAR_COAST : OFFSHORE;
}

/** Whether a place outside the shapes is covered. */
function isOffCoast(coverage: Coverage, value: number, location: Location): boolean {
  if (value === NEAR_COAST) return true;
  if (value === MIXED || value === OFFSHORE) {
    const foreign = foreignLandAt(location);
    if (!foreign.isInside && foreign.km === Number.POSITIVE_INFINITY) return true;
    const km = kmToEdge(coverage, location);
    if (km <= BORDER_MARGIN_KM || (!foreign.isInside && km <= foreign.km)) return true;
  }
  return OMITTED_ISLANDS.some(
    ({ lat, lng, km = ISLAND_KM }) =>
      Math.abs(lat - location.lat) * KM_PER_DEGREE <= km && distanceMeters({ lat, lng }, location) <= km * 1_000,
  );
}

function loadCoverage(): Coverage {
  const atlas = usAtlas('states-10m');
  const rings = feature(atlas, atlas.objects.nation).features.flatMap(({ geometry }) =>
    polygonsOf(geometry as MultiPolygon).flat(),
  );
  const packed = packRings(rings);
  const shared = new Int32Array(new SharedArrayBuffer(packed.byteLength));
  shared.set(packed);
  const tiles = new Uint8Array(new SharedArrayBuffer(COLUMNS * ROWS));
  for (const { lat, lng, km = ISLAND_KM } of OMITTED_ISLANDS) markAround(tiles, ISLAND, [lng, lat, lng, lat], km);
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [[ax, ay], [bx, by]] = [ring[i - 1], ring[i]] as [[number, number], [number, number]];
      markAround(tiles, MIXED, [Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by)], 0);
    }
  }
  return { tiles, rings: shared, outline: null };
}

/** Whether a tile is within the margin of one that an edge crosses, measured between centres: exact to half a tile. */
function isNearMixed({ tiles }: Coverage, row: number, column: number): boolean {
  const reach = COAST_MARGIN_KM / TILE_KM;
  const shrink = Math.cos(((SOUTH + (row + 0.5) / TILES_PER_DEGREE) * Math.PI) / 180);
  for (let dy = -Math.floor(reach); dy <= reach; dy++) {
    if (row + dy < 0 || row + dy >= ROWS) continue;
    const widest = Math.floor(Math.sqrt(reach ** 2 - dy ** 2) / shrink);
    for (let dx = -widest; dx <= widest; dx++) {
      // The Aleutians are on both sides of the 180th meridian.
      const x = (column + dx + COLUMNS) % COLUMNS;
      if (tiles[(row + dy) * COLUMNS + x] === MIXED) return true;
    }
  }
  return false;
}

/** Marks each tile that the box (west, south, east, north) and the margin around it touch. */
function markAround(
  tiles: Uint8Array,
  value: number,
  [west, south, east, north]: readonly [number, number, number, number],
  marginKm: number,
): void {
  const margin = marginKm / KM_PER_DEGREE;
  const widest = margin / Math.cos(((Math.max(Math.abs(south), Math.abs(north)) + margin) * Math.PI) / 180);
  const [first, last] = [columnOf(west - widest), columnOf(east + widest)];
  for (let row = rowOf(south - margin); row <= rowOf(north + margin); row++) {
    tiles.fill(value, row * COLUMNS + first, row * COLUMNS + last + 1);
  }
}

function rowOf(lat: number): number {
  return Math.min(ROWS - 1, Math.max(0, Math.floor((lat - SOUTH) * TILES_PER_DEGREE)));
}

function columnOf(lng: number): number {
  return Math.min(COLUMNS - 1, Math.max(0, Math.floor((lng + 180) * TILES_PER_DEGREE)));
}
