import { Damage } from './thrift.ts';

/** Runs of equal values mixed with values packed into a fixed number of bits: how Parquet stores levels and indexes. */

/** Reads `count` values of `width` bits. @throws Damage when the bytes end before, or a run is longer than the rest */
export function decodeHybrid(
  bytes: Uint8Array,
  from: number,
  width: number,
  count: number,
): Uint32Array {
  if (width > 32) throw new Damage(`it has values of ${width} bits`);
  const values = new Uint32Array(count);
  let at = from;
  let filled = 0;
  while (filled < count) {
    let header = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > 2 ** 28)
        throw new Damage('a page has fewer values than it states');
      header += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    const run = Math.floor(header / 2);
    if (header % 2 === 1) {
      const many = Math.min(run * 8, count - filled);
      // The padding of the last group may be missing, its values may not.
      if (at + Math.ceil((many * width) / 8) > bytes.length)
        throw new Damage('a page has fewer values than it states');
      unpackBits(bytes, at, width, values, filled, many);
      at += run * width;
      filled += many;
    } else {
      const size = Math.ceil(width / 8);
      if (at + size > bytes.length) throw new Damage('a page has fewer values than it states');
      let value = 0;
      for (let i = 0; i < size; i++) value += bytes[at + i]! * 2 ** (8 * i);
      at += size;
      const many = Math.min(run, count - filled);
      values.fill(value, filled, filled + many);
      filled += many;
    }
  }
  return values;
}

/** Reads `count` values of `width` bits (at most 32), packed from the lowest bit, into `values` from `offset`. */
export function unpackBits(
  bytes: Uint8Array,
  from: number,
  width: number,
  values: Uint32Array,
  offset: number,
  count: number,
): void {
  if (width > 24) {
    for (let i = 0; i < count; i++) values[offset + i] = Number(packedValue(bytes, from, width, i));
    return;
  }
  const mask = (1 << width) - 1;
  let at = from;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < count; i++) {
    while (bits < width) {
      held |= bytes[at++]! << bits;
      bits += 8;
    }
    values[offset + i] = held & mask;
    held >>>= width;
    bits -= width;
  }
}

/** One of several packed values of up to 64 bits. A BigInt, because 32 bits hold only values of up to 24 bits that do not begin at a byte. */
export function packedValue(bytes: Uint8Array, from: number, width: number, index: number): bigint {
  const firstBit = index * width;
  const start = from + (firstBit >> 3);
  const skipped = firstBit & 7;
  let value = 0n;
  for (let byte = 0; byte * 8 < skipped + width; byte++)
    value |= BigInt(bytes[start + byte]!) << BigInt(byte * 8);
  return BigInt.asUintN(width, value >> BigInt(skipped));
}

/** A run must save more than its own header, and packed values come in groups of eight. */
const SHORTEST_RUN = 16;

/** The bits that a value needs. */
export const bitsOf = (largest: number): number => 32 - Math.clz32(largest);

/** Writes one value that is repeated. */
export function encodeRun(value: number, count: number, width: number): Buffer {
  const out = Buffer.allocUnsafe(16);
  return out.subarray(0, putRun(out, 0, value, count, width));
}

function putRun(out: Buffer, at: number, value: number, count: number, width: number): number {
  let used = putVarint(out, at, count * 2);
  for (let b = 0; b < width; b += 8) out[used++] = (value >>> b) & 0xff;
  return used;
}

function putVarint(out: Buffer, at: number, value: number): number {
  let used = at;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) out[used++] = (rest & 0x7f) | 0x80;
  out[used++] = rest;
  return used;
}

/** Writes values of at most 24 bits.
 * @param make gives the memory of the result, which may be longer */
export function encodeHybrid(
  values: Uint32Array,
  width: number,
  make: (length: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const out = make(
    Math.ceil(values.length / 8) * width + 16 + 6 * Math.ceil(values.length / SHORTEST_RUN),
  );
  let used = 0;
  let pending = 0;
  const putPacked = (to: number) => {
    if (to === pending) return;
    const groups = Math.ceil((to - pending) / 8);
    used = putVarint(out, used, groups * 2 + 1);
    used = pack(values, pending, to, groups * 8, width, out, used);
  };
  // A run begins and ends where a group of eight does, so that most groups cost one comparison.
  for (let at = 0; at < values.length; ) {
    const value = values[at]!;
    let end = at + 1;
    while (end < values.length && values[end] === value) end++;
    if (end < values.length) end -= (end - at) & 7;
    if (end - at >= SHORTEST_RUN || (pending === at && end === values.length)) {
      putPacked(at);
      used = putRun(out, used, value, end - at, width);
      pending = end;
      at = end;
    } else at += 8;
  }
  putPacked(values.length);
  return out.subarray(0, used);
}

function pack(
  values: Uint32Array,
  from: number,
  to: number,
  padded: number,
  width: number,
  out: Buffer,
  start: number,
): number {
  let used = start;
  let held = 0;
  let bits = 0;
  let i = from;
  // Two bytes at once: a value takes one branch.
  for (; width <= 16 && i < to; i++) {
    held |= values[i]! << bits;
    bits += width;
    if (bits < 16) continue;
    out[used] = held & 0xff;
    out[used + 1] = (held >>> 8) & 0xff;
    used += 2;
    held >>>= 16;
    bits -= 16;
  }
  for (; i < to; i++) {
    held |= values[i]! << bits;
    bits += width;
    while (bits >= 8) {
      out[used++] = held & 0xff;
      held >>>= 8;
      bits -= 8;
    }
  }
  const end = start + (padded * width) / 8;
  for (; used < end; used++) {
    out[used] = held & 0xff;
    held >>>= 8;
  }
  return end;
}
