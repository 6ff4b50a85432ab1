import type { NumberColumn, SharedNumbers, TextColumn } from './column-builder.ts';
import type { PhysicalType } from './format.ts';
import { bitsOf, encodeHybrid } from './hybrid.ts';

/** The values of a column without its nulls, ready to be stored. */
export interface Values {
  readonly type: PhysicalType;
  /** The distinct values; null if too few are equal. */
  readonly dictionary: { readonly bytes: Buffer; readonly count: number } | null;
  /** The values of a range: plain, or as indexes into the dictionary. */
  readonly encode: (from: number, to: number) => Buffer[];
  readonly least: Buffer | null;
  readonly greatest: Buffer | null;
}

/** The rows of a row group that have a value in a column; null: all of them. */
export interface FilledRows {
  readonly count: number;
  readonly rows: Uint32Array | null;
}

/** Indexes into a dictionary. Not every reader expects indexes of no bits. */
function encodeIndexes(
  ids: Uint32Array,
  entries: number,
  { bytes }: ReusableArrays,
): (from: number, to: number) => Buffer[] {
  const width = Math.max(1, bitsOf(entries - 1));
  return (from, to) => [
    Buffer.of(width),
    encodeHybrid(ids.subarray(from, to), width, (length) => bytes.take(length)),
  ];
}

/** Beyond this a dictionary costs a reader more memory than it saves. */
const LARGEST_DICTIONARY = 4 * 1024 * 1024;
const LONGEST_BOUND = 64;

/** Texts, with the distinct ones as a dictionary unless most are different. */
export function textValues(
  { ids, texts, isPoint }: TextColumn,
  filled: FilledRows,
  arrays: ReusableArrays,
): Values {
  const { indexes, used } = indexesOf(ids, texts.length + 1, filled, arrays);
  const encoded = Array.from(used, (id) =>
    Buffer.from(texts[id - 1]!, isPoint ? 'latin1' : 'utf8'),
  );
  const bytes = withLengths(encoded);
  const bounds = textBounds(encoded);
  const isLarge =
    encoded.length > 255 &&
    (bytes.length > LARGEST_DICTIONARY || encoded.length * 2 > filled.count);
  if (encoded.length === 0 || isLarge) {
    const encode = (from: number, to: number) => [
      withLengths(Array.from(indexes.subarray(from, to), (index) => encoded[index]!)),
    ];
    return { type: 'BYTE_ARRAY', dictionary: null, encode, ...bounds };
  }
  const encode = encodeIndexes(indexes, encoded.length, arrays);
  return { type: 'BYTE_ARRAY', dictionary: { bytes, count: encoded.length }, encode, ...bounds };
}

/** Numbers texts, or shared numbers, by their first use: nulls have none. @param ids are below `most` */
function indexesOf(
  ids: Uint32Array,
  most: number,
  { rows, count: length }: FilledRows,
  arrays: ReusableArrays,
) {
  const numbers = arrays.slots(most).fill(0);
  const used = arrays.used(most);
  const indexes = arrays.ids(length);
  let count = 0;
  for (let i = 0; i < length; i++) {
    const id = ids[rows === null ? i : rows[i]!]!;
    let number = numbers[id]!;
    if (number === 0) {
      used[count] = id;
      number = ++count;
      numbers[id] = number;
    }
    indexes[i] = number - 1;
  }
  return { indexes, used: used.subarray(0, count) };
}

function textBounds(texts: readonly Buffer[]): { least: Buffer | null; greatest: Buffer | null } {
  let [least, greatest] = [texts[0] ?? null, texts[0] ?? null];
  for (const text of texts) {
    if (text.length > LONGEST_BOUND) return { least: null, greatest: null };
    if (Buffer.compare(text, least!) < 0) least = text;
    if (Buffer.compare(text, greatest!) > 0) greatest = text;
  }
  return { least, greatest };
}

function withLengths(texts: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + 4 + text.length, 0));
  let used = 0;
  for (const text of texts) {
    used = bytes.writeUInt32LE(text.length, used);
    used += text.copy(bytes, used);
  }
  return bytes;
}

