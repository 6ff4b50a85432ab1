import { feature } from 'topojson-client';
import type { GeometryObject, Topology } from 'topojson-specification';
import { resultOrNull } from '../../base/errors.ts';
import {
  listElements,
  NotJson,
  objectMembers,
  skipSpace,
  type ValueRange,
} from '../../formats/json/json-members.ts';
import { isObject, type JsonObject } from './json-values.ts';

/* TopoJSON: outlines that share their lines, in one table of arcs. */

/** The geometries of all objects of a topology, in the order of the file: each is a row. @throws NotJson */
export function topologyFeatures(bytes: Buffer): {
  readonly features: readonly ValueRange[];
  readonly geometryOf: (feature: JsonObject) => unknown;
} {
  const start = skipSpace(bytes, bytes.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? 3 : 0);
  const { members, close } = objectMembers(bytes, start);
  const objects = members.findLast(({ name }) => name === 'objects');
  const topology: unknown = resultOrNull(() =>
    JSON.parse(bytes.toString('utf8', start, close + 1)),
  );
  if (objects === undefined || !isTopology(topology)) throw new NotJson();
  const features = objectMembers(bytes, objects.valueFrom).members.flatMap(
    ({ valueFrom, valueTo }) => geometriesIn(bytes, { from: valueFrom, to: valueTo }),
  );
  return { features, geometryOf: (geometry) => geometryIn(topology, geometry) };
}

function isTopology(value: unknown): value is Topology {
  return isObject(value) && value.type === 'Topology' && Array.isArray(value.arcs);
}

/** A collection is not a row, its geometries are: also those of a collection inside it. */
function geometriesIn(bytes: Buffer, object: ValueRange): ValueRange[] {
  const { members } = objectMembers(bytes, object.from);
  const list = members.findLast(({ name }) => name === 'geometries');
  if (list === undefined) return [object];
  return listElements(bytes, list.valueFrom).flatMap((part) => geometriesIn(bytes, part));
}

/** The geometry in degrees, with its arcs joined. One that names an arc that is not there is of no known kind. */
function geometryIn(topology: Topology, geometry: JsonObject): unknown {
  // The numbers of arcs are whole, and long numbers elsewhere are kept as texts.
  const object: GeometryObject = JSON.parse(JSON.stringify({ ...geometry, properties: {} }));
  const made = resultOrNull(() => feature(topology, object));
  return made === null ? { type: 'damaged geometry' } : 'geometry' in made ? made.geometry : null;
}
