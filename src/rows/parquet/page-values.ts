import { memo } from '../../base/memo.ts';
import { ENCODINGS } from './format.ts';
import { bitsOf, decodeHybrid } from './hybrid.ts';
import { type GroupReader, type Page, pagesOf } from './pages.ts';
import type { Leaf, SchemaNode, StoredValue } from './schema.ts';
import { Damage } from './thrift.ts';
import { decodeValues } from './value-encodings.ts';

/** A data page as it is stored. Levels are null if the column has none. */
interface StoredPage {
  readonly values: number;
  readonly repetitions: Uint32Array | null;
  readonly definitions: Uint32Array | null;
  /** The values present; with `indexes`, those of the dictionary. */
  readonly stored: ArrayLike<StoredValue>;
  /** Where each value present is in the dictionary; null without one. */
  readonly indexes: Uint32Array | null;
  /** Frees the memory of a page of numbers, which is not used afterwards: V8 is late, and a scan held 60 MB of such pages a thread. */
  readonly release: () => void;
}

/** A decoded data page. */
interface DecodedPage<T> extends Omit<StoredPage, 'stored' | 'indexes'> {
  /** The value at an index among the values present, in the requested form. Made on demand: keeping the texts of a whole page took most
   * of the memory of a scan and a fifth of its time. */
  readonly valueAt: (index: number) => T;
}