/** Numbers, with the distinct ones as a dictionary where that is shorter. */
export function numberValues(
  { kind, values, shared }: NumberColumn,
  filled: FilledRows,
  arrays: ReusableArrays,
): Values {
  const [, pack] = STORAGE[kind];
  const ofShared = shared && indexedShared(shared, filled, arrays);
  if (ofShared) return withDictionary(kind, ofShared, arrays);
  const plain = plainNumbers({ values, shared }, filled, arrays);
  // Readers expect no dictionary of booleans.
  const distinct =
    kind === 'boolean' || plain.length === 0 || shared !== null
      ? null
      : distinctNumbers(plain, mostDistinct(plain.length), arrays);
  if (distinct) return withDictionary(kind, distinct, arrays);
  return {
    dictionary: null,
    encode: (from, to) => [pack(plain.subarray(from, to))],
    ...packedBounds(kind, plain),
  };
}

/** Distinct numbers, and the index of each value among them. */
interface IndexedNumbers {
  readonly distinct: Float64Array;
  readonly indexes: Uint32Array;
}

function withDictionary(
  kind: NumberColumn['kind'],
  { distinct, indexes }: IndexedNumbers,
  arrays: ReusableArrays,
): Values {
  const dictionary = { bytes: STORAGE[kind][1](distinct), count: distinct.length };
  return {
    dictionary,
    encode: encodeIndexes(indexes, distinct.length, arrays),
    ...packedBounds(kind, distinct),
  };
}

function packedBounds(kind: NumberColumn['kind'], values: Float64Array) {
  const { least, greatest } = findBounds(values);
  const [type, pack] = STORAGE[kind];
  const bound = (value: number | null) => (value === null ? null : pack(Float64Array.of(value)));
  return { type, least: bound(least), greatest: bound(greatest) };
}

/** The values of the rows that have one. */
function plainNumbers(
  { values, shared }: Pick<NumberColumn, 'values' | 'shared'>,
  { count, rows }: FilledRows,
  arrays: ReusableArrays,
): Float64Array {
  if (rows === null && shared === null) return values.subarray(0, count);
  const gathered = arrays.numbers(count);
  if (shared === null) for (let at = 0; at < count; at++) gathered[at] = values[rows![at]!]!;
  else {
    const ids = arrays.ids(count);
    for (let at = 0; at < count; at++) ids[at] = shared.ids[rows === null ? at : rows[at]!]!;
    shared.read(ids, gathered);
  }
  return gathered;
}

function packedInt64(values: Float64Array): Buffer {
  const parts = new Int32Array(values.length * 2);
  for (let i = 0; i < values.length; i++) {
    const high = Math.floor(values[i]! / 2 ** 32);
    parts[i * 2] = values[i]! - high * 2 ** 32;
    parts[i * 2 + 1] = high;
  }
  return Buffer.from(parts.buffer);
}

const packedInt32 = (values: Float64Array): Buffer => Buffer.from(Int32Array.from(values).buffer);

function packedBits(values: Float64Array): Buffer {
  const bytes = Buffer.alloc(Math.ceil(values.length / 8));
  for (let i = 0; i < values.length; i++) bytes[i >> 3]! |= values[i]! << (i & 7);
  return bytes;
}

const packedDoubles = (values: Float64Array): Buffer =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength);

type Storage = readonly [type: PhysicalType, pack: (values: Float64Array) => Buffer];

/** How the numbers of a kind of column are stored. */
const STORAGE: Readonly<Record<NumberColumn['kind'], Storage>> = {
  number: ['DOUBLE', packedDoubles],
  count: ['INT32', packedInt32],
  date: ['INT32', packedInt32],
  boolean: ['BOOLEAN', packedBits],
  integer: ['INT64', packedInt64],
  time: ['INT64', packedInt64],
  timestamp: ['INT64', packedInt64],
};

/** Readers skip row groups by these bounds; the format requires -0 and +0 as bounds of zeros, and has no order for NaN. */
function findBounds(values: Float64Array): { least: number | null; greatest: number | null } {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) return { least: null, greatest: null };
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  if (least > greatest) return { least: null, greatest: null };
  return { least: least === 0 ? -0 : least, greatest: greatest === 0 ? 0 : greatest };
}

const MOST_DISTINCT = 65_536;

/** With more distinct values a dictionary is not shorter. */
const mostDistinct = (values: number): number =>
  Math.min(MOST_DISTINCT, Math.max(16, Math.floor(values / 3)));

/** The values that rows share, as a dictionary: null for too many. A value and two bytes a row are shorter than eight bytes a row up to
 * three quarters; a reader keeps the values in memory. */
