import { knownMembers, NotJson, skipSpace } from '../../formats/json/json-members.ts';
import {
  elementsIn,
  firstByte,
  isListOfObjects,
  MARK,
  type ObjectsAt,
  startOfArray,
} from '../../formats/json/object-batches.ts';
import { mayHaveLocation, proposeLocations } from '../location/location-names.ts';
import { isObject, type JsonObject, jsonColumns, parseObject } from './json-values.ts';

/** True when the head looks like a topology. */
export function isTopojson(head: Buffer): boolean {
  return beginsObject(head, SPACES) && /"type"\s*:\s*"Topology"/.test(head.toString('latin1'));
}

/** True when the head looks like a FeatureCollection, a Feature, or a sequence of features: on lines, or after RFC 8142's separators. */
export function isGeojson(head: Buffer): boolean {
  if (!beginsObject(head, [...SPACES, SEPARATOR])) return false;
  const text = head.toString('latin1');
  if (/"type"\s*:\s*"FeatureCollection"/.test(text)) return text.includes('"features"');
  return /"type"\s*:\s*"Feature"/.test(text) && /"geometry"\s*:/.test(text);
}

/** The bytes that a text in any encoding has for spaces. */
const SPACES = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0];
/** Of RFC 8142. */
const SEPARATOR = 0x1e;

/** Whether an object is the first that a file has. By its bytes: each file is asked, and a text of the head is a mebibyte. */
function beginsObject(head: Buffer, blanks: readonly number[]): boolean {
  let at = head.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
  while (blanks.includes(head[at]!)) at++;
  return head[at] === OPEN_OBJECT;
}

/** How deep in a document its list of rows may be: `{"response": {"docs": [...]}}`. */
const DEEPEST = 3;
const OPEN_OBJECT = 0x7b;

/** Finds the rows of a JSON file in its first bytes: an array of objects, the one list of objects in a document (any name), or objects one
 * after the other. Of several lists the one whose elements have a location is taken; null if there is none, or if that is not clear. */
export function findObjects(head: Buffer, isWhole: boolean): ObjectsAt | null {
  const array = startOfArray(head);
  if (array >= 0) return { kind: 'array', from: array };
  const at = firstByte(head);
  if (head[at] !== OPEN_OBJECT) return null;
  try {
    const { close } = knownMembers(head, at);
    const next = close < 0 ? head.length : skipSpace(head, close + 1);
    const isOne = close < 0 || next === head.length;
    if (!isOne) return head[next] === OPEN_OBJECT ? { kind: 'sequence', from: at } : null;
    // Only one document in a file is looked into: its own members may be a row, too.
    const isOwnRow = close >= 0 && isRow(head.toString('utf8', at, close + 1));
    const list = isOwnRow ? null : listIn(head, at);
    if (list !== null) return { kind: 'array', from: list };
    return isOwnRow && isWhole ? { kind: 'sequence', from: at } : null;
  } catch (error) {
    if (error instanceof NotJson) return null;
    throw error;
  }
}

/** Where the list of rows in a document begins: the only one, or the only one with locations. */
function listIn(head: Buffer, at: number): number | null {
  const lists = listsIn(head, at, 1);
  const located = lists.filter((list) => {
    const [first] = elementsIn(head, list + 1, 'array', 1).found;
    const object =
      first === undefined ? null : parseObject(head.toString('utf8', first.from, first.to));
    return object !== null && proposeLocations(namesOf(object)).length > 0;
  });
  const [only, ...others] = located.length > 0 ? located : lists;
  return only === undefined || others.length > 0 ? null : only;
}

function listsIn(head: Buffer, at: number, depth: number): number[] {
  return knownMembers(head, at).members.flatMap(({ valueFrom }) => {
    if (isListOfObjects(head, valueFrom)) return [valueFrom];
    return head[valueFrom] === OPEN_OBJECT && depth < DEEPEST
      ? listsIn(head, valueFrom, depth + 1)
      : [];
  });
}

/** Whether the one object of a document is a row: it has a location, and is no table. */
function isRow(text: string): boolean {
  const object = parseObject(text);
  return object !== null && hasLocation(object) && !isTable(object);
}

/** Whether an object is a table by columns (`{"lat": [1, 2], "lng": [3, 4]}`, `{"lat": {"0": 1}}`), or by keys, each with a location (`{"a": {…}, "b": {…}}`). */
export function isTable(object: JsonObject): boolean {
  const values = Object.values(object);
  if (values.length < 2) return false;
  return (
    values.every(Array.isArray) ||
    // pandas numbers the rows of each column.
    values.every((value) => isObject(value) && (Object.hasOwn(value, '0') || hasLocation(value)))
  );
}

function hasLocation(object: JsonObject): boolean {
  return mayHaveLocation(namesOf(object));
}

function namesOf(object: JsonObject): string[] {
  return jsonColumns([object]).map(({ name }) => name);
}
