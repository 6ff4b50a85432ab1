import type { Field } from '../../contract/answer.ts';
import { type FieldFormat, textFormatter } from './format-fields.ts';

const MILLION = 1e6;
/** A decimal of at most 15 digits that reads back to the same double is its shortest form, which is what `String` gives. */
const MOST_MILLIONTHS = 1e15;
/** A number in digits takes at most 24 bytes, the delimiter one. */
const NUMBER_BYTES = 25;
/** Ratings and statuses come again; names of places do not. */
const TEXTS_KEPT = 4096;
const [ZERO, POINT, MINUS] = [48, 46, 45];

/**
 * Makes a function that formats added fields as `fieldFormatter` does, with a delimiter before the first one if `leads`. Its bytes are
 * valid until the next call. Scores and frequencies have six decimals or less: their digits are written from a whole
 * number, which takes a tenth of the time of texts that are joined.
 */
export function fieldEncoder(
  format: Omit<FieldFormat, 'isAdded'>,
  leads: boolean,
): (fields: readonly Field[]) => Buffer {
  const textOf = textFormatter({ ...format, isAdded: () => true });
  const delimiter = format.delimiter.charCodeAt(0);
  const texts = new Map<string, string>();
  let bytes = Buffer.allocUnsafe(4096);

  const known = (field: string, index: number): string => {
    let text = texts.get(field);
    if (text === undefined) {
      text = textOf(field, index);
      if (texts.size < TEXTS_KEPT) texts.set(field, text);
    }
    return text;
  };
  const makeRoom = (needed: number): void => {
    if (needed <= bytes.length) return;
    const grown = Buffer.allocUnsafe(needed * 2);
    bytes.copy(grown);
    bytes = grown;
  };

  return (fields) => {
    let at = 0;
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index]!;
      makeRoom(at + NUMBER_BYTES);
      if (index > 0 || leads) bytes[at++] = delimiter;
      if (field === null) continue;
      if (typeof field === 'number') {
        const end = putNumber(bytes, at, field);
        at = end > 0 ? end : at + bytes.write(String(field), at, 'latin1');
        continue;
      }
      const text = known(field, index);
      makeRoom(at + text.length);
      // Most texts are short: a call to `write` costs more.
      for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    }
    return bytes.subarray(0, at);
  };
}

/** Writes a number with at most six decimals; 0 where it has more, or is too large or too small. */
function putNumber(bytes: Buffer, from: number, value: number): number {
  const size = Math.abs(value);
  const millionths = Math.round(size * MILLION);
  // Minus zero is `0` in a text.
  if (!(millionths < MOST_MILLIONTHS) || millionths / MILLION !== size) return 0;
  let at = from;
  if (value < 0) bytes[at++] = MINUS;
  const whole = Math.floor(millionths / MILLION);
  let fraction = (millionths - whole * MILLION) | 0;
  at =
    whole < MOST_INT ? putDigits(bytes, at, whole | 0, digitsOf(whole)) : at + bytes.write(String(whole), at, 'latin1');
  if (fraction === 0) return at;
  let digits = 6;
  while (fraction % 10 === 0) {
    fraction = (fraction / 10) | 0;
    digits--;
  }
  bytes[at++] = POINT;
  return putDigits(bytes, at, fraction, digits);
}

/** Whole numbers below this divide in 32 bits. */
const MOST_INT = 2 ** 31;

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
