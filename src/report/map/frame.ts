import { geoAlbersUsa } from 'd3-geo';
import type { Location } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { type PlaneBox, stateBounds } from './state-bounds.ts';
import { territoryAt } from './territories.ts';

/** A point of the drawing. */
export type MapPoint = readonly [x: number, y: number];

/** The part of the country that the map shows: a place of the projected plane is drawn at ((x - x0) * k, (y - y0) * k). */
export interface Frame {
  readonly x0: number;
  readonly y0: number;
  readonly k: number;
  /** The whole country, not a part of it. */
  readonly whole: boolean;
  /** The territories that have locations. */
  readonly territories: readonly string[];
}

/** The drawing's size in its own units. */
export const WIDTH = 960;
export const HEIGHT = 600;

/** The projection that us-atlas's projected shapes were made with: equal areas, Alaska and Hawaii moved below. */
const albers = geoAlbersUsa().scale(1300).translate([487.5, 305]);

/** The extent of those shapes, with a margin. */
const WHOLE: Frame = { x0: -66, y0: -11, k: WIDTH / 1032, whole: true, territories: [] };

/** Locations that span more of the country are shown on all of it. */
const LARGEST_PART = 0.55;

/** About 200 km, so that one town does not fill the map with nothing around it. */
const SMALLEST = 44;

/** Space around the locations, and around a state. */
const MARGIN = 1.24;
const STATE_MARGIN = 1.06;

/** Locations of one state that span less of it are shown from nearby. */
const SMALLEST_PART_OF_STATE = 0.3;

/** The position on the projected plane, territories as insets; null elsewhere. */
export function project(location: Location): MapPoint | null {
  const { lat, lng } = location;
  return albers([lng, lat]) ?? territoryAt(location)?.projection([lng, lat]) ?? null;
}

export function place(frame: Frame, [x, y]: MapPoint): MapPoint {
  return [(x - frame.x0) * frame.k, (y - frame.y0) * frame.k];
}

/** The frame of all locations: the state that all are in, a smaller part of the country if they are close together, else all of it. */
export function frameOf(locations: Iterable<Location>): Frame {
  let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity];
  const regions = new Set<string>();
  const territories = new Set<string>();
  /** The code of the state of all locations so far; null where they are in several. */
  let state: string | null | undefined;
  // Projecting takes a microsecond, finding a county as much again: neither is needed once all of the country is shown.
  let isWhole = false;
  for (const location of locations) {
    const region = regionOf(location);
    if (isWhole && STATES.has(region)) continue;
    const point = project(location);
    if (point === null) continue;
    regions.add(region);
    if (!STATES.has(region)) territories.add(region);
    const [x, y] = point;
    west = Math.min(west, x);
    east = Math.max(east, x);
    north = Math.min(north, y);
    south = Math.max(south, y);
    if (state !== null) {
      const code = countyAt(location)?.state.code ?? null;
      state = state === undefined || state === code ? code : null;
    }
    // Alaska, Hawaii and the territories are insets: what is near them on the plane is not near them on earth.
    isWhole = regions.size > 1 || (state === null && isLarge({ west, north, east, south }, MARGIN));
  }
  const whole = { ...WHOLE, territories: [...territories] };
  if (isWhole || regions.size === 0) return whole;
  const near = { west, north, east, south };
  const around = state === null || state === undefined ? null : stateBounds(state);
  if (around !== null && spanOf(near) > spanOf(around) * SMALLEST_PART_OF_STATE) {
    return partFrame(around, STATE_MARGIN, whole);
  }
  return isLarge(near, MARGIN) ? whole : partFrame(near, MARGIN, whole);
}

function partFrame(box: PlaneBox, margin: number, { territories }: Frame): Frame {
  const { west, north, east, south } = box;
  const width = widthOf(box) * margin;
  const k = WIDTH / width;
  return {
    x0: (west + east - width) / 2,
    y0: (north + south) / 2 - HEIGHT / k / 2,
    k,
    whole: false,
    territories,
  };
}

/** The width of the drawing that holds a box, before margins. */
function widthOf(box: PlaneBox): number {
  return Math.max(SMALLEST, spanOf(box));
}

function spanOf({ west, north, east, south }: PlaneBox): number {
  return Math.max(east - west, ((south - north) * WIDTH) / HEIGHT);
}

function isLarge(box: PlaneBox, margin: number): boolean {
  return widthOf(box) * margin * WHOLE.k > LARGEST_PART * WIDTH;
}

const STATES: ReadonlySet<string> = new Set(['Alaska', 'Hawaii', 'conterminous']);

function regionOf(location: Location): string {
  const territory = territoryAt(location);
  if (territory !== undefined) return territory.name;
  if (location.lat > 50) return 'Alaska';
  return location.lng < -140 ? 'Hawaii' : 'conterminous';
}
