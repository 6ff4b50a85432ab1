import type { StoredValue } from './page-values.ts';
import type { SchemaNode } from './schema.ts';
import { Damage } from './thrift.ts';
import { textOf } from './value-text.ts';

/** The entries of one column of a row group: for each its levels, and its value where the levels say that it is there. */
export interface LeafEntries {
  readonly repetitions: readonly number[];
  readonly definitions: readonly number[];
  readonly values: readonly unknown[];
}

/** The entries of one row, or of a part of it. */
interface Slice {
  readonly entries: LeafEntries;
  readonly from: number;
  readonly to: number;
}

/** Makes the values of a column that lies in a list or a struct ready for JSON, exactly. */
export function jsonForm(node: SchemaNode): (value: StoredValue) => unknown {
  const { leaf, meaning } = node;
  const isNumber = meaning.kind === 'stored' || meaning.kind === 'unsigned';
  return (value) => {
    if (typeof value === 'boolean') return value;
    const text = textOf(value, leaf!, meaning);
    const isExact = isNumber && leaf!.type !== 'INT96' && typeof value !== 'object' && /^-?\d/.test(text);
    return isExact ? rawJson(text) : text;
  };
}

/** Puts a number of any length into JSON as it is; the type library does not know this function yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

/** Puts the rows of a nested column together again, one after the other. */
export function rowAssembler(field: SchemaNode, leaves: ReadonlyMap<SchemaNode, LeafEntries>): () => string {
  const ends = new Map<SchemaNode, number>();
  return () => {
    const slices = new Map<SchemaNode, Slice>();
    for (const [leaf, entries] of leaves) {
      const from = ends.get(leaf) ?? 0;
      let to = from + 1;
      while (to < entries.repetitions.length && entries.repetitions[to] !== 0) to++;
      if (entries.repetitions[from] !== 0 || to > entries.repetitions.length)
        throw new Damage(`column ${leaf.name} does not have its values row by row`);
      ends.set(leaf, to);
      slices.set(leaf, { entries, from, to });
    }
    const value = assemble(field, slices);
    return value === null || value === undefined ? '' : JSON.stringify(value);
  };
}

function assemble(node: SchemaNode, slices: ReadonlyMap<SchemaNode, Slice>): unknown {
  const [first] = slices.values();
  if (!first) return {};
  const isThere = first.entries.definitions[first.from]! >= node.maxDefinition;
  if (node.repetition === 'repeated') {
    return isThere ? split(node, slices).map((part) => contentOf(node, part)) : [];
  }
  return isThere || node.repetition === 'required' ? contentOf(node, slices) : null;
}

/** A new element begins where an entry is repeated at the level of the list itself. */
function split(node: SchemaNode, slices: ReadonlyMap<SchemaNode, Slice>): Map<SchemaNode, Slice>[] {
  const parts: Map<SchemaNode, Slice>[] = [];
  for (const [leaf, { entries, from, to }] of slices) {
    let part = 0;
    for (let start = from; start < to; part++) {
      let end = start + 1;
      while (end < to && entries.repetitions[end]! > node.maxRepetition) end++;
      const into = parts[part] ?? new Map<SchemaNode, Slice>();
      parts[part] = into.set(leaf, { entries, from: start, to: end });
      start = end;
    }
  }
  if (parts.some((part) => part.size !== slices.size))
    throw new Damage(`the parts of ${node.name} do not fit together`);
  return parts;
}

function contentOf(node: SchemaNode, slices: ReadonlyMap<SchemaNode, Slice>): unknown {
  if (node.leaf) {
    const { entries, from } = slices.get(node)!;
    return entries.values[from];
  }
  const partsOf = (child: SchemaNode) => assemble(child, new Map([...slices].filter(([leaf]) => isUnder(leaf, child))));
  const [child] = node.children;
  if (node.meaning.kind === 'list' && child && node.children.length === 1 && child.repetition === 'repeated') {
    const items = partsOf(child) as unknown[];
    // Three levels with a wrapper around each element, or two as old writers made them.
    const isWrapper = child.children.length === 1 && child.name !== 'array' && child.name !== `${node.name}_tuple`;
    return isWrapper ? items.map((item) => (item as Record<string, unknown>)[child.children[0]!.name]) : items;
  }
  if (node.meaning.kind === 'map' && child && node.children.length === 1 && child.repetition === 'repeated') {
    return mapOf(child, partsOf(child) as Record<string, unknown>[]);
  }
  return Object.fromEntries(node.children.map((part) => [part.name, partsOf(part)]));
}

/** An object where the keys are texts; else a list of keys and values, for which JSON has no other form. */
function mapOf(entry: SchemaNode, items: readonly Record<string, unknown>[]): unknown {
  const [key, value] = entry.children;
  if (key?.meaning.kind !== 'text' || entry.children.length > 2) return items;
  return Object.fromEntries(items.map((item) => [String(item[key.name]), value ? item[value.name] : null]));
}

function isUnder(leaf: SchemaNode, node: SchemaNode): boolean {
  return leaf.from >= node.from && leaf.to <= node.to;
}
