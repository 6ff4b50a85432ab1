import type { ValueType } from '../../formats/typed-value.ts';
import { ownWidth } from '../kept-columns.ts';

/** An object of JSON. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A column of JSON objects: a member, or a value inside one (`location.lat`). */
export interface JsonColumn {
  readonly name: string;
  readonly path: readonly string[];
}

/** The names in some objects in one order, each with its nested names. */
interface JsonShape {
  readonly names: string[];
  readonly inside: Map<string, JsonShape>;
}

const DEEPEST = 6;

/** Collects the columns of objects; a member that is an object is followed by the values inside it. A late name goes before the name
 * that follows it in its object, so that columns of an earlier run at the end of each object stay last. */
export function jsonColumns(objects: Iterable<JsonObject>): JsonColumn[] {
  const shape = newShape();
  for (const object of objects) addShape(shape, object, 0);
  return listColumns(shape, []);
}

const newShape = (): JsonShape => ({ names: [], inside: new Map() });

function addShape(
  { names, inside }: JsonShape,
  object: Readonly<Record<string, unknown>>,
  depth: number,
): void {
  let next: string | null = null;
  for (const [name, value] of Object.entries(object).reverse()) {
    if (!inside.has(name)) {
      names.splice(next === null ? names.length : names.indexOf(next), 0, name);
      inside.set(name, newShape());
    }
    next = name;
    if (isObject(value) && depth < DEEPEST) addShape(inside.get(name)!, value, depth + 1);
  }
}

function listColumns({ names, inside }: JsonShape, above: readonly string[]): JsonColumn[] {
  return names.flatMap((name) => {
    const path = [...above, name];
    return [{ name: path.join('.').trim(), path }, ...listColumns(inside.get(name)!, path)];
  });
}

/** The value of an object in a column; undefined for none. */
export function memberAt(object: unknown, { path }: JsonColumn): unknown {
  let value = object;
  for (const name of path)
    value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value;
}

/** The text of a value: a text unchanged, null or missing as '', lists and objects as JSON. */
export function jsonText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The texts in an object that no earlier run wrote, also those in its objects and lists: why it may be no location. */
export function ownTexts(object: JsonObject): string[] {
  const names = Object.keys(object);
  return names.slice(0, ownWidth(names)).flatMap((name) => textsIn(object[name]));
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [jsonText(value)];
}

/** The type of a value's text. */
export function jsonType(value: unknown): ValueType {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number' || exactJson.isRawJSON(value)) return 'number';
  return typeof value === 'object' && value !== null ? 'json' : 'text';
}

/** Whether a value of JSON is an object; a number that is kept as its text (`rawJSON`) is none. */
export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !exactJson.isRawJSON(value)
  );
}

interface ExactJson {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source: string }) => unknown,
  ): unknown;
}

/** TypeScript's library lacks these functions. */
const exactJson = JSON as unknown as ExactJson;

/** Text that may be a number that JavaScript rounds: many digits, with or without a point between them, or an exponent. */
const LONG_NUMBER = /\d{16}|[\d.]{17}|\de[+-]?\d/i;

/** Reads an object; null for anything else. Numbers that JavaScript would round keep their digits. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = LONG_NUMBER.test(text)
      ? exactJson.parse(text, keepDigits)
      : JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function keepDigits(_: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? exactJson.rawJSON(source) : value;
}
