import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  createGunzip,
  gunzip,
  type ZlibOptions,
  type ZstdOptions,
  constants as zlib,
  zstdDecompress,
} from 'node:zlib';

/** The encodings that requests accept whose bodies are read whole. The first bytes tell zstd and gzip from plain data, whatever the header says. */
export const ACCEPT_ENCODING = 'zstd, gzip';

/** Bytes that identify the compression; JSON never begins with them. */
const GZIP = Buffer.of(0x1f, 0x8b);
const ZSTD = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

/** Most memory that a zstd frame may demand, as a power of two: 32 MB, as much as the largest body. */
const ZSTD_WINDOW_LOG = 25;

/** A body that is larger than it may be once it is decompressed. */
export class TooLarge extends Error {}

const ungzip = promisify<Buffer, ZlibOptions, Buffer>(gunzip);
const unzstd = promisify<Buffer, ZstdOptions, Buffer>(zstdDecompress);

/** Decompresses a body, on zlib's own threads; a body that is not compressed is returned as it is. Both encodings are recognised by
 * their first bytes, so that a missing or wrong header makes no answer unusable.
 * @throws TooLarge for more than `mostBytes`, and zlib's error for data that is damaged or incomplete */
export async function decompressBody(body: Buffer, mostBytes: number): Promise<Buffer> {
  const options = { maxOutputLength: mostBytes };
  try {
    if (body.subarray(0, GZIP.length).equals(GZIP)) return await ungzip(body, options);
    if (!body.subarray(0, ZSTD.length).equals(ZSTD)) return body;
    return await unzstd(body, {
      ...options,
      params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? new TooLarge() : error;
  }
}

/** A body that arrives in parts, unpacked if the server sent it as gzip. */
export function unpackedBody(body: Readable, contentEncoding: string | undefined): Readable {
  if (!/gzip/i.test(contentEncoding ?? '')) return body;
  const unpacked = createGunzip();
  body.on('error', (error) => unpacked.destroy(error));
  return body.pipe(unpacked);
}
