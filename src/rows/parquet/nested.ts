import type { SchemaNode, StoredValue } from './schema.ts';
import { Damage } from './thrift.ts';
import { textForm } from './value-text.ts';

/** The entries of one column of a row group: the levels of each, and its value if the levels say that it exists. */
export interface LeafEntries {
  readonly repetitions: readonly number[];
  readonly definitions: readonly number[];
  readonly values: readonly unknown[];
  /** The first entry that no row has taken yet. */
  next: number;
}

/** Converts the values of a column inside a list or a struct to JSON, exactly. */
export function jsonForm(node: SchemaNode): (value: StoredValue) => unknown {
  const textOf = textForm(node);
  // Decimals are texts in JSON: its readers would drop trailing zeros.
  const isNumber =
    node.meaning.kind === 'unsigned' ||
    (node.meaning.kind === 'stored' && node.leaf!.type !== 'INT96');
  return (value) => {
    if (typeof value === 'boolean') return value;
    const text = textOf(value);
    return isNumber && typeof value !== 'object' && /^-?\d/.test(text) ? rawJson(text) : text;
  };
}

/** Puts a number of any length into JSON unchanged; the type library lacks this function. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

/** Assembles the rows of a nested column, one after the other. */
export function rowAssembler(
  field: SchemaNode,
  leaves: ReadonlyMap<SchemaNode, LeafEntries>,
): () => string {
  const under = new Map<SchemaNode, readonly LeafEntries[]>();
  const gather = (node: SchemaNode): readonly LeafEntries[] => {
    const own = node.leaf ? [leaves.get(node)!] : node.children.flatMap(gather);
    under.set(node, own);
    return own;
  };
  const entries = gather(field);
  const assertRow = (isBetween: (repetition: number | undefined) => boolean): void => {
    if (entries.every(({ repetitions, next }) => isBetween(repetitions[next]))) return;
    throw new Damage(`column ${field.name} does not have its values row by row`);
  };
  return () => {
    assertRow((repetition) => repetition === 0);
    const value = assemble(field, under);
    assertRow((repetition) => repetition === 0 || repetition === undefined);
    return value === null ? '' : JSON.stringify(value);
  };
}

type EntriesUnder = ReadonlyMap<SchemaNode, readonly LeafEntries[]>;

/** Takes the entries of one value of a field, which are one in each column unless the field has lists. */
function assemble(node: SchemaNode, under: EntriesUnder): unknown {
  const entries = under.get(node)!;
  const [first] = entries;
  if (!first) return {};
  if (!(first.definitions[first.next]! >= node.maxDefinition)) {
    for (const leaf of entries) leaf.next++;
    return node.repetition === 'repeated' ? [] : null;
  }
  if (node.repetition !== 'repeated') return makeContent(node, under);
  const items: unknown[] = [];
  const hasMore = ({ repetitions, next }: LeafEntries) => repetitions[next] === node.maxRepetition;
  do {
    items.push(makeContent(node, under));
    if (entries.some((leaf) => hasMore(leaf) !== hasMore(first)))
      throw new Damage(`the parts of ${node.name} do not fit together`);
  } while (hasMore(first));
  return items;
}

function makeContent(node: SchemaNode, under: EntriesUnder): unknown {
  if (node.leaf) {
    const [entries] = under.get(node)!;
    return entries!.values[entries!.next++];
  }
  const [child] = node.children;
  const { kind } = node.meaning;
  if (
    child &&
    node.children.length === 1 &&
    child.repetition === 'repeated' &&
    (kind === 'list' || kind === 'map')
  ) {
    const items = assemble(child, under) as Record<string, unknown>[];
    if (kind === 'map') return makeMap(child, items);
    // Three levels with a wrapper around each element, or two as old writers made them.
    const isWrapper =
      child.children.length === 1 && child.name !== 'array' && child.name !== `${node.name}_tuple`;
    return isWrapper ? items.map((item) => item[child.children[0]!.name]) : items;
  }
  return Object.fromEntries(node.children.map((part) => [part.name, assemble(part, under)]));
}

/** An object if the keys are texts; else a list of keys and values, because JSON has no other form. */
function makeMap(entry: SchemaNode, items: readonly Record<string, unknown>[]): unknown {
  const [key, value] = entry.children;
  if (key?.meaning.kind !== 'text' || entry.children.length > 2) return items;
  return Object.fromEntries(
    items.map((item) => [String(item[key.name]), value ? item[value.name] : null]),
  );
}
