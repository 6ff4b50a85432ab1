import { isAscii, isUtf8 } from 'node:buffer';
import { stringify } from 'csv-stringify/sync';
import { isDecimalNumber } from '../../base/decimal-number.ts';
import { printable } from '../../base/printable.ts';
import type { Field } from '../../contract/answer.ts';
import { chunksFrom } from '../../formats/bytes/byte-source.ts';
import { encodeText, type TextEncoding } from '../../formats/bytes/decode-text.ts';
import { type Quoting, RFC_QUOTING } from '../../formats/csv/scan-records.ts';
import type { InputFile } from '../files/input-file.ts';
import { isWritten, type RowPiece, type TableColumn } from '../port.ts';
import { unfinishedBytes } from '../text-encoding.ts';
import type { Dialect } from './dialect.ts';

const MILLION = 1e6;
/** A decimal of at most 15 digits that reads back to the same double is its shortest form, which is what `String` gives. */
const MOST_MILLIONTHS = 1e15;
/** Loss rates have at most 15 decimals. */
const RATE_DECIMALS = 15;
const RATE_PARTS = 10 ** RATE_DECIMALS;
/** A number in digits takes at most 24 bytes, the delimiter one, quotes around it two. */
const NUMBER_BYTES = 27;
/** Ratings and statuses repeat; place names do not. */
const TEXTS_KEPT = 4096;
const [ZERO, POINT, MINUS, COMMA, EXPONENT] = [48, 46, 45, 44, 101];

/** Takes the encoded fields of a place: the first `length` bytes of a buffer that the next place reuses. */
type TakePlace = (bytes: Buffer, length: number, fields: number) => void;

/** Encodes the fields of places as parts of records. Scores and frequencies have six decimals or less: writing their digits from a whole
 * number takes a tenth of the time of joining texts. */
export class FieldEncoder {
  readonly #take: TakePlace;
  readonly #formatText: (text: string, isWritten: boolean) => string;
  /** Whether the texts of a column are the user's own. */
  readonly #isOwn: readonly boolean[];
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #leads: boolean;
  readonly #hasDecimalComma: boolean;
  /** Formatted texts that may come again. */
  readonly #texts = new Map<string, string>();
  #bytes = Buffer.allocUnsafe(4096);
  #used = 0;
  #fields = 0;

  /** @param leads whether a delimiter comes before the first field */
  constructor(
    format: FieldFormat,
    columns: readonly TableColumn[],
    leads: boolean,
    take: TakePlace,
  ) {
    this.#take = take;
    this.#formatText = textFormatter(format);
    this.#isOwn = columns.map((column) => !isWritten(column));
    this.#delimiter = format.delimiter.charCodeAt(0);
    this.#quote = (format.quoting ?? RFC_QUOTING).quote.charCodeAt(0);
    this.#leads = leads;
    this.#hasDecimalComma = format.decimal === 'comma';
  }

  put(field: Field): void {
    const from = this.#beginField();
    if (typeof field === 'number') this.#endNumber(from, putNumber(this.#bytes, from, field));
    else if (field !== null) {
      this.#addText(
        this.#isOwn[this.#fields - 1] ? this.#formatText(field, false) : this.#formatOnce(field),
      );
    }
  }

  endPlace(): void {
    this.#take(this.#bytes, this.#used, this.#fields);
    this.#used = 0;
    this.#fields = 0;
  }

  /** Writes the delimiter, and makes room for a number. @returns where the field begins */
  #beginField(): number {
    this.#makeRoom(NUMBER_BYTES);
    if (this.#fields++ > 0 || this.#leads) this.#bytes[this.#used++] = this.#delimiter;
    return this.#used;
  }

  /** Gives a number a decimal comma if the format has one, and quotes if the comma is also the delimiter. */
  #endNumber(from: number, to: number): void {
    this.#used = to;
    if (!this.#hasDecimalComma) return;
    const point = this.#bytes.subarray(from, to).indexOf(POINT);
    if (point < 0) return;
    this.#bytes[from + point] = COMMA;
    if (this.#delimiter !== COMMA) return;
    this.#bytes.copyWithin(from + 1, from, to);
    this.#bytes[from] = this.#quote;
    this.#bytes[to + 1] = this.#quote;
    this.#used = to + 2;
  }

  #formatOnce(field: string): string {
    let text = this.#texts.get(field);
    if (text === undefined) {
      text = this.#formatText(field, true);
      if (this.#texts.size < TEXTS_KEPT) this.#texts.set(field, text);
    }
    return text;
  }

  #addText(text: string): void {
    this.#makeRoom(text.length);
    const bytes = this.#bytes;
    let at = this.#used;
    // Most texts are short: a call to `write` costs more.
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.#used = at;
  }

  #makeRoom(more: number): void {
    if (this.#used + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe((this.#used + more) * 2);
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}

/** Writes a number as `String` does. */
function putNumber(bytes: Buffer, from: number, value: number): number {
  const size = Math.abs(value);
  const millionths = Math.round(size * MILLION);
  if (!(millionths < MOST_MILLIONTHS) || millionths / MILLION !== size) {
    const parts = Math.round(value * RATE_PARTS);
    return parts > 0 && parts < RATE_PARTS && parts / RATE_PARTS === value
      ? putFraction(bytes, from, parts)
      : from + bytes.write(String(value), from, 'latin1');
  }
  // Minus zero is `0` in a text.
  if (value < 0) bytes[from] = MINUS;
  return putDecimal(bytes, value < 0 ? from + 1 : from, millionths);
}

