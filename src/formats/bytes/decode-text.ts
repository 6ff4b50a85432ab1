import { isUtf8 } from 'node:buffer';
import { memo } from '../../base/memo.ts';

/** An encoding whose structure is ASCII, so that its bytes are parsed as they are, by its name in the platform's `TextDecoder`. In those of
 * East Asia, letters have bytes of ASCII too, but not those of comma, semicolon, tab, quote and line ends. */
export type TextEncoding = string;
/** The encodings that bytes are recognised as. A file is UTF-8 unless its bytes say otherwise. */
export type GuessedEncoding = 'utf-8' | 'windows-1252';

const NON_ASCII = /[^\0-\x7f]/;
const decoderOf = memo((encoding: TextEncoding) => new TextDecoder(encoding));

/** Guesses the encoding from the first bytes. A character cut off at the end is no evidence against UTF-8. In a mixed file the more
 * frequent encoding wins: windows-1252 text almost never contains a UTF-8 character by chance. */
export function guessEncoding(sample: Buffer): GuessedEncoding {
  for (let cut = 0; cut < 4; cut++)
    if (isUtf8(sample.subarray(0, sample.length - cut))) return 'utf-8';
  const text = sample.toString('utf8');
  const [bad = 0, good = 0] = [/\ufffd/g, /[^\0-\x7f\ufffd]/g].map(
    (kind) => text.match(kind)?.length,
  );
  return good > bad ? 'utf-8' : 'windows-1252';
}

/** The encodings of two bytes a letter that text may be in, by those that it breaks; else that of old Macs. */
export function possibleEncodings(sample: Buffer): string[] {
  // The end may cut a letter, so whole lines are tried.
  const lines = sample.subarray(0, sample.lastIndexOf(0x0a) + 1 || sample.length);
  const fitting = ['shift_jis', 'gb18030', 'big5', 'euc-kr'].filter((encoding) => {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(lines);
      return true;
    } catch {
      return false;
    }
  });
  return fitting.length > 0 ? fitting.slice(0, 2) : ['macintosh'];
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
  return decoderOf(encoding === 'utf-8' ? 'windows-1252' : encoding).decode(
    bytes.subarray(from, to),
  );
}

/** The bytes of a text as a string of one character a byte ("latin1"), which joins with raw file content at no cost. A character that the
 * encoding lacks becomes a question mark. */
export function encodeText(text: string, encoding: TextEncoding): string {
  if (!NON_ASCII.test(text)) return text;
  if (encoding === 'utf-8') return Buffer.from(text, 'utf8').toString('latin1');
  const bytes = bytesOf(encoding);
  return Array.from(text, (char) => (char <= '\x7f' ? char : (bytes.get(char) ?? '?'))).join('');
}

/** The bytes of all characters of an encoding of one or two bytes. The platform has no encoder but that of UTF-8. */
const bytesOf = memo((encoding: TextEncoding): ReadonlyMap<string, string> => {
  const decoder = decoderOf(encoding);
  const known = new Map<string, string>();
  const add = (...bytes: number[]) => {
    const char = decoder.decode(Uint8Array.of(...bytes));
    const isOne = [...char].length === 1 && char !== '\ufffd';
    if (isOne && !known.has(char)) known.set(char, String.fromCharCode(...bytes));
    return isOne;
  };
  for (let lead = 0x80; lead < 0x100; lead++) {
    if (add(lead)) continue;
    for (let trail = 0x30; trail < 0x100; trail++) add(lead, trail);
  }
  return known;
});
