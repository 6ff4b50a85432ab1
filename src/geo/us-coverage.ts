import type { MultiPolygon } from 'geojson';
import { feature } from 'topojson-client';
import type { Topology, Polygon as TopologyPolygon } from 'topojson-specification';
import {
  distanceMeters,
  type Location,
  METERS_PER_DEGREE,
  UNITS_PER_DEGREE,
} from './coordinates.ts';
import foreignTopology from './foreign-land.json' with { type: 'json' };
import { isBeyond, isNearBorder, type LandBorder, makeLandBorder } from './land-border.ts';
import {
  makeOutline,
  metersToEdges,
  type Outline,
  outlineHolds,
  packArea,
  packRings,
  polygonsOf,
  relationToBox,
} from './outline.ts';
import { usAtlas } from './us-atlas.ts';

/** At 1:10m the shapes leave out piers, islets and whole inhabited islands (Treasure Island by 3 km, Monhegan by 15, Desecheo by 22).
 * Over water, a wide margin costs nothing where no neighbour's land is nearer: a location there is on such an island, and the service
 * decides about it. */
export const COAST_MARGIN_METERS = 25_000;

/** Over water, a neighbour's land must be farther than that of the US by as much again as the US is, at most by this: on a river both outlines
 * are off by its width, and Brockville in Ontario lies drawn in the water, 2 m nearer to New York. */
const CLEARLY_NEARER_METERS = 2_000;

/** At a land border, no margin would refuse Calais, Maine (0.44 km outside); a kilometre would accept Windsor. The outlines of both sides
 * are accurate to about 400 m only: on either side of the drawn line, the border that is drawn by hand decides (land-border.ts). */
const BORDER_MARGIN_METERS = 500;
/** The same within the shapes: Fort Frances in Ontario is drawn 0.26 km inside. */
const BORDER_DEPTH_METERS = 400;

