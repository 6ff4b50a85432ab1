import { bug } from '../../base/errors.ts';
import { type BytePass, chunksFrom } from '../../formats/bytes/byte-source.ts';
import { detectCompression, unpackedBytes } from '../../formats/bytes/unpack.ts';
import {
  type FileEncoding,
  guessUtf16,
  inOrder,
  isUtf16,
  type Utf16,
  utf8Of,
} from '../text-encoding.ts';
import { HEAD_BYTES, type InputFile, unreadable } from './input-file.ts';

type ChangeBytes = (pass: BytePass) => AsyncGenerator<Buffer, void, void>;

/** The file decompressed while it is read; the file itself if it is not compressed. It is never decompressed as a whole: a small file
 * with an enormous text takes time, but no space. */
export async function unpackedInput(input: InputFile): Promise<InputFile> {
  const compression = detectCompression(input.head);
  if (!compression) return input;
  const unpack: ChangeBytes = (pass) => unpackedBytes(pass, input, compression);
  return await streamedInput(input, unpack, { compression });
}

/** The file converted to UTF-8 if it is UTF-16, by its first bytes or by the user's setting; else the file itself. */
export async function utf8Input(input: InputFile, named?: FileEncoding): Promise<InputFile> {
  if (named !== undefined && !isUtf16(named)) return input;
  // A byte order mark overrides the user's setting: `utf-16` names no byte order.
  const utf16 = guessUtf16(input.head) ?? named;
  if (!utf16) return input;
  return await streamedInput(input, (pass) => utf8Chunks(pass, input.name, utf16), { utf16 });
}

async function* utf8Chunks(
  pass: BytePass,
  name: string,
  utf16: Utf16,
): AsyncGenerator<Buffer, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksFrom(pass, 0)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % 2);
    // The second half of a pair may come with the next chunk.
    const last = whole === 0 ? 0 : utf16 === 'utf-16le' ? bytes[whole - 1]! : bytes[whole - 2]!;
    const end = last >= 0xd8 && last < 0xdc ? whole - 2 : whole;
    rest = Buffer.from(bytes.subarray(end));
    if (end > 0) yield utf8Of(inOrder(bytes.subarray(0, end), utf16));
  }
  if (rest.length % 2 === 1)
    throw unreadable(name, 'ends within a UTF-16 character', 'Fetch or copy the file again.');
  if (rest.length > 0) yield utf8Of(inOrder(rest, utf16));
}

/** The file with its bytes converted while they are read: decompressed, or in another encoding. It can only be read forwards. */
async function streamedInput(
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
