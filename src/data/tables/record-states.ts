import type { Geometry, Position } from 'geojson';
import { countyAt } from '../../geo/us-counties.ts';
import type { LoadTarget } from './records.ts';
import { stateNamed, stateOf } from './states.ts';

/** The states that a record is of: several where a line or outline crosses a border, none where it lies off the US. */
export type StatesOf = (record: unknown) => readonly string[];

/** What the agencies call the column of the state, written as `plain` does. */
const STATE_COLUMNS = new Set(
  'state statecode stateabbrv stateabbr statename statenm st locstate poostate attrpoostate statefp stateusps stusps'.split(
    ' ',
  ),
);

/**
 * Makes what tells the states of a data set's records: by their census codes, by the column in which the agency writes the
 * state, else by where they lie (outlines of 1:10m: within some hundred metres of a border it may be the neighbour).
 */
export function statesOfRecords(target: LoadTarget): StatesOf {
  switch (target.kind) {
    case 'areas':
    case 'nri':
      return (record) => [stateOf((record as { geoid: string }).geoid)];
    case 'airQuality':
    case 'radon':
      return (record) => [stateOf((record as { countyGeoid: string }).countyGeoid)];
    case 'readings':
      return (record) => stateAt(record as { lat: number; lng: number });
    case 'sites':
    case 'records':
      return createFeatureStates();
  }
}

interface Feature {
  readonly geometry: Geometry;
  readonly properties: Readonly<Record<string, unknown>>;
}

function createFeatureStates(): StatesOf {
  // The last record's column is the next one's too: a hundred names need not be looked through again.
  let column = '';
  return (record) => {
    const { geometry, properties } = record as Feature;
    if (geometry.type !== 'Point') return statesAlong(geometry);
    if (!Object.hasOwn(properties, column)) {
      column = Object.keys(properties).find((name) => STATE_COLUMNS.has(plain(name))) ?? '';
    }
    const written = properties[column];
    const named = written === undefined || written === null ? null : stateNamed(String(written));
    if (named !== null) return [named];
    const [lng, lat] = geometry.coordinates as [number, number];
    return stateAt({ lat, lng });
  };
}

/** By some of its positions: the states of each of a pipeline's thousands would take longer than to load it. */
const LOOKED_AT = 8;

function statesAlong(geometry: Geometry): string[] {
  const positions = positionsOf(geometry);
  const step = Math.max(1, Math.floor(positions.length / LOOKED_AT));
  const some = positions.filter((_, index) => index % step === 0 || index === positions.length - 1);
  return [...new Set(some.flatMap(([lng, lat]) => stateAt({ lat: lat!, lng: lng! })))];
}

function positionsOf(geometry: Geometry): Position[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(positionsOf);
  const flat = (coordinates: readonly unknown[]): Position[] =>
    typeof coordinates[0] === 'number'
      ? [coordinates as Position]
      : coordinates.flatMap((member) => flat(member as readonly unknown[]));
  return flat(geometry.coordinates);
}

function stateAt(location: { readonly lat: number; readonly lng: number }): string[] {
  const county = countyAt(location);
  return county === null ? [] : [stateOf(county.code)];
}

function plain(name: string): string {
  return name
    .replace(/^\s*\d+\.\s+/, '')
    .toLowerCase()
    .replace(/[^a-z]/g, '');
}
