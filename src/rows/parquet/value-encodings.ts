import { ENCODINGS } from './format.ts';
import { decodeHybrid, packedValue, unpackBits } from './hybrid.ts';
import type { Leaf, StoredValue } from './schema.ts';
import { Damage, readLong, readUnsigned } from './thrift.ts';

/** Decodes values in any encoding except dictionaries (Apache Parquet, Encodings).
 * @throws Damage when the bytes end before, or the encoding does not fit the type */
export function decodeValues(
  body: Buffer,
  at: number,
  encoding: number,
  leaf: Leaf,
  count: number,
): ArrayLike<StoredValue> {
  if (count === 0) return [];
  const { type } = leaf;
  const { plain, runs, differences, textLengths, sharedTexts, splitBytes } = ENCODINGS;
  if (encoding === plain) return plainValues(body, at, leaf, count);
  if (encoding === runs && type === 'BOOLEAN' && at + LENGTH_BYTES <= body.length) {
    return Array.from(decodeHybrid(body, at + LENGTH_BYTES, 1, count), Boolean);
  }
  if (encoding === differences && type === 'INT32')
    return int32(deltaNumbers(body, at, count, 32).values);
  if (encoding === differences && type === 'INT64') return deltaNumbers(body, at, count, 64).values;
  if (encoding === textLengths || encoding === sharedTexts) {
    return deltaTexts(body, at, count, encoding === sharedTexts);
  }
  if (encoding === splitBytes && type !== 'BOOLEAN' && type !== 'INT96' && type !== 'BYTE_ARRAY') {
    return splitValues(body, at, leaf, count);
  }
  throw new Damage(`it has ${type} values in encoding ${encoding}, which Perilbook does not read`);
}

const TOO_SHORT = 'a page is too short for its values';

/** Bytes of a value; 0 if values share bytes or differ in length. */
const WIDTHS = {
  BOOLEAN: 0,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
  BYTE_ARRAY: 0,
} as const;

const LENGTH_BYTES = 4;

function widthOf({ type, typeLength }: Leaf): number {
  return type === 'FIXED_LEN_BYTE_ARRAY' ? typeLength : WIDTHS[type];
}

/** PLAIN: values as in memory, little-endian; texts after their lengths. */
function plainValues(body: Buffer, at: number, leaf: Leaf, count: number): ArrayLike<StoredValue> {
  const least = leaf.type === 'BYTE_ARRAY' ? LENGTH_BYTES : widthOf(leaf);
  // Checked first: a damaged count must not allocate an array of that length.
  if (body.length - at < Math.max(count * least, Math.ceil(count / 8))) throw new Damage(TOO_SHORT);
  switch (leaf.type) {
    case 'BOOLEAN':
      return Array.from({ length: count }, (_, i) => (body[at + (i >> 3)]! & (1 << (i & 7))) !== 0);
    case 'INT96':
      return Array.from({ length: count }, (_, i) => {
        const from = at + i * 12;
        return (BigInt(body.readInt32LE(from + 8)) << 64n) | body.readBigInt64LE(from);
      });
    case 'BYTE_ARRAY':
      return texts(body, at, count);
    case 'FIXED_LEN_BYTE_ARRAY':
      return slices(body.subarray(at), leaf.typeLength, count);
    default:
      return numbers(body.subarray(at, at + count * least), leaf.type);
  }
}

/** BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, and so on. */
function splitValues(body: Buffer, at: number, leaf: Leaf, count: number): ArrayLike<StoredValue> {
  const width = widthOf(leaf);
  if (body.length - at < count * Math.max(width, 1)) throw new Damage(TOO_SHORT);
  const joined = new Uint8Array(count * width);
  for (let byte = 0; byte < width; byte++) {
    for (let i = 0; i < count; i++) joined[i * width + byte] = body[at + byte * count + i]!;
  }
  return leaf.type === 'FIXED_LEN_BYTE_ARRAY'
    ? slices(joined, width, count)
    : numbers(joined, leaf.type);
}

function numbers(bytes: Uint8Array, type: Leaf['type']): ArrayLike<StoredValue> {
  // A copy: a typed array must begin at a multiple of its width.
  const { buffer } = new Uint8Array(bytes);
  switch (type) {
    case 'INT32':
      return new Int32Array(buffer);
    case 'INT64':
      return new BigInt64Array(buffer);
    case 'FLOAT':
      return new Float32Array(buffer);
    default:
      return new Float64Array(buffer);
  }
}

