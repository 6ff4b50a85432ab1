import { Readable, type Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { PerilbookError } from '../../base/errors.ts';

/** Bytes that can be read more than once: a file, or its unpacked content. */
export interface ByteSource {
  /** As messages name it. */
  readonly name: string;
  /** The size of the file on disk, in bytes. */
  readonly size: number;
  startPass(): Promise<BytePass>;
  readonly refused: MakeContentError;
}

/** Makes the error for content that cannot be read. @param what a clause about the file, such as `is empty` */
export type MakeContentError = (what: string, hint: string, cause?: unknown) => PerilbookError;

/** Holds the file open until it is disposed of. */
export interface BytePass extends AsyncDisposable {
  /** Reads at a position of the file into a buffer from `offset` to its end; 0 at the end of the file. */
  readInto(buffer: Buffer, offset: number, position: number): Promise<number>;
  /** Refuses when the file has changed since it was opened. */
  assertSame(): Promise<void>;
}

/** Fills a buffer from a position of the file; false when the file ends before. */
export async function readWhole(
  pass: BytePass,
  buffer: Buffer,
  position: number,
): Promise<boolean> {
  for (let done = 0; done < buffer.length; ) {
    const count = await pass.readInto(buffer, done, position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}

export type Chunks = AsyncGenerator<Buffer, void, void>;

const BYTES_A_CHUNK = 256 * 1024;

/** The bytes of a pass from a position to another, or to the end. Each chunk is a buffer of its own, the receiver's to change. */
export async function* chunksFrom(
  pass: BytePass,
  from: number,
  to = Number.POSITIVE_INFINITY,
): Chunks {
  for (let position = from; position < to; ) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(BYTES_A_CHUNK, to - position));
    const count = await pass.readInto(chunk, 0, position);
    if (count === 0) return;
    position += count;
    yield chunk.subarray(0, count);
  }
}

/** Passes chunks through an engine that packs or unpacks them. */
export async function* throughEngine(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  engine: Transform,
): Chunks {
  const source = Readable.from(chunks);
  source.on('error', (error) => engine.destroy(error));
  source.pipe(engine);
  try {
    for await (const chunk of engine) yield chunk;
  } finally {
    source.destroy();
    engine.destroy();
    // The file may be closed only when no read is in progress.
    await finished(source).catch(() => {});
  }
}

/** The part of a file that is in memory: `bytes` from `from` to `to`. It moves forward. */
export interface ReadWindow {
  bytes: Buffer;
  from: number;
  to: number;
  atEnd: boolean;
  /** Where `bytes` begins in the file. */
  start: number;
  /** Moves the unread bytes to the front and reads more; doubles the buffer when one record takes over half of it. */
  refill(): Promise<void>;
}

/** @param memory the first buffer; a larger one replaces it when needed */
export function readWindow(pass: BytePass, memory: Buffer, start = 0): ReadWindow {
  let position = start;
  const window: ReadWindow = {
    bytes: memory,
    from: 0,
    to: 0,
    atEnd: false,
    start,
    async refill() {
      const left = window.to - window.from;
      window.start += window.from;
      const { length } = window.bytes;
      const bytes = left * 2 > length ? Buffer.allocUnsafe(length * 2) : window.bytes;
      window.bytes.copy(bytes, 0, window.from, window.to);
      Object.assign(window, { bytes, from: 0, to: left });
      while (!window.atEnd && window.to < bytes.length) {
        const count = await pass.readInto(bytes, window.to, position);
        if (count === 0) window.atEnd = true;
        window.to += count;
        position += count;
      }
    },
  };
  return window;
}
