import type { Field } from '../../contract/answer.ts';
import { PerilbookError } from '../../errors.ts';
import type { ByteGatherer } from '../files/gather-bytes.ts';
import { encodeText, type TextEncoding } from '../files/text-encoding.ts';
import { LONGEST_NUMBER, writeNumber } from './number.ts';

/** How added fields are written in a file. */
export interface SuffixStyle {
  /** One byte. */
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  /** How many fields each row gets. */
  readonly width: number;
  /** From this field on, texts are not the user's own and are made harmless for spreadsheets; left out: none are. */
  readonly harmlessFrom?: number;
  /** Fields behind it that are the user's own all the same: kept from the input. */
  readonly own?: ReadonlySet<number>;
}

/** Adds the fields of a row to what is gathered. */
export type SuffixWriter = (fields: readonly Field[], to: ByteGatherer) => void;

const QUOTE = 34;
const NOT_PLAIN = -1;

/** Spreadsheets run a text that begins like this, wherever it came from; the wide forms too, where such are typed. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** An apostrophe is how spreadsheets themselves mark a text as one. A text that is a number stays one. */
function harmless(text: string): string {
  return BEGINS_FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/** The room that a number or a short text and its delimiter take at most. */
const FIELD_ROOM = LONGEST_NUMBER + 1;

/** Writes the added fields of a row as bytes, joined by the delimiter, quoted where RFC 4180 asks for it. */
export function suffixWriter({ delimiter, encoding, width, harmlessFrom = width, own }: SuffixStyle): SuffixWriter {
  const delimiterByte = delimiter.charCodeAt(0);
  return (fields, to) => {
    if (fields.length !== width) {
      const message = `A row was given ${fields.length} fields for ${width} columns`;
      throw new PerilbookError('BUG', message, 'Please report this.');
    }
    to.makeRoom(width * FIELD_ROOM);
    let { bytes, used: at } = to;
    for (let i = 0; i < width; i++) {
      let field = fields[i]!;
      if (i > 0) bytes[at++] = delimiterByte;
      if (typeof field === 'number') at = writeNumber(bytes, at, field);
      else if (field !== null) {
        if (i >= harmlessFrom && own?.has(i) !== true) field = harmless(field);
        const end = field.length <= FIELD_ROOM - 1 ? writePlain(bytes, at, field, delimiterByte) : NOT_PLAIN;
        if (end !== NOT_PLAIN) {
          at = end;
          continue;
        }
        const needsQuotes = field.includes(delimiter) || /["\r\n]/.test(field);
        to.used = at;
        to.addText(encodeText(needsQuotes ? `"${field.replaceAll('"', '""')}"` : field, encoding));
        to.makeRoom((width - i) * FIELD_ROOM);
        bytes = to.bytes;
        at = to.used;
      }
    }
    to.used = at;
  };
}

/** Writes a text that is the same in every encoding and needs no quotes, character by character: that costs less than to
 * look up what an earlier row made of it. */
function writePlain(bytes: Buffer, from: number, text: string, delimiter: number): number {
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 126 || code < 32 || code === QUOTE || code === delimiter) return NOT_PLAIN;
    bytes[from + i] = code;
  }
  return from + length;
}
