import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib';

/** What a request says it accepts. zstd and gzip can be told from plain JSON by their first bytes, whatever the header says. */
export const ACCEPT_ENCODING = 'zstd, gzip';

/** Bytes that decide about the compression. */
const SIGNATURE_BYTES = 4;
const GZIP = Buffer.of(0x1f, 0x8b);
const ZSTD = Buffer.of(0x28, 0xb5, 0x2f, 0xfd);

/** Each piece of output; of a body of 6 MB that is 92 pieces instead of the 366 of Node's default. */
const CHUNK_BYTES = 64 * 1024;

/** Most memory that a zstd frame may ask for, as a power of two: 32 MB, as much as the largest body. */
const ZSTD_WINDOW_LOG = 25;

export interface DecoderEvents {
  readonly onData: (chunk: Buffer) => void;
  readonly onEnd: () => void;
  /** The compressed data are damaged or cut off. */
  readonly onDamage: (message: string) => void;
  /** More may be written, after a `write` that was answered with false. */
  readonly onDrain: () => void;
}

/** Undoes the compression of one body while it arrives, on zlib's own threads. */
export class ContentDecoder {
  readonly #header: string;
  readonly #events: DecoderEvents;
  /** The first bytes, until they are enough to tell the compression. */
  #start: Buffer | null = Buffer.alloc(0);
  /** Null where the body is not compressed. */
  #stream: Transform | null = null;

  constructor(header: string | undefined, events: DecoderEvents) {
    this.#header = (header ?? '').trim().toLowerCase();
    this.#events = events;
  }

  /** False when the sender should wait for `onDrain`. */
  write(chunk: Buffer): boolean {
    let ready = chunk;
    if (this.#start !== null) {
      ready = this.#start.length === 0 ? chunk : Buffer.concat([this.#start, chunk]);
      this.#start = ready;
      if (ready.length < SIGNATURE_BYTES) return true;
      this.#begin(ready);
    }
    if (this.#stream !== null) return this.#stream.write(ready);
    this.#events.onData(ready);
    return true;
  }

  end(): void {
    const rest = this.#start;
    if (rest !== null && rest.length > 0) {
      this.#begin(rest);
      if (this.#stream === null) this.#events.onData(rest);
      else this.#stream.write(rest);
    }
    if (this.#stream === null) this.#events.onEnd();
    else this.#stream.end();
  }

  /** Frees what the decoder holds; afterwards it tells nothing more. */
  close(): void {
    this.#stream
      ?.removeAllListeners()
      .on('error', () => {})
      .destroy();
  }

  #begin(start: Buffer): void {
    this.#start = null;
    this.#stream = streamFor(this.#header, start);
    this.#stream
      ?.on('data', this.#events.onData)
      .on('end', this.#events.onEnd)
      .on('drain', this.#events.onDrain)
      .on('error', (error) => this.#events.onDamage(error.message));
  }
}

/** Null where the body is taken as it is. gzip and zstd are known by their first bytes, so that a header that is missing or
 * wrong spoils no answer: JSON never begins with them. */
function streamFor(header: string, start: Buffer): Transform | null {
  const options = { chunkSize: CHUNK_BYTES };
  if (start.subarray(0, GZIP.length).equals(GZIP)) return createGunzip(options);
  if (start.subarray(0, ZSTD.length).equals(ZSTD)) {
    return createZstdDecompress({ ...options, params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } });
  }
  if (header === 'br') return createBrotliDecompress(options);
  if (header !== 'deflate') return null;
  // `deflate` should be in zlib's format; some servers send the bare data.
  const isZlib = start.length >= 2 && (start[0]! & 0x0f) === 8 && start.readUInt16BE(0) % 31 === 0;
  return isZlib ? createInflate(options) : createInflateRaw(options);
}
