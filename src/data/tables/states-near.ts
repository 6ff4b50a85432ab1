import type { Geometry, Position } from 'geojson';
import { feature } from 'topojson-client';
import { type Box, boxOfGeometry, widenedBox } from '../../geo/bounding-boxes.ts';
import type { Location } from '../../geo/coordinates.ts';
import { packRings, polygonsOf } from '../../geo/outline.ts';
import { OutlineIndex } from '../../geo/outline-index.ts';
import { usAtlas } from '../../geo/us-atlas.ts';
import { countyAt } from '../../geo/us-counties.ts';
import type { SiteRecord } from './records.ts';
import { stateNamed, stateOf } from './states.ts';

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
    const square = {
      lat: Math.round(lat / SQUARE) * SQUARE,
      lng: Math.round(lng / SQUARE) * SQUARE,
    };
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
  return boxes
    .filter((_, index) => states[index] === state)
    .map((box) => widenedBox(box, meters + OFFSHORE_METERS));
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

/** The states of a record: several for a line or outline across a border, none outside the US. */
export type StatesOf = (record: unknown) => readonly string[];

/** The agencies' names for the state column, as `plain` writes them. */
const STATE_NAMES =
  'state statecode stateabbrv stateabbr statename statenm st locstate poostate attrpoostate statefp stateusps stusps';
const STATE_COLUMNS = new Set(STATE_NAMES.split(' '));

/** Makes the function that finds the states of a layer's records: by the agency's state column, or else by the place (at 1:10m: near a
 * border it may be the neighbour). A line or outline belongs to the state that the agency names and to those that it touches. */
export function createFeatureStates(): StatesOf {
  // Records share their columns, so a hundred names are searched once.
  let column = '';
  return (record) => {
    const { geometry, properties } = record as SiteRecord;
    if (!Object.hasOwn(properties, column)) {
      column = Object.keys(properties).find((name) => STATE_COLUMNS.has(plain(name))) ?? '';
    }
    const written = properties[column];
    const named = written === undefined || written === null ? null : stateNamed(String(written));
    if (geometry.type !== 'Point') return statesAlong(geometry, named);
    if (named !== null) return [named];
    const [lng, lat] = geometry.coordinates as [number, number];
    return stateAt({ lat, lng });
  };
}

/** Positions of a line or outline are checked only this far apart (about 2 km): a pipeline has thousands. */
const STEP_DEGREES = 0.02;

function statesAlong(geometry: Geometry, named: string | null): string[] {
  const states = new Set(named === null ? [] : [named]);
  let [lastLng, lastLat] = [Number.NaN, Number.NaN];
  for (const [lng, lat] of listPositions(geometry) as [number, number][]) {
    if (Math.abs(lng - lastLng) < STEP_DEGREES && Math.abs(lat - lastLat) < STEP_DEGREES) continue;
    [lastLng, lastLat] = [lng, lat];
    for (const state of stateAt({ lat, lng })) states.add(state);
  }
  return [...states];
}

function listPositions(geometry: Geometry): Position[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(listPositions);
  const flat = (coordinates: readonly unknown[]): Position[] =>
    typeof coordinates[0] === 'number'
      ? [coordinates as Position]
      : coordinates.flatMap((member) => flat(member as readonly unknown[]));
  return flat(geometry.coordinates);
}

/** The state of a place; none outside the US. */
export function stateAt(location: { readonly lat: number; readonly lng: number }): string[] {
  const county = countyAt(location);
  return county === null ? [] : [stateOf(county.code)];
}

function plain(name: string): string {
  return name
    .replace(/^\s*\d+\.\s+/, '')
    .toLowerCase()
    .replace(/[^a-z]/g, '');
}