/** US islands that the shapes leave out and the margin does not reach, or that are nearer to a neighbour. Atolls have a larger radius. */
const OMITTED_ISLANDS: readonly (Location & { readonly km?: number })[] = [
  { lat: 43.9685, lng: -68.1281 }, // Mount Desert Rock, Maine
  { lat: 41.7367, lng: -83.1061 }, // West Sister Island, Ohio
  { lat: 46.086, lng: -84.013, km: 2 }, // Lime Island, Michigan
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

let nation: Outline | undefined;

/** The outline of the US; read at its first use. */
export function nationOutline(): Outline {
  nation ??= readNation();
  return nation;
}

/** What this module reads and finds once. */
export interface KnownCoverage {
  readonly outline: Outline;
  readonly foreign: Outline;
  readonly border: LandBorder;
  readonly tiles: { large: Tiles; small: Tiles };
}

/** What this module has found, for other threads: finding it again takes each of them 0.1 s and 35 MB. They share what is known of tiles. */
export function knownCoverage(): KnownCoverage {
  return { outline: nationOutline(), foreign: foreignOutline(), border: landBorder(), tiles };
}

/** Takes what another thread has read (`knownCoverage`). */
export function useCoverage(known: KnownCoverage): void {
  nation = known.outline;
  foreignLand = known.foreign;
  border = known.border;
  tiles = known.tiles;
}

function readNation(): Outline {
  const atlas = usAtlas('states-10m');
  const [shape] = feature(atlas, atlas.objects.nation).features;
  return makeOutline(packArea(shape!.geometry as MultiPolygon));
}

/** True for places in the 50 states, DC, Puerto Rico, Guam, the US Virgin Islands, American Samoa and the Northern Mariana Islands, and
 * up to 25 km off their coasts unless foreign land is nearer, or hardly farther. */
export function isCovered(location: Location): boolean {
  // Beyond the globe, the tiles are those of other rows.
  if (!(Math.abs(location.lat) <= 90 && Math.abs(location.lng) <= 180)) return false;
  let coverage = tileCoverage(tiles.large, location);
  if (coverage === MIXED) coverage = tileCoverage(tiles.small, location);
  if (coverage !== MIXED) return coverage === DRAWN || coverage === COVERED;
  return isOnDrawnLand(location) || isOffCoast(location);
}

/** Finds which of some places are covered: 1 in `covered`, else 0. An object for each place was a third of the garbage of a scan.
 * @param covered as long as the places are many */
export function findCovered(
  lats: ArrayLike<number | null>,
  lngs: ArrayLike<number | null>,
  covered: Uint8Array,
): void {
  const { perDegree, columns, coverage } = tiles.large;
  for (let place = 0; place < covered.length; place++) {
    const lat = lats[place] ?? Number.NaN;
    const lng = lngs[place] ?? Number.NaN;
    const isOnGlobe = Math.abs(lat) <= 90 && Math.abs(lng) <= 180;
    const row = Math.floor(lat * perDegree) + 90 * perDegree;
    const tile = row * columns + Math.floor(lng * perDegree) + 180 * perDegree;
    const known = isOnGlobe ? coverage[tile]! : NOT_COVERED;
    const isKnown = known === DRAWN || known === COVERED || known === NOT_COVERED;
    covered[place] = (isKnown ? known !== NOT_COVERED : isCovered({ lat, lng })) ? 1 : 0;
  }
}

/** Whether the shapes hold a place, and the border does not leave it to a neighbour. */
export function isOnDrawnLand(location: Location): boolean {
  if (!outlineHolds(nationOutline(), location)) return false;
  const isDeep = () =>
    metersToEdges(nationOutline(), location, BORDER_DEPTH_METERS) === Number.POSITIVE_INFINITY;
  return !isBeyond(landBorder(), location, ['towns']) || isDeep();
}

/** What is known of each tile of the globe. Most tiles are covered, or not, with all of their area: a look-up is faster than the edges. */
interface Tiles {
  readonly perDegree: number;
  readonly columns: number;
  /** 0: not asked yet. The system gives memory only to the parts that are asked. */
  readonly coverage: Uint8Array;
}

const [DRAWN, COVERED, NOT_COVERED, MIXED] = [1, 2, 3, 4];
/** The small ones are so small that most places at a coast are in a tile that decides. */
let tiles = { large: makeTiles(2), small: makeTiles(20) };

function makeTiles(perDegree: number): Tiles {
  const columns = 360 * perDegree + 1;
  return {
    perDegree,
    columns,
    coverage: new Uint8Array(new SharedArrayBuffer((180 * perDegree + 1) * columns)),
  };
}

function tileCoverage({ perDegree, columns, coverage }: Tiles, { lat, lng }: Location): number {
  const [row, column] = [Math.floor(lat * perDegree), Math.floor(lng * perDegree)];
  const tile = (row + 90 * perDegree) * columns + column + 180 * perDegree;
  if (coverage[tile] === 0) {
    coverage[tile] = coverageAround(
      { lat: (row + 0.5) / perDegree, lng: (column + 0.5) / perDegree },
      0.5 / perDegree,
    );
  }
  return coverage[tile]!;
}

/** Whether all places of a box are within the drawn shapes, covered, not, or not all alike, as far as distances of its middle tell. */
function coverageAround(middle: Location, halfDegrees: number): number {
  const unit = UNITS_PER_DEGREE;
  const relation = relationToBox(
    nationOutline(),
    middle.lng * unit,
    middle.lat * unit,
    halfDegrees * unit,
  );
  // From the middle to a corner, and 2 % more, because a search measures in a plane.
  const radius = 1.02 * Math.SQRT2 * halfDegrees * METERS_PER_DEGREE;
  if (isNearBorder(landBorder(), middle, radius)) return MIXED;
  if (relation === 'holds') return DRAWN;
  if (relation === 'crosses')
    return 2 * radius <= COAST_MARGIN_METERS &&
      !isForeignWithin(middle, clearMeters(2 * radius) + radius)
      ? COVERED
      : MIXED;
  const meters = metersToEdges(nationOutline(), middle, COAST_MARGIN_METERS + radius);
  if (isNearIsland(middle, radius)) return MIXED;
  if (meters === Number.POSITIVE_INFINITY) return NOT_COVERED;
  if (outlineHolds(foreignOutline(), middle)) {
    const isWhole = metersToEdges(foreignOutline(), middle, radius) === Number.POSITIVE_INFINITY;
    return isWhole && meters > BORDER_MARGIN_METERS + radius ? NOT_COVERED : MIXED;
  }
  return meters + radius <= COAST_MARGIN_METERS &&
    !isForeignWithin(middle, clearMeters(meters + radius) + radius)
    ? COVERED
    : MIXED;
}

/** True for places that are surely within the drawn shapes: so far from all coasts and borders that their tile is. */
export function isInland(location: Location): boolean {
  return (
    tileCoverage(tiles.large, location) === DRAWN || tileCoverage(tiles.small, location) === DRAWN
  );
}

/** True for places that are covered but outside the drawn shapes: omitted islands, piers, and the sea. */
export function isOffshore(location: Location): boolean {
  return !outlineHolds(nationOutline(), location) && isOffCoast(location);
}

/** True for places near the US that belong to a neighbour. */
export function isForeign(location: Location): boolean {
  const { meters, isInside } = foreignLandAt(location);
  return (isInside || Number.isFinite(meters)) && !isCovered(location);
}

/** How far a place outside the US can be from it and still be told how far. */
const TOLD_METERS = 50_000;

/** Whole kilometres from the US to a place that is too far off its coast, and not nearer to a neighbour; null for other places, also for
 * those beyond 50 km. */
export function kmOffCoast(location: Location): number | null {
  // Where no place of the tile is near, nothing is measured.
  if (tileCoverage(tiles.large, location) !== MIXED) return null;
  // On a neighbour's land it is nearer to that, wherever the coast is.
  if (outlineHolds(foreignOutline(), location)) return null;
  const meters = metersToEdges(nationOutline(), location, TOLD_METERS);
  const isFar = meters > COAST_MARGIN_METERS && meters < Number.POSITIVE_INFINITY;
  if (!isFar || isForeignWithin(location, Math.min(meters, FARTHEST_METERS))) return null;
  return Math.ceil(meters / 1_000);
}

function isOffCoast(location: Location): boolean {
  // Most places outside the shapes are near the coast, and a short search reads few edges.
  const near = metersToEdges(nationOutline(), location, 2_000);
  // A neighbour's land has a border alone, and no coast of the US.
  if (near > BORDER_MARGIN_METERS && outlineHolds(foreignOutline(), location))
    return isNearIsland(location, 0);
  const meters =
    near < Number.POSITIVE_INFINITY
      ? near
      : metersToEdges(nationOutline(), location, COAST_MARGIN_METERS);
  const isNearCoast = () =>
    meters <= COAST_MARGIN_METERS && !isForeignWithin(location, clearMeters(meters));
  if (meters <= BORDER_MARGIN_METERS)
    return !isBeyond(landBorder(), location, ['towns', 'surveyed']);
  return isNearCoast() || isNearIsland(location, 0);
}

/** Whether an omitted island, as far as its radius goes, is within some metres. */
function isNearIsland(location: Location, meters: number): boolean {
  return OMITTED_ISLANDS.some(({ lat, lng, km = ISLAND_KM }) => {
    const reach = meters + km * 1_000;
    return (
      Math.abs(lat - location.lat) * METERS_PER_DEGREE <= reach &&
      distanceMeters({ lat, lng }, location) <= reach
    );
  });
}

/* The land of Canada, Mexico and the British Virgin Islands, the only neighbours within 40 km of the US. foreign-land.json is made from
 * Natural Earth's 1:10m countries by test/geo/foreign-land-source.ts. Near the US it is accurate to about 200 m; farther away only every
 * tenth of a degree is kept. */

/** The farthest distance to foreign land that is measured. */
export const FARTHEST_METERS = 28_000;

const neighbours = foreignTopology as unknown as Topology<{ land: TopologyPolygon }>;
let foreignLand: Outline | undefined;

/** Metres to the nearest foreign shore or border, infinite when none is within 28 km, and whether the location is on foreign land. */
export function foreignLandAt(location: Location): {
  readonly meters: number;
  readonly isInside: boolean;
} {
  const land = foreignOutline();
  return {
    meters: metersToEdges(land, location, FARTHEST_METERS),
    isInside: outlineHolds(land, location),
  };
}

/** How far foreign land must be from a location whose nearest US land is so far. */
function clearMeters(meters: number): number {
  return meters + Math.min(meters, CLEARLY_NEARER_METERS);
}

function isForeignWithin(location: Location, meters: number): boolean {
  return (
    outlineHolds(foreignOutline(), location) ||
    metersToEdges(foreignOutline(), location, meters) < meters
  );
}

let border: LandBorder | undefined;

function landBorder(): LandBorder {
  border ??= makeLandBorder();
  return border;
}

function foreignOutline(): Outline {
  // Its rings are alike: one polygon has those of all countries.
  foreignLand ??= makeOutline(
    packRings(polygonsOf(feature(neighbours, neighbours.objects.land).geometry).flat()),
  );
  return foreignLand;
}
