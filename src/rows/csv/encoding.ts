import { isAscii, isUtf8 } from 'node:buffer';
import type { InputFile } from '../files/input-file.ts';
import { chunksFrom } from '../files/streamed-input.ts';
import type { TextEncoding } from '../files/text-encoding.ts';
import { unfinishedBytes } from '../files/utf16.ts';
import type { Dialect } from './dialect.ts';

/**
 * The encoding in which added text is written. Where the head of a large file is ASCII only, the rest is searched (a gigabyte
 * takes under a second): one `µg/m³` in UTF-8 among rows of windows-1252 would make the file unreadable. The first byte beyond
 * ASCII decides.
 */
export async function encodingToWrite(input: InputFile, dialect: Dialect): Promise<TextEncoding> {
  if (!dialect.isEncodingGuessed || input.isWhole || !isAscii(input.head)) return dialect.encoding;
  await using pass = await input.startPass();
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunksFrom(pass, input.head.length)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const end = bytes.length - unfinishedBytes(bytes);
    rest = bytes.subarray(end);
    const whole = bytes.subarray(0, end);
    if (!isAscii(whole)) return isUtf8(whole) ? 'utf-8' : 'windows-1252';
  }
  return rest.length > 0 ? 'windows-1252' : dialect.encoding;
}
