import { isUtf8 } from 'node:buffer';

/** The encodings whose structure is ASCII, so that their bytes are parsed as they are. A file is UTF-8 unless its bytes
 * say otherwise. */
export type TextEncoding = 'utf-8' | 'windows-1252';

const NON_ASCII = /[^\0-\x7f]/;
const windows1252 = new TextDecoder('windows-1252');
let windows1252Bytes: ReadonlyMap<string, number> | undefined;

/** Judges a file by its first bytes. A character cut off at the end of the sample is no evidence against UTF-8. Where both
 * are mixed, the more frequent one it is: text in windows-1252 next to never has a character of UTF-8 by chance. */
export function guessEncoding(sample: Buffer): TextEncoding {
  for (let cut = 0; cut < 4; cut++) if (isUtf8(sample.subarray(0, sample.length - cut))) return 'utf-8';
  const text = sample.toString('utf8');
  const [bad = 0, good = 0] = [/\ufffd/g, /[^\0-\x7f\ufffd]/g].map((kind) => text.match(kind)?.length);
  return good > bad ? 'utf-8' : 'windows-1252';
}

/** The text of some bytes. A field that is not UTF-8 in a file that otherwise is is read as windows-1252: pasted text from
 * an old program is the usual cause, and a wrong accent is better than a lost row. */
export function decodeText(bytes: Buffer, from: number, to: number, encoding: TextEncoding): string {
  if (encoding === 'utf-8') {
    const text = bytes.toString('utf8', from, to);
    // U+FFFD is what bad bytes turn into, and may also stand in the file itself.
    if (!text.includes('\ufffd') || isUtf8(bytes.subarray(from, to))) return text;
  }
  return windows1252.decode(bytes.subarray(from, to));
}

/** The bytes of a text as a string of one character a byte ("latin1"), which joins with raw file content at no cost.
 * What windows-1252 cannot say becomes a question mark. */
export function encodeText(text: string, encoding: TextEncoding): string {
  if (!NON_ASCII.test(text)) return text;
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8').toString('latin1');
  windows1252Bytes ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [windows1252.decode(Uint8Array.of(byte)), byte]),
  );
  return Array.from(text, (char) => String.fromCharCode(windows1252Bytes?.get(char) ?? 0x3f)).join('');
}
