import { type BytePass, chunksFrom } from '../../formats/bytes/byte-source.ts';
import { type InputFile, unreadable } from './input-file.ts';
import type { OutputFile } from './output-file.ts';
import { streamedInput } from './streamed-input.ts';
import { type FileEncoding, guessUtf16, type Utf16, unfinishedBytes, utf8Of, utf16Of } from './text-encoding.ts';

/** The file converted to UTF-8 if it is UTF-16, by its first bytes or by the user's setting; else the file itself. */
export async function utf8Input(input: InputFile, named?: FileEncoding): Promise<InputFile> {
  if (named === 'utf-8' || named === 'windows-1252') return input;
  // A byte order mark overrides the user's setting: `utf-16` names no byte order.
  const utf16 = guessUtf16(input.head) ?? named;
  if (!utf16) return input;
  return await streamedInput(input, (pass) => utf8Chunks(pass, input.name, utf16), { utf16 });
}

async function* utf8Chunks(pass: BytePass, name: string, utf16: Utf16): AsyncGenerator<Buffer, void, void> {
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
  if (rest.length % 2 === 1) throw unreadable(name, 'ends within a UTF-16 character', 'Fetch or copy the file again.');
  if (rest.length > 0) yield utf8Of(inOrder(rest, utf16));
}

/** An output that converts UTF-8 to UTF-16. */
export function utf16Output(output: OutputFile, utf16: Utf16): OutputFile {
  let rest: Buffer = Buffer.alloc(0);
  return {
    ...output,
    async write(bytes) {
      const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
      const end = all.length - unfinishedBytes(all);
      // The caller uses its buffer again.
      rest = Buffer.from(all.subarray(end));
      if (end > 0) await output.write(inOrder(utf16Of(all.subarray(0, end)), utf16));
    },
  };
}

/** Swaps the bytes of each unit in place if the byte order differs. */
function inOrder(units: Buffer, utf16: Utf16): Buffer {
  return utf16 === 'utf-16be' ? units.swap16() : units;
}
