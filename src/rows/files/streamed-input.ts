import { bug } from '../../base/errors.ts';
import type { BytePass } from '../../formats/bytes/byte-source.ts';
import { detectCompression, unpackedBytes } from '../../formats/bytes/unpack.ts';
import { HEAD_BYTES, type InputFile } from './input-file.ts';

export type ChangeBytes = (pass: BytePass) => AsyncGenerator<Buffer, void, void>;

/** The file decompressed while it is read; the file itself if it is not compressed. It is never decompressed as a whole: a small file
 * with an enormous text takes time, but no space. */
export async function unpackedInput(input: InputFile): Promise<InputFile> {
  const compression = detectCompression(input.head);
  if (!compression) return input;
  const unpack: ChangeBytes = (pass) => unpackedBytes(pass, input, compression);
  return await streamedInput(input, unpack, { compression });
}

/** The file with its bytes converted while they are read: decompressed, or in another encoding. It can only be read forwards. */
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

function streamedPass(source: BytePass, change: ChangeBytes, name: string): BytePass {
  const chunks = change(source);
  let chunk: Buffer = Buffer.alloc(0);
  /** Where in the changed file the chunk begins. */
  let start = 0;
  return {
    async readInto(buffer, offset, position) {
      if (position < start) throw bug(`${name} was read backwards`);
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
