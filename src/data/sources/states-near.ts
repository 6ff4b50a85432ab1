import { feature } from 'topojson-client';
import type { Location } from '../../geo/coordinates.ts';
import { edgesOf, KM_PER_DEGREE, polygonsOf, squaredDistance } from '../../geo/edges.ts';
import { usAtlas } from '../../geo/us-atlas.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { type Box, widenedBox } from '../tables/bounding-boxes.ts';
import { stateOf } from '../tables/states.ts';

interface StateOutline {
  readonly state: string;
  /** ax, ay, bx, by of each edge, in degrees. */
  readonly edges: Float64Array;
  readonly box: Box;
}

/** One location is tested per square of this size, in degrees. */
const SQUARE = 0.1;
/** Half the diagonal of a square. */
const SQUARE_KM = (SQUARE / Math.SQRT2) * KM_PER_DEGREE;

let known: readonly StateOutline[] | undefined;

/**
 * The states within a distance of any location, as two letters: a search near a border needs both sides. States up to 16 km
 * farther away may be included.
 */
export function statesNear(locations: Iterable<Location>, kilometres: number): string[] {
  known ??= loadOutlines();
  const states = new Set<string>();
  const squares = new Set<string>();
  for (const { lat, lng } of locations) {
    const square = { lat: Math.round(lat / SQUARE) * SQUARE, lng: Math.round(lng / SQUARE) * SQUARE };
    const name = `${square.lat} ${square.lng}`;
    if (squares.has(name)) continue;
    squares.add(name);
    const county = countyAt({ lat, lng });
    if (county !== null) states.add(stateOf(county.code));
    for (const outline of known) {
      if (!states.has(outline.state) && isWithin(outline, square, kilometres + SQUARE_KM)) states.add(outline.state);
    }
  }
  return [...states].sort();
}

/** A place may lie so far off the drawn outlines of its state: 25 km at most counts as the coast, and the Farallon Islands are 32 km away. */
const OFFSHORE_METERS = 35_000;

/** The boxes that hold everything within `meters` of a place of a state; Alaska has two, one on each side of the 180th meridian, on whose other side
 * lies the other box. */
export function boxesOfState(state: string, meters: number): Box[] {
  known ??= loadOutlines();
  return known.filter((outline) => outline.state === state).map(({ box }) => widenedBox(box, meters + OFFSHORE_METERS));
}

function isWithin({ edges, box }: StateOutline, { lat, lng }: Location, kilometres: number): boolean {
  const degrees = kilometres / KM_PER_DEGREE;
  if (lat < box.minLat - degrees || lat > box.maxLat + degrees) return false;
  const shrink = Math.cos((lat * Math.PI) / 180);
  if (lng < box.minLng - degrees / shrink || lng > box.maxLng + degrees / shrink) return false;
  for (let edge = 0; edge < edges.length; edge += 4) {
    const ax = (edges[edge]! - lng) * shrink;
    const bx = (edges[edge + 2]! - lng) * shrink;
    if (squaredDistance(ax, edges[edge + 1]! - lat, bx, edges[edge + 3]! - lat) < degrees ** 2) return true;
  }
  return false;
}

function loadOutlines(): StateOutline[] {
  const atlas = usAtlas('states-10m');
  return feature(atlas, atlas.objects.states).features.flatMap(({ id, geometry }) => {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return [];
    const rings = polygonsOf(geometry).flat();
    const [west, east] = [rings.filter((ring) => ring[0]![0]! < 0), rings.filter((ring) => ring[0]![0]! >= 0)];
    return [west, east]
      .filter((side) => side.length > 0)
      .map((side) => ({ state: stateOf(String(id)), edges: edgesOf(side), box: boxOf(side.flat()) }));
  });
}

function boxOf(positions: readonly (readonly number[])[]): Box {
  const box = { minLat: 90, maxLat: -90, minLng: 180, maxLng: -180 };
  for (const [lng, lat] of positions) {
    box.minLat = Math.min(box.minLat, lat!);
    box.maxLat = Math.max(box.maxLat, lat!);
    box.minLng = Math.min(box.minLng, lng!);
    box.maxLng = Math.max(box.maxLng, lng!);
  }
  return box;
}
