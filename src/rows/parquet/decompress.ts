import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';
import { CODECS } from './format.ts';
import { Damage } from './thrift.ts';

/** Larger pages are refused: writers aim at a megabyte, some put a whole column of a row group into one. */
const LARGEST_PAGE = 512 * 1024 * 1024;

/** The most bytes that one byte can become, for the two codecs whose output is allocated first. */
const SNAPPY_GAIN = 24;
const LZ4_GAIN = 256;

/** Unpacks a page to exactly the size that its header states. @throws Damage */
export function decompress(bytes: Buffer, codec: number, size: number): Buffer {
  if (size > LARGEST_PAGE) throw new Damage(`it has a page of ${size} bytes, over ${LARGEST_PAGE}`);
  const unpacked = decompressPage(bytes, codec, size);
  if (unpacked.length !== size) {
    throw new Damage(`a page unpacks to ${unpacked.length} bytes where its header states ${size}`);
  }
  return unpacked;
}

function decompressPage(bytes: Buffer, codec: number, size: number): Buffer {
  if (size === 0 && bytes.length === 0) return bytes;
  const limit = { maxOutputLength: Math.max(size, 1) };
  const name = CODECS[codec];
  switch (name) {
    case 'UNCOMPRESSED':
      return bytes;
    case 'SNAPPY':
      return unsnap(bytes, size);
    case 'GZIP':
      return unzipSync(bytes, limit);
    case 'BROTLI':
      return brotliDecompressSync(bytes, limit);
    case 'LZ4':
      return unlz4Framed(bytes, size);
    case 'ZSTD':
      return zstdDecompressSync(bytes, limit);
    case 'LZ4_RAW':
      return unlz4(bytes, size);
    default:
      throw new Damage(
        `it is compressed with ${name ?? `codec ${codec}`}, which Perilbook does not read`,
      );
  }
}

const BAD_BLOCK = 'a compressed page is damaged';

/** The published decoders of Snappy trust their input; this one always ends and stays inside its buffers. */
function unsnap(bytes: Buffer, size: number): Buffer {
  if (size > bytes.length * SNAPPY_GAIN) throw new Damage(BAD_BLOCK);
  let at = 0;
  while (at < 5 && bytes[at]! >= 0x80) at++;
  at++;
  const out = Buffer.allocUnsafe(size);
  let used = 0;
  while (at < bytes.length) {
    const tag = bytes[at++]!;
    if ((tag & 3) === 0) {
      let length = (tag >> 2) + 1;
      if (length > 60) {
        const extra = length - 60;
        if (at + extra > bytes.length) throw new Damage(BAD_BLOCK);
        length = bytes.readUIntLE(at, extra) + 1;
        at += extra;
      }
      if (length > bytes.length - at || length > size - used) throw new Damage(BAD_BLOCK);
      bytes.copy(out, used, at, at + length);
      at += length;
      used += length;
      continue;
    }
    const extra = [0, 1, 2, 4][tag & 3]!;
    if (at + extra > bytes.length) throw new Damage(BAD_BLOCK);
    const short = extra === 1;
    const offset = short ? ((tag >> 5) << 8) | bytes[at]! : bytes.readUIntLE(at, extra);
    at += extra;
    used = copyBack(out, used, offset, short ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1);
  }
  return out.subarray(0, used);
}

/** Copies bytes that were written `offset` bytes ago. If the ranges overlap, the bytes repeat. */
function copyBack(out: Buffer, used: number, offset: number, length: number): number {
  if (offset === 0 || offset > used || length > out.length - used) throw new Damage(BAD_BLOCK);
  if (offset >= length) out.copyWithin(used, used - offset, used - offset + length);
  else for (let i = 0; i < length; i++) out[used + i] = out[used + i - offset]!;
  return used + length;
}

/** Hadoop puts each block after its two sizes; other writers of the same codec do not. */
function unlz4Framed(bytes: Buffer, size: number): Buffer {
  const blocks: Buffer[] = [];
  let at = 0;
  let left = size;
  while (at + 8 <= bytes.length) {
    const [unpacked, packed] = [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)];
    if (unpacked > left || packed > bytes.length - at - 8) break;
    blocks.push(unlz4(bytes.subarray(at + 8, at + 8 + packed), unpacked));
    at += 8 + packed;
    left -= unpacked;
  }
  return at === bytes.length && left === 0 ? Buffer.concat(blocks) : unlz4(bytes, size);
}

function unlz4(bytes: Buffer, size: number): Buffer {
  if (size > bytes.length * LZ4_GAIN) throw new Damage(BAD_BLOCK);
  const out = Buffer.allocUnsafe(size);
  let used = 0;
  let at = 0;
  const lengthFrom = (start: number): number => {
    let length = start;
    if (start < 15) return length;
    for (;;) {
      const more = bytes[at++];
      if (more === undefined) throw new Damage(BAD_BLOCK);
      length += more;
      if (more < 255) return length;
    }
  };
  while (at < bytes.length) {
    const token = bytes[at++]!;
    const literals = lengthFrom(token >> 4);
    if (literals > bytes.length - at || literals > size - used) throw new Damage(BAD_BLOCK);
    bytes.copy(out, used, at, at + literals);
    at += literals;
    used += literals;
    if (at === bytes.length) break;
    if (at + 2 > bytes.length) throw new Damage(BAD_BLOCK);
    const offset = bytes.readUInt16LE(at);
    at += 2;
    used = copyBack(out, used, offset, lengthFrom(token & 15) + 4);
  }
  return out.subarray(0, used);
}
