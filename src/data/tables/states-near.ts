import { feature } from 'topojson-client';
import { type Box, boxOfGeometry, widenedBox } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { packRings, polygonsOf } from '../../geo/outline.ts';
import { OutlineIndex } from '../../geo/outline-index.ts';
import { usAtlas } from '../../geo/us-atlas.ts';
import { stateAt } from './record-states.ts';
import { stateOf } from './states.ts';

let loaded: ReturnType<typeof readStates> | undefined;

function loadStates() {
  loaded ??= readStates();
  return loaded;
}

/** The states within a distance of a location, as two letters: a search near a border needs both sides. */
export function statesWithin(location: Location, meters: number): string[] {
  const { states, outlines } = loadStates();
  const near = new Set(outlines.within(location, meters).map((index) => states[index]!));
  for (const state of stateAt(location)) near.add(state);
  return [...near].sort();
}

/** One location is tested per square of this size, in degrees. */
const SQUARE = 0.1;
/** From the middle of a square to its corner, at the equator. */
const HALF_SQUARE_METERS = 7_900;

/** The states within a distance of any location. States up to 16 km farther away may be included. */
export function statesNear(locations: Iterable<Location>, meters: number): string[] {
  const states = new Set<string>();
  const squares = new Set<string>();
  for (const { lat, lng } of locations) {
    const square = { lat: Math.round(lat / SQUARE) * SQUARE, lng: Math.round(lng / SQUARE) * SQUARE };
    const name = `${square.lat} ${square.lng}`;
    if (squares.has(name)) continue;
    squares.add(name);
    for (const state of statesWithin(square, meters + HALF_SQUARE_METERS)) states.add(state);
    for (const state of stateAt({ lat, lng })) states.add(state);
  }
  return [...states].sort();
}

/** The farthest that a place lies off the outlines of its state: the coast has a margin of 25 km, the Farallon Islands are 32 km away. */
const OFFSHORE_METERS = 35_000;

/** The boxes that contain everything within `meters` of a state; Alaska has two, one on each side of the 180th meridian. */
export function boxesOfState(state: string, meters: number): Box[] {
  const { states, boxes } = loadStates();
  return boxes.filter((_, index) => states[index] === state).map((box) => widenedBox(box, meters + OFFSHORE_METERS));
}

function readStates() {
  const atlas = usAtlas('states-10m');
  const sides = feature(atlas, atlas.objects.states).features.flatMap(({ id, geometry }) => {
    if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return [];
    const rings = polygonsOf(geometry).flat();
    return [rings.filter((ring) => ring[0]![0]! < 0), rings.filter((ring) => ring[0]![0]! >= 0)]
      .filter((side) => side.length > 0)
      .map((side) => ({ state: stateOf(String(id)), side }));
  });
  const boxes = sides.map(({ side }) => boxOfGeometry({ type: 'Polygon', coordinates: side })!);
  const rings = sides.map(({ side }) => packRings(side));
  const outlines = new OutlineIndex(boxes, (index) => rings[index]!);
  return { states: sides.map(({ state }) => state), boxes, outlines };
}
