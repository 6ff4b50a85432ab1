import { isAscii, isUtf8 } from 'node:buffer';
import { stringify } from 'csv-stringify/sync';
import { printable } from '../../base/printable.ts';
import { chunksFrom } from '../../formats/bytes/byte-source.ts';
import { encodeText, type TextEncoding } from '../../formats/bytes/decode-text.ts';
import { type Quoting, RFC_QUOTING } from '../../formats/csv/scan-records.ts';
import type { InputFile } from '../files/input-file.ts';
import { unfinishedBytes } from '../files/text-encoding.ts';
import type { RowPiece } from '../port.ts';
import type { Dialect } from './dialect.ts';

export interface FieldFormat {
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  readonly quoting?: Quoting | undefined;
  /** The decimal separator; default: a point. */
  readonly decimal?: 'point' | 'comma' | undefined;
}

/** Spreadsheets run texts with such a beginning as formulas, also in the wide forms of East Asian keyboards. */
const BEGINS_FORMULA = /^[=+\-@\t\n＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Most texts: they need no quotes, are no formula, and are the same in every encoding. The library takes 1.3 µs for a field. */
const PLAIN = /^\w[\w .:/#&()%'-]*$/;

/** Spreadsheets mark a text by an apostrophe. A text that is a number stays a number. */
function harmless(text: string): string {
  return BEGINS_FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** Makes a function that formats a text as a field, quoted by csv-stringify where RFC 4180 asks for it: a string of one character a byte.
 * @param isWritten true for a text from Perilbook, which must not run as a formula in a spreadsheet or control a terminal; false
 * for the user's own */
export function textFormatter({
  delimiter,
  encoding,
  quoting = RFC_QUOTING,
}: FieldFormat): (text: string, isWritten: boolean) => string {
  const options = { delimiter, eof: false, ...quoting };
  return (given, isWritten) => {
    if (PLAIN.test(given) && !given.includes(delimiter)) return given;
    return encodeText(stringify([[isWritten ? harmless(printable(given)) : given]], options), encoding);
  };
}

/** The encoding in which added text is written. If the head of a large file is ASCII, the rest decides, because one `µg/m³` in UTF-8 among
 * rows of windows-1252 would make the file unreadable. The first byte beyond ASCII decides.
 * @param scanned the pieces of the file as the scan has read them; without them, the file is searched (under a second for a gigabyte) */
export async function encodingToWrite(
  input: InputFile,
  dialect: Dialect,
  scanned: readonly RowPiece[] | undefined,
): Promise<TextEncoding> {
  if (!dialect.isEncodingGuessed || input.isWhole || !isAscii(input.head)) return dialect.encoding;
  if (scanned !== undefined && scanned.length > 0)
    return scanned.find(({ encoding }) => encoding)?.encoding ?? dialect.encoding;
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
