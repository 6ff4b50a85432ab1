import { isUtf8 } from 'node:buffer';

/** The encodings whose structure is ASCII, so that their bytes are parsed as they are. A file is UTF-8 unless its bytes say otherwise. */
export type TextEncoding = 'utf-8' | 'windows-1252';

const NON_ASCII = /[^\0-\x7f]/;
const windows1252 = new TextDecoder('windows-1252');
let windows1252Bytes: ReadonlyMap<string, number> | undefined;

/** Guesses the encoding from the first bytes. A character cut off at the end is no evidence against UTF-8. In a mixed file the more
 * frequent encoding wins: windows-1252 text almost never contains a UTF-8 character by chance. */
export function guessEncoding(sample: Buffer): TextEncoding {
  for (let cut = 0; cut < 4; cut++)
    if (isUtf8(sample.subarray(0, sample.length - cut))) return 'utf-8';
  const text = sample.toString('utf8');
  const [bad = 0, good = 0] = [/\ufffd/g, /[^\0-\x7f\ufffd]/g].map(
    (kind) => text.match(kind)?.length,
  );
  return good > bad ? 'utf-8' : 'windows-1252';
}

/** The text of some bytes. A field of a UTF-8 file that is not UTF-8 is read as windows-1252: the usual cause is text pasted from an old
 * program, and a wrong accent is better than a lost row. */
export function decodeText(
  bytes: Buffer,
  from: number,
  to: number,
  encoding: TextEncoding,
): string {
  if (encoding === 'utf-8') {
    const text = bytes.toString('utf8', from, to);
    // Bad bytes become U+FFFD, but the file may also contain it.
    if (!text.includes('\ufffd') || isUtf8(bytes.subarray(from, to))) return text;
  }
  return windows1252.decode(bytes.subarray(from, to));
}

/** The bytes of a text as a string of one character a byte ("latin1"), which joins with raw file content at no cost. A character that
 * windows-1252 lacks becomes a question mark. */
export function encodeText(text: string, encoding: TextEncoding): string {
  if (!NON_ASCII.test(text)) return text;
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8').toString('latin1');
  windows1252Bytes ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [windows1252.decode(Uint8Array.of(byte)), byte]),
  );
  return Array.from(text, (char) => String.fromCharCode(windows1252Bytes?.get(char) ?? 0x3f)).join(
    '',
  );
}