function indexedShared(
  { ids, count: most, read }: SharedNumbers,
  filled: FilledRows,
  arrays: ReusableArrays,
): IndexedNumbers | null {
  const { indexes, used } = indexesOf(ids, most, filled, arrays);
  if (used.length === 0 || used.length > Math.min(MOST_DISTINCT, Math.max(16, filled.count >> 1)))
    return null;
  const distinct = arrays.distinct(used.length);
  read(used, distinct);
  return { distinct, indexes };
}

/** Where more of the first values than this share differ from those before them, the others are not looked at: of as many distinct values
 * as a dictionary may have, a tenth is equal by then. */
const MOST_DIFFERENT = 0.93;
const FIRST_DISTINCT = 8192;

/** Numbers the distinct values by their first use, in an open hash table: a Map takes three times as long. Null for more than `most`. */
export function distinctNumbers(
  values: Float64Array,
  most: number,
  arrays: ReusableArrays,
  mostDifferent = MOST_DIFFERENT,
): IndexedNumbers | null {
  const mask = 2 ** bitsOf(most * 2) - 1;
  const slots = arrays.slots(mask + 1).fill(0);
  const distinct = arrays.distinct(most);
  const distinctBits = new Int32Array(distinct.buffer, distinct.byteOffset, most * 2);
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const ids = arrays.ids(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const low = bits[i * 2]!;
    const high = bits[i * 2 + 1]!;
    let slot = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    slot = (slot ^ (slot >>> 15)) & mask;
    for (;;) {
      const id = slots[slot]!;
      if (id === 0) {
        if (count === most || (count === FIRST_DISTINCT && count > i * mostDifferent)) return null;
        distinctBits[count * 2] = low;
        distinctBits[count * 2 + 1] = high;
        slots[slot] = ++count;
        ids[i] = count - 1;
        break;
      }
      if (distinctBits[id * 2 - 2] === low && distinctBits[id * 2 - 1] === high) {
        ids[i] = id - 1;
        break;
      }
      slot = (slot + 1) & mask;
    }
  }
  return { distinct: distinct.subarray(0, count), indexes: ids };
}

/** Gives an array of a length, the same one each time while it is long enough. */
type GrowingArray<T> = (length: number) => T;

type Integers = GrowingArray<Uint32Array<ArrayBuffer>>;

export interface ReusableArrays {
  readonly ids: Integers;
  readonly filled: Integers;
  readonly levels: Integers;
  readonly slots: Integers;
  readonly numbers: GrowingArray<Float64Array<ArrayBuffer>>;
  readonly used: Integers;
  readonly distinct: GrowingArray<Float64Array<ArrayBuffer>>;
  /** Of the pages of one column. */
  readonly bytes: ReusableBytes;
}

/** Makes arrays that a writer reuses for each column. They grow with its largest row group and contain old values. Allocating them each
 * time took twice the memory of everything else. */
export function reusableArrays(): ReusableArrays {
  return {
    ids: growing((length) => new Uint32Array(length)),
    filled: growing((length) => new Uint32Array(length)),
    levels: growing((length) => new Uint32Array(length)),
    slots: growing((length) => new Uint32Array(length)),
    numbers: growing((length) => new Float64Array(length)),
    used: growing((length) => new Uint32Array(length)),
    distinct: growing((length) => new Float64Array(length)),
    bytes: reusableBytes(),
  };
}

/** Memory in parts, all of which are taken again for the next column: as much garbage made V8 look through all objects, again and again. */
interface ReusableBytes {
  take(length: number): Buffer;
  /** What was taken is no longer used. */
  clear(): void;
}

function reusableBytes(): ReusableBytes {
  let memory = Buffer.alloc(0);
  let taken = 0;
  return {
    take(length) {
      taken += length;
      return taken <= memory.length
        ? memory.subarray(taken - length, taken)
        : Buffer.allocUnsafeSlow(length);
    },
    clear() {
      if (taken > memory.length) memory = Buffer.allocUnsafeSlow(Math.ceil(taken * 1.25));
      taken = 0;
    },
  };
}

function growing<T extends Uint32Array | Float64Array>(
  make: (length: number) => T,
): GrowingArray<T> {
  let array = make(0);
  return (length) => {
    if (array.length < length) array = make(length);
    return array.subarray(0, length) as T;
  };
}
