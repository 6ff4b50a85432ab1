/** A column of JSON objects: a member, or a value inside of one (`location.lat`). */
export interface JsonColumn {
  readonly name: string;
  readonly path: readonly string[];
}

/** The names of some objects in one order, each with what lies inside of it. */
interface JsonShape {
  readonly names: string[];
  readonly inside: Map<string, JsonShape>;
}

const DEEPEST = 6;

/**
 * Gathers the columns of objects; a member that is an object is followed by the values inside of it. A name that comes late
 * stands before the name that it is followed by: so what an earlier run added to the end of each object stays last.
 */
export function jsonColumns(objects: Iterable<Readonly<Record<string, unknown>>>): JsonColumn[] {
  const shape = newShape();
  for (const object of objects) addShape(shape, object, 0);
  return listColumns(shape, []);
}

const newShape = (): JsonShape => ({ names: [], inside: new Map() });

function addShape({ names, inside }: JsonShape, object: Readonly<Record<string, unknown>>, depth: number): void {
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

/** The text of a value: a text as it is, null or nothing as '', lists and objects as JSON. */
export function jsonText(object: unknown, { path }: JsonColumn): string {
  let value = object;
  for (const name of path) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The type library does not know this function yet. */
const isRawJson = (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON;

/** True for what stands between braces. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}
