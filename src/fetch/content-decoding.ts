import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw, constants as zlib, zstdDecompress } from 'node:zlib';

/** The encodings that requests accept. The first bytes tell zstd and gzip from plain JSON, whatever the header says. */
export const ACCEPT_ENCODING = 'zstd, gzip';

/** Bytes that identify the compression; JSON never begins with them. */
const GZIP = Buffer.of(0x1f, 0x8b);
const ZSTD = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

/** Most memory that a zstd frame may demand, as a power of two: 32 MB, as much as the largest body. */
const ZSTD_WINDOW_LOG = 25;

/** A body that is larger than it may be once it is decompressed. */
export class TooLarge extends Error {}

/**
 * Decompresses a body, on zlib's own threads; a body that is not compressed is returned as it is. gzip and zstd are recognised by
 * their first bytes, so that a missing or wrong header makes no answer unusable.
 *
 * @throws TooLarge for more than `mostBytes`, and zlib's error for data that is damaged or incomplete
 */
export async function decompressed(body: Buffer, header: string | undefined, mostBytes: number): Promise<Buffer> {
  const encoding = encodingOf(body, (header ?? '').trim().toLowerCase());
  if (encoding === null) return body;
  try {
    return await DECOMPRESS[encoding](body, { maxOutputLength: mostBytes });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? new TooLarge() : error;
  }
}

interface Options {
  readonly maxOutputLength: number;
}

const zstd = promisify(zstdDecompress);
const DECOMPRESS = {
  gzip: promisify<Buffer, Options, Buffer>(gunzip),
  br: promisify<Buffer, Options, Buffer>(brotliDecompress),
  deflate: promisify<Buffer, Options, Buffer>(inflate),
  'raw deflate': promisify<Buffer, Options, Buffer>(inflateRaw),
  zstd: (body: Buffer, options: Options) =>
    zstd(body, { ...options, params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
} as const;

function encodingOf(body: Buffer, header: string): keyof typeof DECOMPRESS | null {
  if (body.subarray(0, GZIP.length).equals(GZIP)) return 'gzip';
  if (body.subarray(0, ZSTD.length).equals(ZSTD)) return 'zstd';
  if (header === 'br') return 'br';
  if (header !== 'deflate') return null;
  // `deflate` should be in zlib's format; some servers send raw deflate data.
  const isZlib = body.length >= 2 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
  return isZlib ? 'deflate' : 'raw deflate';
}
