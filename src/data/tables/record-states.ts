import type { Geometry, Position } from 'geojson';
import { countyAt } from '../../geo/us-counties.ts';
import { stateNamed, stateOf } from './states.ts';

/** The states of a record: several for a line or outline across a border, none outside the US. */
export type StatesOf = (record: unknown) => readonly string[];

/** The agencies' names for the state column, as `plain` writes them. */
const STATE_COLUMNS = new Set(
  'state statecode stateabbrv stateabbr statename statenm st locstate poostate attrpoostate statefp stateusps stusps'.split(
    ' ',
  ),
);

interface Feature {
  readonly geometry: Geometry;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Makes the function that finds the states of a layer's records: by the agency's state column, or else by the place (at 1:10m: near a
 * border it may be the neighbour). A line or outline belongs to the state that the agency names and to those that it touches. */
export function createFeatureStates(): StatesOf {
  // Records share their columns, so a hundred names are searched once.
  let column = '';
  return (record) => {
    const { geometry, properties } = record as Feature;
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
