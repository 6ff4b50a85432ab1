import { isUtf8 } from 'node:buffer';
import { PerilbookError, resultOrNull } from '../base/errors.ts';
import {
  guessEncoding,
  possibleEncodings,
  type TextEncoding,
} from '../formats/bytes/decode-text.ts';

/** The two byte orders of UTF-16. */
export type Utf16 = 'utf-16le' | 'utf-16be';

/** An encoding of text files, by its name in the platform's `TextDecoder`. */
export type FileEncoding = TextEncoding | Utf16;

/** Whether a letter takes two bytes, so that no byte alone ends a line or a field. */
export const isUtf16 = (encoding: FileEncoding): encoding is Utf16 =>
  encoding === 'utf-16le' || encoding === 'utf-16be';

/** The encoding that a user names, by any of its usual names (`latin1`, `cp1252`, `utf8`, `shift_jis`): all of the platform, with one
 * exception. @throws USAGE */
export function encodingNamed(name: string): FileEncoding {
  const label = LABELS[name.trim().toLowerCase()] ?? name;
  const standardName = resultOrNull(() => new TextDecoder(label).encoding);
  if (standardName !== null && !STATEFUL.has(standardName)) return standardName;
  const hint =
    standardName === null
      ? 'Give one of utf-8, windows-1252, utf-16le, macintosh, shift_jis, gb18030, big5, euc-kr, koi8-r …, or convert the file to UTF-8 first.'
      : `Convert the file to UTF-8 first, for instance with: iconv -f ${standardName} -t UTF-8 FILE > utf8.csv.`;
  throw new PerilbookError('USAGE', `${JSON.stringify(name)} is not a supported encoding`, hint);
}

/** In this encoding the bytes of commas and quotes are also letters. */
const STATEFUL: ReadonlySet<string> = new Set(['iso-2022-jp', 'replacement']);

/** Names that other programs give to the platform's encodings. */
const LABELS: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  'windows-932': 'shift_jis',
  cp936: 'gb18030',
  cp949: 'euc-kr',
  uhc: 'euc-kr',
  cp950: 'big5',
  macroman: 'macintosh',
  'mac-roman': 'macintosh',
  mac_roman: 'macintosh',
  macos: 'macintosh',
  latin9: 'iso-8859-15',
  'latin-1': 'windows-1252',
};

/** The encoding of a text, and whether it is a guess by its first bytes. */
export interface EncodingOfText {
  readonly encoding: TextEncoding;
  readonly isEncodingGuessed: boolean;
}

/** The encoding of a text: as the user names it, UTF-8 after its mark or as it was converted from UTF-16, else as its bytes look. */
export function encodingOf(
  { head, utf16 }: { readonly head: Buffer; readonly utf16: Utf16 | null },
  named: FileEncoding | undefined,
): EncodingOfText {
  if (utf16 !== null) return { encoding: 'utf-8', isEncodingGuessed: false };
  if (named !== undefined && !isUtf16(named)) return { encoding: named, isEncodingGuessed: false };
  const hasMark = head.toString('latin1', 0, MARK.length) === MARK;
  return { encoding: hasMark ? 'utf-8' : guessEncoding(head), isEncodingGuessed: !hasMark };
}

const MARK = '\xef\xbb\xbf';

/** Says that letters beyond ASCII were decoded by a guess. The bytes of the input's own format stay as they are. */
export function encodingNote(
  head: Buffer,
  { encoding, isEncodingGuessed }: EncodingOfText,
): string | null {
  if (!isEncodingGuessed || encoding === 'utf-8') return null;
  const others = possibleEncodings(head).join(' or ');
  return `The file is not UTF-8, and was read as ${encoding}. If its letters look wrong, name its encoding, for instance --encoding ${others}.`;
}

/** Whether the second byte of a letter may be one of ASCII. */
export const hasAsciiInLetters = (encoding: TextEncoding): boolean =>
  /^(?:shift_jis|gbk|gb18030|big5|euc-kr)$/.test(encoding);

const SAMPLE_BYTES = 4096;
/** Fewer characters are no evidence: `lat,lng` has seven. */
const FEWEST_UNITS = 7;

/** The byte order that the first bytes show, by a byte order mark or by the zero bytes of ASCII characters; null for other texts. */
export function guessUtf16(head: Buffer): Utf16 | null {
  const mark = head.toString('latin1', 0, 4);
  if (mark.startsWith('\xff\xfe')) return mark === '\xff\xfe\0\0' ? null : 'utf-16le';
  if (mark.startsWith('\xfe\xff')) return 'utf-16be';
  // Other formats have a signature of their own.
  if (head[0] !== 0 && head[1] !== 0) return null;
  const pairs = Math.min(head.length, SAMPLE_BYTES) >> 1;
  if (pairs < FEWEST_UNITS) return null;
  let [first, second] = [0, 0];
  for (let i = 0; i < pairs; i++) {
    if (head[2 * i] === 0) first++;
    if (head[2 * i + 1] === 0) second++;
  }
  const mostly = (zeros: number, others: number) => zeros > pairs * 0.4 && others * 20 < zeros;
  return mostly(second, first) ? 'utf-16le' : mostly(first, second) ? 'utf-16be' : null;
}

/** UTF-16 (little-endian, whole units) as UTF-8, reversibly: a lone surrogate becomes three bytes (WTF-8), which are not valid UTF-8. */
export function utf8Of(units: Buffer): Buffer {
  const text = units.toString('utf16le');
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  return Buffer.concat(
    // A lone surrogate becomes a piece of its own.
    text
      .split(/(\p{Surrogate})/u)
      .map((piece) =>
        piece.isWellFormed() ? Buffer.from(piece, 'utf8') : threeBytes(piece.charCodeAt(0)),
      ),
  );
}

function threeBytes(half: number): Buffer {
  return Buffer.of(0xe0 | (half >> 12), 0x80 | ((half >> 6) & 0x3f), 0x80 | (half & 0x3f));
}

/** The inverse of `utf8Of`, for whole characters. */
export function utf16Of(bytes: Buffer): Buffer {
  if (isUtf8(bytes)) return Buffer.from(bytes.toString('utf8'), 'utf16le');
  const pieces: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    // ED A0 80 to ED BF BF are the halves; ED 80 80 to ED 9F BF are Korean.
    if (bytes[at + 1]! < 0xa0) continue;
    const half = 0xd000 | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
    pieces.push(
      Buffer.from(bytes.toString('utf8', from, at), 'utf16le'),
      Buffer.of(half & 0xff, half >> 8),
    );
    from = at + 3;
  }
  pieces.push(Buffer.from(bytes.toString('utf8', from), 'utf16le'));
  return Buffer.concat(pieces);
}

/** Swaps the bytes of each unit in place if the byte order differs. */
export function inOrder(units: Buffer, utf16: Utf16): Buffer {
  return utf16 === 'utf-16be' ? units.swap16() : units;
}

/** How many bytes at the end of UTF-8 bytes belong to an incomplete character. */
export function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}
