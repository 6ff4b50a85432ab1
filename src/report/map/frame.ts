import { geoAlbersUsa } from 'd3-geo';
import type { Location } from '../../geo/coordinates.ts';
import { countyAt } from '../../geo/us-counties.ts';
import { type PlaneBox, stateBounds } from './state-bounds.ts';
import { TERRITORIES, territoryAt } from './territories.ts';

/** A point of the drawing. */
export type MapPoint = readonly [x: number, y: number];

/** Where the projected plane is drawn: a place of it at ((x - x0) * k, (y - y0) * k). */
export interface PlaneView {
  readonly x0: number;
  readonly y0: number;
  readonly k: number;
}

/** The part of the country that the map shows. */
export interface Frame extends PlaneView {
  /** The whole country, not a part of it. */
  readonly whole: boolean;
  /** The territories that have locations. */
  readonly territories: readonly string[];
  /** Territories below a part of the country. On the whole country they are where the plane has them. */
  readonly insets: readonly Inset[];
}

/** A territory in a box of the drawing. */
interface Inset extends PlaneView {
  readonly territory: string;
  /** On the plane. */
  readonly shows: PlaneBox;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The drawing's size in its own units. */
export const WIDTH = 960;
export const HEIGHT = 600;

/** The projection that us-atlas's projected shapes were made with: equal areas, Alaska and Hawaii moved below. */
const albers = geoAlbersUsa().scale(1300).translate([487.5, 305]);

/** The extent of those shapes, with a margin. */
const WHOLE: Frame = { x0: -66, y0: -11, k: WIDTH / 1032, whole: true, territories: [], insets: [] };

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

/** Where a projected location is drawn. */
export function place(frame: Frame, [x, y]: MapPoint): MapPoint {
  const inset = frame.insets.find(
    ({ shows: { west, east, north, south } }) => x >= west && x <= east && y >= north && y <= south,
  );
  return onDrawing(inset ?? frame, [x, y]);
}

export function onDrawing({ x0, y0, k }: PlaneView, [x, y]: MapPoint): MapPoint {
  return [(x - x0) * k, (y - y0) * k];
}

/**
 * The frame of all locations: the state that all are in, a smaller part of the country if they are close together, else all of it.
 * Territories do not widen it: they are insets below a part of the country.
 *
 * @param stateOf the code of a location's state, null for none; `index` is its place among the locations
 */
export function frameOf(locations: Iterable<Location>, stateOf: StateOf = stateAt): Frame {
  const [states, islands] = [new Extent(), new Extent()];
  const regions = new Set<string>();
  const territories = new Set<string>();
  /** The code of the state of all locations so far; null where they are in several. */
  let state: string | null | undefined;
  // Projecting takes a microsecond, finding a county as much again: neither is needed once all of the country is shown.
  let isWhole = false;
  let index = -1;
  for (const location of locations) {
    index++;
    const territory = territoryAt(location);
    if (territory === undefined && isWhole) continue;
    const point = project(location);
    if (point === null) continue;
    if (territory !== undefined) {
      territories.add(territory.name);
      islands.add(point);
      continue;
    }
    regions.add(regionOf(location));
    states.add(point);
    if (state !== null) {
      const code = stateOf(location, index);
      state = state === undefined || state === code ? code : null;
    }
    // Alaska and Hawaii are insets: what is near them on the plane is not near them on earth.
    isWhole = regions.size > 1 || (state === null && isLarge(states, MARGIN));
  }
  const whole = { ...WHOLE, territories: [...territories] };
  if (regions.size === 0) {
    return territories.size === 1 && !isLarge(islands, MARGIN) ? partFrame(islands, MARGIN, whole) : whole;
  }
  if (isWhole) return whole;
  const around = state === null || state === undefined ? null : stateBounds(state);
  const [near, margin] =
    around !== null && spanOf(states) > spanOf(around) * SMALLEST_PART_OF_STATE
      ? [around, STATE_MARGIN]
      : [states, MARGIN];
  if (near === states && isLarge(near, MARGIN)) return whole;
  return withInsets(partFrame(near, margin, whole, territories.size === 0 ? HEIGHT : HEIGHT - INSETS_HEIGHT));
}

type StateOf = (location: Location, index: number) => string | null;

const stateAt: StateOf = (location) => countyAt(location)?.state.code ?? null;

/** The box around some points of the plane. */
class Extent implements PlaneBox {
  west = Number.POSITIVE_INFINITY;
  north = Number.POSITIVE_INFINITY;
  east = Number.NEGATIVE_INFINITY;
  south = Number.NEGATIVE_INFINITY;

  add([x, y]: MapPoint): void {
    this.west = Math.min(this.west, x);
    this.east = Math.max(this.east, x);
    this.north = Math.min(this.north, y);
    this.south = Math.max(this.south, y);
  }
}

/** @param height of the part of the drawing that holds the box */
function partFrame(box: PlaneBox, margin: number, { territories }: Frame, height = HEIGHT): Frame {
  const { west, north, east, south } = box;
  const width = Math.max(SMALLEST, spanOf(box, height)) * margin;
  const k = WIDTH / width;
  return {
    x0: (west + east - width) / 2,
    y0: (north + south) / 2 - height / k / 2,
    ...{ k, whole: false, territories, insets: [] },
  };
}

/** The boxes of territories below a part of the country, and the space around them. Names stand below the land. */
const INSETS_HEIGHT = 130;
const INSET = { width: 250, height: 114, space: 8, name: 26, within: 8 } as const;

function withInsets(frame: Frame): Frame {
  const insets = TERRITORIES.filter(({ name }) => frame.territories.includes(name)).map(({ name, box }, index) => {
    const left = WIDTH - (index + 1) * (INSET.width + INSET.space);
    const top = HEIGHT - INSET.height - INSET.space;
    const [width, height] = [INSET.width - 2 * INSET.within, INSET.height - INSET.name - 2 * INSET.within];
    const k = Math.min(width / (box.east - box.west), height / (box.south - box.north));
    return {
      ...{ territory: name, shows: box, left, top, width: INSET.width, height: INSET.height, k },
      x0: (box.west + box.east) / 2 - (left + INSET.width / 2) / k,
      y0: (box.north + box.south) / 2 - (top + INSET.within + height / 2) / k,
    };
  });
  return { ...frame, insets };
}

function spanOf({ west, north, east, south }: PlaneBox, height = HEIGHT): number {
  return Math.max(east - west, ((south - north) * WIDTH) / height);
}

function isLarge(box: PlaneBox, margin: number): boolean {
  return Math.max(SMALLEST, spanOf(box)) * margin * WHOLE.k > LARGEST_PART * WIDTH;
}

function regionOf({ lat, lng }: Location): string {
  if (lat > 50) return 'Alaska';
  return lng < -140 ? 'Hawaii' : 'conterminous';
}
