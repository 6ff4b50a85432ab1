import { ENCODINGS } from './format.ts';
import { bitsOf, decodeHybrid } from './hybrid.ts';
import { type GroupReader, type Page, pagesOf } from './pages.ts';
import type { Leaf, SchemaNode, StoredValue } from './schema.ts';
import { Damage } from './thrift.ts';
import { decodeValues } from './value-encodings.ts';

/** A decoded data page. Levels are null if the column has none. */
interface DecodedPage<T> {
  readonly values: number;
  readonly repetitions: Uint32Array | null;
  readonly definitions: Uint32Array | null;
  /** The value at an index among the values present, in the requested form. Made on demand: keeping the texts of a whole page took most
   * of the memory of a scan and a fifth of its time. */
  readonly valueAt: (index: number) => T;
  /** Frees the memory of a page of numbers, which is not used afterwards: V8 is late, and a scan held 60 MB of such pages a thread. */
  readonly release: () => void;
}

/** Frees the memory of arrays that do not share it. */
function detach(arrays: readonly (ArrayLike<unknown> | null)[]): void {
  for (const array of arrays) {
    if (!ArrayBuffer.isView(array) || !(array.buffer instanceof ArrayBuffer)) continue;
    if (array.byteLength === array.buffer.byteLength) array.buffer.transfer(0);
  }
}

interface Dictionary<T> {
  readonly size: number;
  readonly entryAt: (index: number) => T;
}

/** The entries of a small dictionary are converted once. Those of a large one serve a row or two each, and would stay in memory. */
const LARGE_DICTIONARY = 8192;

function makeEntries<T>(
  stored: ArrayLike<StoredValue>,
  form: (value: StoredValue) => T,
): (index: number) => T {
  if (stored.length > LARGE_DICTIONARY) return (index) => form(stored[index]!);
  const entries = formed(stored, form);
  return (index) => entries[index]!;
}

/** Decodes the pages of one column of one row group. `form` converts a stored value for the caller. */
function pageDecoder<T>(
  node: SchemaNode,
  form: (value: StoredValue) => T,
): (page: Page) => DecodedPage<T> | null {
  const leaf = node.leaf!;
  let dictionary: Dictionary<T> | null = null;
  return (page) => {
    if (page.isDictionary) {
      const stored = decodeValues(page.body, 0, ENCODINGS.plain, leaf, page.values);
      dictionary = { size: stored.length, entryAt: makeEntries(stored, form) };
      return null;
    }
    const { repetitions, definitions, at } = readLevels(page, node);
    let count = page.values;
    if (definitions) for (const level of definitions) if (level !== node.maxDefinition) count--;
    const { valueAt, stored } = valuesOf(page, at, leaf, count);
    const release = () => detach([stored, definitions, repetitions]);
    return { values: page.values, repetitions, definitions, valueAt, release };
  };

  function valuesOf({ body, encoding }: Page, at: number, leaf: Leaf, count: number) {
    const isIndexed = encoding === ENCODINGS.oldIndexes || encoding === ENCODINGS.indexes;
    if (!isIndexed || count === 0) {
      const stored = decodeValues(body, at, encoding, leaf, count);
      return { valueAt: (index: number) => form(stored[index]!), stored };
    }
    if (!dictionary) throw new Damage('a page refers to a dictionary that is not there');
    const width = body[at];
    if (width === undefined) throw new Damage('a page is empty');
    const { size, entryAt } = dictionary;
    const indexes = decodeHybrid(body, at + 1, width, count);
    for (const index of indexes) {
      if (index >= size)
        throw new Damage('a page refers to values that its dictionary does not have');
    }
    return { valueAt: (index: number) => entryAt(indexes[index]!), stored: indexes };
  }
}

/** Like `Array.from`, which takes five times as long for typed arrays. */
function formed<S, T>(stored: ArrayLike<S>, form: (value: S) => T): T[] {
  const values: T[] = [];
  for (let i = 0; i < stored.length; i++) values.push(form(stored[i]!));
  return values;
}

function readLevels(page: Page, { maxRepetition, maxDefinition }: SchemaNode) {
  let at = 0;
  const next = (apart: Buffer | null, most: number): Uint32Array | null => {
    if (most === 0) return null;
    if (apart) return checked(decodeHybrid(apart, 0, bitsOf(most), page.values), most);
    if (at + 4 > page.body.length) throw new Damage('a page is too short for its levels');
    const length = page.body.readUInt32LE(at);
    if (length > page.body.length - at - 4) throw new Damage('a page is too short for its levels');
    const levels = decodeHybrid(
      page.body.subarray(at + 4, at + 4 + length),
      0,
      bitsOf(most),
      page.values,
    );
    at += 4 + length;
    return checked(levels, most);
  };
  const repetitions = next(page.repetitionLevels, maxRepetition);
  const definitions = next(page.definitionLevels, maxDefinition);
  return { repetitions, definitions, at };
}

function checked(levels: Uint32Array, most: number): Uint32Array {
  // All that so many bits can be.
  if (most === 2 ** bitsOf(most) - 1) return levels;
  for (const level of levels)
    if (level > most) throw new Damage(`a page has a level of ${level} over ${most}`);
  return levels;
}

/** Decodes the pages of a column. */
export async function* decodedPages<T>(
  at: GroupReader,
  node: SchemaNode,
  form: (value: StoredValue) => T,
): AsyncGenerator<DecodedPage<T>, void> {
  const decode = pageDecoder(node, form);
  for await (const page of pagesOf(at, node)) {
    const decoded = decode(page);
    if (decoded !== null) yield decoded;
  }
}

export type ValueSource<T> = (count: number) => Promise<readonly T[]>;

/** A column with at most one value per row: `missing` for rows without one; some rows before them may be skipped. @throws Damage */
export function flatSource<T>(
  at: GroupReader,
  node: SchemaNode,
  form: (value: StoredValue) => T,
  missing: T,
) {
  const pages = decodedPages(at, node, form);
  let page: DecodedPage<T> | null = null;
  let entry = 0;
  let next = 0;
  return async (count: number, skipped = 0): Promise<T[]> => {
    const values = new Array<T>(count);
    for (let row = -skipped; row < count; ) {
      if (page === null || entry === page.values) {
        const { done, value } = await pages.next();
        if (done) throw new Damage(`column ${node.name} has fewer values than it states`);
        page = value;
        entry = 0;
        next = 0;
      }
      const { definitions, valueAt } = page;
      for (const end = Math.min(page.values, entry + count - row); entry < end; entry++, row++) {
        const isThere = definitions === null || definitions[entry] === node.maxDefinition;
        if (row >= 0) values[row] = isThere ? valueAt(next) : missing;
        if (isThere) next++;
      }
      if (entry === page.values) page.release();
    }
    return values;
  };
}