/** Writes a number of less than `MOST_MILLIONTHS`, without trailing zeros. Its whole part divides in 32 bits. */
function putDecimal(bytes: Buffer, from: number, millionths: number): number {
  const whole = Math.floor(millionths / MILLION);
  let fraction = (millionths - whole * MILLION) | 0;
  const at = putDigits(bytes, from, whole, digitsOf(whole));
  if (fraction === 0) return at;
  let digits = 6;
  while (fraction % 10 === 0) {
    fraction = (fraction / 10) | 0;
    digits--;
  }
  bytes[at] = POINT;
  return putDigits(bytes, at + 1, fraction, digits);
}

/** Writes a number below 1 with more than six decimals and no more than a rate has, in parts of a rate: below a millionth with an exponent,
 * as `String` does. */
function putFraction(bytes: Buffer, from: number, parts: number): number {
  // Two numbers of 32 bits: their divisions are multiplications, those of a double are calls.
  const high = (parts / MOST_AT_ONCE) | 0;
  let low = (parts - high * MOST_AT_ONCE) | 0;
  let digits = RATE_DECIMALS;
  // A rate with no more than six decimals is written as a decimal: there are digits below.
  for (let less = (low / 10) | 0; less * 10 === low; less = (low / 10) | 0) {
    low = less;
    digits--;
  }
  if (high > 0) {
    bytes[from] = ZERO;
    bytes[from + 1] = POINT;
    const middle = putDigits(bytes, from + 2, high, RATE_DECIMALS - DIGITS_AT_ONCE);
    return putDigits(bytes, middle, low, digits - (RATE_DECIMALS - DIGITS_AT_ONCE));
  }
  // The first digit stands before the point.
  const own = digitsOf(low);
  const to = putDigits(bytes, own > 1 ? from + 1 : from, low, own);
  if (own > 1) {
    bytes[from] = bytes[from + 1]!;
    bytes[from + 1] = POINT;
  }
  bytes[to] = EXPONENT;
  bytes[to + 1] = MINUS;
  const exponent = digits - own + 1;
  return putDigits(bytes, to + 2, exponent, digitsOf(exponent));
}

/** Digits of a number that divides in 32 bits. */
const DIGITS_AT_ONCE = 9;
const MOST_AT_ONCE = 10 ** DIGITS_AT_ONCE;

/** @param value below 2^31 */
function putDigits(bytes: Buffer, at: number, value: number, digits: number): number {
  let left = value;
  for (let to = at + digits - 1; to >= at; to--) {
    const rest = (left / 10) | 0;
    bytes[to] = ZERO + left - rest * 10;
    left = rest;
  }
  return at + digits;
}

function digitsOf(whole: number): number {
  let digits = 1;
  for (let limit = 10; whole >= limit; limit *= 10) digits++;
  return digits;
}

export interface FieldFormat {
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  readonly quoting?: Quoting | undefined;
  /** The decimal separator; default: a point. */
  readonly decimal?: 'point' | 'comma' | undefined;
}

/** Spreadsheets run texts with such a beginning as formulas, also in the wide forms of East Asian keyboards. */
const BEGINS_FORMULA = /^[=+\-@\t\n＝＋－＠]/;

/** Most texts: they need no quotes, are no formula, and are the same in every encoding. The library takes 1.3 µs for a field. */
const PLAIN = /^\w[\w .:/#&()%'-]*$/;

/** Spreadsheets mark a text by an apostrophe. A text that is a number stays a number. */
function markFormula(text: string): string {
  return BEGINS_FORMULA.test(text) && !isDecimalNumber(text) ? `'${text}` : text;
}

/** Makes a function that formats a text as a field, quoted by csv-stringify where RFC 4180 asks for it: a string of one character a byte.
 * @param isWritten whether Perilbook wrote the text: it must not run as a formula in a spreadsheet or control a terminal */
export function textFormatter({
  delimiter,
  encoding,
  quoting = RFC_QUOTING,
}: FieldFormat): (text: string, isWritten: boolean) => string {
  const options = { delimiter, eof: false, ...quoting };
  return (given, isWritten) => {
    if (PLAIN.test(given) && !given.includes(delimiter)) return given;
    return encodeText(
      stringify([[isWritten ? markFormula(printable(given)) : given]], options),
      encoding,
    );
  };
}

/** The encoding in which added text is written. If the head of a large file is ASCII, the rest decides, because one `µg/m³` in UTF-8 among
 * rows of windows-1252 would make the file unreadable. The first byte beyond ASCII decides.
 * @param scanned the pieces of the file as the scan has read them; without them, the file is searched (under a second for a gigabyte) */
export async function encodingToWrite(
  input: InputFile,
  dialect: Dialect,
  scanned: readonly RowPiece[] | undefined,
): Promise<string> {
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

/** Formats a small table as CSV: commas, LF, quotes only where needed. */
export function plainCsv(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return stringify([[...head], ...rows.map((row) => [...row])]);
}