/** Frees the memory of arrays that do not share it. */
function detach(arrays: readonly (ArrayLike<unknown> | null)[]): void {
  for (const array of arrays) {
    if (!ArrayBuffer.isView(array) || !(array.buffer instanceof ArrayBuffer)) continue;
    if (array.byteLength === array.buffer.byteLength) array.buffer.transfer(0);
  }
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

/** Decodes the pages of one column of one row group; null for its dictionary. */
function pageDecoder(node: SchemaNode): (page: Page) => StoredPage | null {
  const leaf = node.leaf!;
  let dictionary: ArrayLike<StoredValue> | null = null;
  return (page) => {
    if (page.isDictionary) {
      dictionary = decodeValues(page.body, 0, ENCODINGS.plain, leaf, page.values);
      return null;
    }
    const { repetitions, definitions, at } = readLevels(page, node);
    let count = page.values;
    for (let entry = 0; entry < (definitions?.length ?? 0); entry++)
      if (definitions![entry] !== node.maxDefinition) count--;
    const { stored, indexes } = valuesOf(page, at, leaf, count);
    const release = () => detach([indexes ?? stored, definitions, repetitions]);
    return { values: page.values, repetitions, definitions, stored, indexes, release };
  };

  function valuesOf(
    { body, encoding }: Page,
    at: number,
    leaf: Leaf,
    count: number,
  ): Pick<StoredPage, 'stored' | 'indexes'> {
    const isIndexed = encoding === ENCODINGS.oldIndexes || encoding === ENCODINGS.indexes;
    if (!isIndexed || count === 0)
      return { stored: decodeValues(body, at, encoding, leaf, count), indexes: null };
    if (!dictionary) throw new Damage('a page refers to a dictionary that is not there');
    const width = body[at];
    if (width === undefined) throw new Damage('a page is empty');
    const indexes = decodeHybrid(body, at + 1, width, count);
    for (let entry = 0; entry < indexes.length; entry++) {
      if (indexes[entry]! >= dictionary.length)
        throw new Damage('a page refers to values that its dictionary does not have');
    }
    return { stored: dictionary, indexes };
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

async function* storedPages(at: GroupReader, node: SchemaNode): AsyncGenerator<StoredPage, void> {
  const decode = pageDecoder(node);
  for await (const page of pagesOf(at, node)) {
    const decoded = decode(page);
    if (decoded !== null) yield decoded;
  }
}

/** Decodes the pages of a column. `form` converts a stored value for the caller. */
export async function* decodedPages<T>(
  at: GroupReader,
  node: SchemaNode,
  form: (value: StoredValue) => T,
): AsyncGenerator<DecodedPage<T>, void> {
  const entriesOf = memo((dictionary: ArrayLike<StoredValue>) => makeEntries(dictionary, form));
  for await (const { stored, indexes, ...page } of storedPages(at, node)) {
    const entryAt = indexes === null ? null : entriesOf(stored);
    const valueAt =
      entryAt === null
        ? (index: number) => form(stored[index]!)
        : (index: number) => entryAt(indexes![index]!);
    yield { ...page, valueAt };
  }
}

/** Goes through the rows of a column with at most one value a row, some at a time: `put` gets the row, its page, and the index of its
 * value among those present; -1 without one. Some rows before them may be skipped. @throws Damage */
function flatRows<P extends Pick<StoredPage, 'values' | 'definitions' | 'release'>>(
  pages: AsyncGenerator<P, void>,
  node: SchemaNode,
): (
  count: number,
  put: (row: number, page: P, index: number) => void,
  skipped?: number,
) => Promise<void> {
  let page: P | null = null;
  let entry = 0;
  let next = 0;
  return async (count, put, skipped = 0) => {
    for (let row = -skipped; row < count; ) {
      if (page === null || entry === page.values) {
        const { done, value } = await pages.next();
        if (done) throw new Damage(`column ${node.name} has fewer values than it states`);
        page = value;
        entry = 0;
        next = 0;
      }
      const { definitions } = page;
      for (const end = Math.min(page.values, entry + count - row); entry < end; entry++, row++) {
        const isThere = definitions === null || definitions[entry] === node.maxDefinition;
        if (row >= 0) put(row, page, isThere ? next : -1);
        if (isThere) next++;
      }
      if (entry === page.values) page.release();
    }
  };
}

export type ValueSource<T> = (count: number) => Promise<readonly T[]>;

/** Reads the next values of a column, after some that are skipped. */
export type FlatSource<T> = (count: number, skipped?: number) => Promise<readonly T[]>;

/** A column with at most one value per row: `missing` for rows without one; some rows before them may be skipped. @throws Damage */
export function flatSource<T>(
  at: GroupReader,
  node: SchemaNode,
  form: (value: StoredValue) => T,
  missing: T,
): FlatSource<T> {
  const readRows = flatRows(decodedPages(at, node, form), node);
  return async (count: number, skipped = 0): Promise<T[]> => {
    const values = new Array<T>(count);
    const put = (row: number, { valueAt }: DecodedPage<T>, index: number) => {
      values[row] = index < 0 ? missing : valueAt(index);
    };
    await readRows(count, put, skipped);
    return values;
  };
}

/** Numbers of some rows of a column. */
export interface RowNumbers {
  /** NaN for a row without a number. */
  readonly values: Float64Array;
  /** 1 for a row without a value. */
  readonly isMissing: Uint8Array;
  /** The whole numbers that no double holds, by row. */
  readonly beyond: ReadonlyMap<number, bigint>;
}

/** A column of doubles or integers with at most one value a row. As an array of values it took a third of the time of a scan and 50 MB.
 * @param most the most rows that are asked for at once
 * @returns the numbers of the next rows: valid until the next call. @throws Damage */
export function numberSource(
  at: GroupReader,
  node: SchemaNode,
  most: number,
): (count: number) => Promise<RowNumbers> {
  const readRows = flatRows(storedPages(at, node), node);
  const values = new Float64Array(most);
  const isMissing = new Uint8Array(most);
  let last: ArrayLike<StoredValue> | null = null;
  let { numbers, wholes }: Doubles = { numbers: [], wholes: null };
  return async (count) => {
    const beyond = new Map<number, bigint>();
    await readRows(count, (row, { stored, indexes }, index) => {
      if (stored !== last) {
        last = stored;
        ({ numbers, wholes } = doublesOf(stored));
      }
      isMissing[row] = index < 0 ? 1 : 0;
      values[row] = index < 0 ? Number.NaN : numbers[indexes === null ? index : indexes[index]!]!;
      if (wholes === null || index < 0 || Number.isSafeInteger(values[row])) return;
      beyond.set(row, wholes[indexes === null ? index : indexes[index]!]!);
    });
    return { values, isMissing, beyond };
  };
}

/** Numbers as doubles. */
interface Doubles {
  readonly numbers: ArrayLike<number>;
  /** The whole numbers that they were made of, where doubles do not hold all of them; else null. */
  readonly wholes: BigInt64Array | null;
}

/** From here on doubles do not hold all whole numbers, by the upper half of 64 bits: 2^53. */
const BEYOND = 2 ** 21;

function doublesOf(stored: ArrayLike<StoredValue>): Doubles {
  if (!(stored instanceof BigInt64Array))
    return { numbers: stored as ArrayLike<number>, wholes: null };
  // By halves: a BigInt for each took as long as reading it.
  const halves = new Int32Array(stored.buffer, stored.byteOffset, 2 * stored.length);
  const numbers = new Float64Array(stored.length);
  let isBeyond = false;
  for (let i = 0; i < numbers.length; i++) {
    const upper = halves[2 * i + 1]!;
    isBeyond ||= upper >= BEYOND || upper < -BEYOND;
    numbers[i] = upper * 2 ** 32 + (halves[2 * i]! >>> 0);
  }
  return { numbers, wholes: isBeyond ? stored : null };
}
