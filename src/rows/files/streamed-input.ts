import { Readable, type Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import { PerilbookError } from '../../errors.ts';
import { HEAD_BYTES, type InputFile, type InputPass } from './input-file.ts';

/** Converts the bytes of a pass, in order. */
export type ChangeBytes = (pass: InputPass) => AsyncGenerator<Buffer, void, void>;

/** The file with its bytes converted while they are read: decompressed, or in another encoding. It is read forwards only. */
export async function streamedInput(
  input: InputFile,
  change: ChangeBytes,
  traits: Partial<Pick<InputFile, 'compression' | 'utf16'>>,
): Promise<InputFile> {
  const startPass = async () => streamedPass(await input.startPass(), change, input.name);
  await using pass = await startPass();
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  let filled = 0;
  let isWhole = false;
  while (!isWhole && filled < head.length) {
    const count = await pass.readInto(head, filled, filled);
    filled += count;
    isWhole = count === 0;
  }
  return { ...input, ...traits, head: head.subarray(0, filled), isWhole, startPass };
}

function streamedPass(source: InputPass, change: ChangeBytes, name: string): InputPass {
  const chunks = change(source);
  let chunk: Buffer = Buffer.alloc(0);
  /** Where in the changed file the chunk begins. */
  let start = 0;
  return {
    async readInto(buffer, offset, position) {
      if (position < start) throw new PerilbookError('BUG', `${name} was read backwards`, 'Please report this.');
      while (position >= start + chunk.length) {
        start += chunk.length;
        const next = await chunks.next();
        chunk = next.done ? Buffer.alloc(0) : next.value;
        if (next.done) return 0;
      }
      return chunk.copy(buffer, offset, position - start);
    },
    assertSame: () => source.assertSame(),
    async [Symbol.asyncDispose]() {
      await chunks.return();
      await source[Symbol.asyncDispose]();
    },
  };
}

const BYTES_A_CHUNK = 256 * 1024;

/** The bytes of a pass from a position to the end. Each chunk is a buffer of its own, the receiver's to change. */
export async function* chunksFrom(pass: InputPass, from: number): AsyncGenerator<Buffer, void, void> {
  for (let position = from; ; ) {
    const chunk = Buffer.allocUnsafeSlow(BYTES_A_CHUNK);
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
): AsyncGenerator<Buffer, void, void> {
  const source = Readable.from(chunks);
  source.on('error', (error) => engine.destroy(error));
  source.pipe(engine);
  try {
    for await (const chunk of engine) yield chunk;
  } finally {
    source.destroy();
    engine.destroy();
    // The file may be closed only when no read of it is under way.
    await finished(source).catch(() => {});
  }
}

/** The part of a file that is in memory, which moves forwards: `bytes` from `from` to `to`. */
export interface ReadWindow {
  bytes: Buffer;
  from: number;
  to: number;
  /** True when nothing of the file is behind it. */
  atEnd: boolean;
  /** Where `bytes` begins in the file. */
  start: number;
  /** Moves what is left to the front and reads on; doubles the buffer when a single record takes over half of it. */
  refill(): Promise<void>;
}

/** @param memory is enlarged where it is too small */
export function readWindow(pass: InputPass, memory: Buffer, start = 0): ReadWindow {
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
