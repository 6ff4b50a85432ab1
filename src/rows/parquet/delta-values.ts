import { unpackBits } from './hybrid.ts';
import { Damage } from './thrift.ts';

/** More miniblocks than any writer makes; the format sets no limit. */
const MOST_MINIBLOCKS = 65_536;

const DAMAGED_HEADER = 'a page has a damaged header of differences';

/** Whole numbers that were stored as differences, and where the bytes behind them begin. */
export interface DeltaValues<Values> {
  readonly values: Values;
  readonly end: number;
}

/**
 * Decodes DELTA_BINARY_PACKED (Apache Parquet, Encodings): a header (block size, miniblocks a block, count, first value),
 * then blocks of a least difference, a width for each miniblock, and the differences beyond the least one in that many bits.
 * Arithmetic wraps in two's complement, as the format says.
 *
 * @throws Damage when the header makes no sense, or the bytes end before
 */
export function deltaInt32(body: Buffer, from: number, count: number): DeltaValues<Int32Array> {
  const values = new Int32Array(count);
  const end = decode(body, from, count, 32, (index, difference) => {
    values[index] = (index === 0 ? 0 : values[index - 1]!) + Number(BigInt.asIntN(32, difference));
  });
  return { values, end };
}

/** The same for INT64. */
export function deltaInt64(body: Buffer, from: number, count: number): DeltaValues<BigInt64Array> {
  const values = new BigInt64Array(count);
  const end = decode(body, from, count, 64, (index, difference) => {
    values[index] = (index === 0 ? 0n : values[index - 1]!) + difference;
  });
  return { values, end };
}

/** Calls `add` with the first value, and then with the difference of each value to the one before it. */
function decode(
  body: Buffer,
  from: number,
  count: number,
  widest: number,
  add: (index: number, difference: bigint) => void,
): number {
  const read = varints(body, from);
  const [blockSize, miniblocks, total] = [Number(read.next()), Number(read.next()), Number(read.next())];
  const size = blockSize / miniblocks;
  if (!(blockSize > 0 && miniblocks > 0 && miniblocks <= MOST_MINIBLOCKS) || size % 8 !== 0 || total !== count) {
    throw new Damage(DAMAGED_HEADER);
  }
  const first = zigZag(read.next());
  if (count > 0) add(0, first);
  for (let index = 1; index < count; ) {
    const least = zigZag(read.next());
    const widths = body.subarray(read.at, read.at + miniblocks);
    if (widths.length < miniblocks) throw new Damage(DAMAGED_HEADER);
    read.at += miniblocks;
    for (let block = 0; block < miniblocks && index < count; block++) {
      const width = widths[block]!;
      const many = Math.min(size, count - index);
      // The padding of the last miniblock may be left out, the values may not.
      if (width > widest || read.at + Math.ceil((many * width) / 8) > body.length) throw new Damage(DAMAGED_HEADER);
      const beyond = unpacked(body, read.at, width, many);
      for (let i = 0; i < many; i++) add(index++, least + beyond(i));
      read.at += (size * width) / 8;
    }
  }
  return read.at;
}

/** Values of up to 64 bits, packed from the lowest bit on. */
function unpacked(body: Buffer, from: number, width: number, count: number): (index: number) => bigint {
  if (width === 0) return () => 0n;
  if (width <= 32) {
    const values = new Uint32Array(count);
    unpackBits(body, from, width, values, 0, count);
    return (index) => BigInt(values[index]!);
  }
  return (index) => {
    const firstBit = index * width;
    const start = from + (firstBit >> 3);
    const skipped = firstBit & 7;
    let value = 0n;
    for (let byte = 0; byte * 8 < skipped + width; byte++) value |= BigInt(body[start + byte]!) << BigInt(byte * 8);
    return BigInt.asUintN(width, value >> BigInt(skipped));
  };
}

/** Reads unsigned LEB128 numbers of at most 64 bits. */
function varints(body: Buffer, from: number) {
  return {
    at: from,
    next(): bigint {
      let value = 0n;
      for (let shift = 0n; shift < 70n; shift += 7n) {
        const byte = body[this.at++];
        if (byte === undefined) throw new Damage(DAMAGED_HEADER);
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
      throw new Damage(DAMAGED_HEADER);
    },
  };
}

function zigZag(value: bigint): bigint {
  return (value >> 1n) ^ -(value & 1n);
}