function slices(bytes: Uint8Array, width: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * width, (i + 1) * width));
}

function texts(body: Buffer, from: number, count: number): Uint8Array[] {
  const values: Uint8Array[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    if (at + LENGTH_BYTES > body.length) throw new Damage(TOO_SHORT);
    const start = at + LENGTH_BYTES;
    at = start + body.readUInt32LE(at);
    if (at > body.length) throw new Damage(TOO_SHORT);
    values.push(body.subarray(start, at));
  }
  return values;
}

/** More miniblocks than any writer makes; the format sets no limit. */
const MOST_MINIBLOCKS = 65_536;

const DAMAGED_HEADER = 'a page has a damaged header of differences';

/** DELTA_BINARY_PACKED: a header (block size, miniblocks a block, count, first value), then blocks: the smallest difference, a width for
 * each miniblock, and the differences minus the smallest in that many bits. Arithmetic wraps in two's complement, as the format
 * requires: numbers of 32 bits are the low half of the result. */
function deltaNumbers(body: Buffer, from: number, count: number, widest: 32 | 64) {
  const read = { bytes: body, at: from };
  const [blockSize = 0, miniblocks = 0, total] = Array.from({ length: 3 }, () =>
    Number(readUnsigned(read)),
  );
  const size = blockSize / miniblocks;
  if (size === 0 || size % 8 !== 0 || miniblocks > MOST_MINIBLOCKS || total !== count)
    throw new Damage(DAMAGED_HEADER);
  const values = new BigInt64Array(count);
  values[0] = readLong(read);
  for (let index = 1; index < count; ) {
    const least = readLong(read);
    const widths = body.subarray(read.at, read.at + miniblocks);
    if (widths.length < miniblocks) throw new Damage(DAMAGED_HEADER);
    read.at += miniblocks;
    for (let block = 0; block < miniblocks && index < count; block++) {
      const width = widths[block]!;
      const many = Math.min(size, count - index);
      // The padding of the last miniblock may be missing, its values may not.
      if (width > widest || read.at + Math.ceil((many * width) / 8) > body.length)
        throw new Damage(DAMAGED_HEADER);
      const short = new Uint32Array(many);
      if (width <= 32) unpackBits(body, read.at, width, short, 0, many);
      for (let i = 0; i < many; i++, index++) {
        const beyond = width <= 32 ? BigInt(short[i]!) : packedValue(body, read.at, width, i);
        values[index] = values[index - 1]! + least + beyond;
      }
      read.at += (size * width) / 8;
    }
  }
  return { values, end: read.at };
}

function int32(values: BigInt64Array): Int32Array {
  return Int32Array.from(values, (value) => Number(BigInt.asIntN(32, value)));
}

/** A prefix of a megabyte in a million texts would take a terabyte. */
const MOST_COPIED = 512 * 1024 * 1024;

/** Texts as their lengths, then their bytes; with `shared`, each text begins with bytes of the previous one. */
function deltaTexts(body: Buffer, from: number, count: number, shared: boolean): Uint8Array[] {
  const shares = shared ? deltaNumbers(body, from, count, 32) : null;
  const { values, end } = deltaNumbers(body, shares?.end ?? from, count, 32);
  const [prefixes, lengths] = [shares && int32(shares.values), int32(values)];
  const texts: Uint8Array[] = [];
  let at = end;
  let last: Uint8Array = new Uint8Array();
  let copied = 0;
  for (let i = 0; i < count; i++) {
    const [prefix, length] = [prefixes?.[i] ?? 0, lengths[i]!];
    if (prefix < 0 || prefix > last.length || length < 0 || length > body.length - at) {
      throw new Damage('a page has texts that reach beyond it');
    }
    if (prefix > 0) copied += prefix + length;
    if (copied > MOST_COPIED)
      throw new Damage(`a page has texts of more than ${MOST_COPIED} bytes`);
    const rest = body.subarray(at, at + length);
    last = prefix === 0 ? rest : Buffer.concat([last.subarray(0, prefix), rest]);
    texts.push(last);
    at += length;
  }
  return texts;
}
