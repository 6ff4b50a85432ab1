import type { StoredValue } from './page-values.ts';
import type { Leaf } from './schema.ts';
import { Damage } from './thrift.ts';

const TOO_SHORT = 'a page is too short for its values';

/** Bytes of a value; 0 where values share bytes or differ in length. */
const WIDTHS = { BOOLEAN: 0, INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8, BYTE_ARRAY: 0 } as const;

/** What stands before a text: its length. */
const LENGTH_BYTES = 4;

function widthOf({ type, typeLength }: Leaf): number {
  return type === 'FIXED_LEN_BYTE_ARRAY' ? typeLength : WIDTHS[type];
}

/**
 * Decodes PLAIN (Apache Parquet, Encodings): values as they lie in memory, little-endian; texts behind their lengths.
 * @throws Damage when the bytes end before
 */
export function plainValues(body: Buffer, at: number, leaf: Leaf, count: number): ArrayLike<StoredValue> {
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

/**
 * Decodes BYTE_STREAM_SPLIT: the first bytes of all values, then the second ones, and so on.
 * @throws Damage when the bytes end before
 */
export function splitValues(body: Buffer, at: number, leaf: Leaf, count: number): ArrayLike<StoredValue> {
  const width = widthOf(leaf);
  const { type } = leaf;
  if (type === 'BOOLEAN' || type === 'INT96' || type === 'BYTE_ARRAY') {
    throw new Damage(`it has ${type} values in encoding 9, which Perilbook does not read`);
  }
  if (body.length - at < count * Math.max(width, 1)) throw new Damage(TOO_SHORT);
  const joined = new Uint8Array(count * width);
  for (let byte = 0; byte < width; byte++) {
    for (let i = 0; i < count; i++) joined[i * width + byte] = body[at + byte * count + i]!;
  }
  return type === 'FIXED_LEN_BYTE_ARRAY' ? slices(joined, width, count) : numbers(joined, type);
}

function numbers(bytes: Uint8Array, type: 'INT32' | 'INT64' | 'FLOAT' | 'DOUBLE'): ArrayLike<StoredValue> {
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
  const found: Uint8Array[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    if (at + LENGTH_BYTES > body.length) throw new Damage(TOO_SHORT);
    const start = at + LENGTH_BYTES;
    at = start + body.readUInt32LE(at);
    if (at > body.length) throw new Damage(TOO_SHORT);
    found.push(body.subarray(start, at));
  }
  return found;
}
