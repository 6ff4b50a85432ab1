import { decodeText, type TextEncoding } from '../bytes/decode-text.ts';

/** The position of one record in a buffer. One object is used for all records: a row costs no allocation. */
export interface RecordSpan {
  /** First byte of the record. */
  start: number;
  /** First byte after its last field: the line end, or the end of the file. */
  end: number;
  /** First byte after its line end. */
  next: number;
  fields: number;
  /** Line ends up to `next`, also inside quotes. */
  lineEnds: number;
  /** The first byte of each field; only the first `fields` entries are valid. */
  starts: Int32Array<ArrayBuffer>;
  readonly quoting: Quoting;
}

/** How a file quotes: RFC 4180 encloses fields in `"` and doubles it in them. */
export interface Quoting {
  readonly quote: '"' | "'";
  /** What stands before a quote in a quoted field. */
  readonly escape: Quoting['quote'] | '\\';
  /** Concordance encloses each field in this letter, and the delimiter is never in a field. */
  readonly wrap?: 'þ';
}

export const RFC_QUOTING: Quoting = { quote: '"', escape: '"' };

/** In a longer field the quote was never closed. Some files have shapes of several megabytes in one field. */
export const LONGEST_QUOTED_FIELD = 16 * 1024 * 1024;

const LF = 10;
const CR = 13;
const SPACE = 32;
const BACKSLASH = 92;
const LETTER_N = 78;
const [NUL, CTRL_Z] = [0, 26];

const MORE = -1;
const STRAY = -2;

/** An empty span, to be filled by `scanRecord`. */
export function newRecordSpan(quoting = RFC_QUOTING): RecordSpan {
  return {
    start: 0,
    end: 0,
    next: 0,
    fields: 0,
    lineEnds: 0,
    starts: new Int32Array(256),
    quoting,
  };
}

/**
 * Finds the record that begins at `from`; false when the bytes up to `to` do not contain all of it (never if `isLast`).
 *
 * csv-parse, which reads the agencies' files, is not used here: its `raw` loses the LF of a CRLF, so the original bytes would be lost; a
 * quote that is never closed makes it fail or swallow the rest of the file; and a million rows of 16 columns take it 4.5 s instead of under
 * 0.5 s. Tests compare this function with csv-parse.
 *
 * Lines end in LF, CRLF or CR, also mixed. A quote opens a field only at its first byte, or after spaces, where the field must end with one
 * too. It is plain text when it is never closed, or closed on a later line by a quote without a delimiter or line end after it: so a stray
 * quote damages only its own row.
 */
export function scanRecord(
  bytes: Buffer,
  from: number,
  to: number,
  isLast: boolean,
  delimiter: number,
  span: RecordSpan,
): boolean {
  span.start = from;
  span.fields = 0;
  span.lineEnds = 0;
  let at = from;
  // Most bytes are letters and digits: one comparison passes over them.
  const greatest = Math.max(delimiter, CR);
  const quote = span.quoting.quote.charCodeAt(0);
  for (;;) {
    if (span.fields === span.starts.length) {
      span.starts = new Int32Array(span.starts.buffer.transfer(2 * span.starts.byteLength));
    }
    span.starts[span.fields++] = at;
    let opening = at;
    if (delimiter !== SPACE) while (opening < to && bytes[opening] === SPACE) opening++;
    if (opening < to && bytes[opening] === quote) {
      const after = afterQuoted(bytes, opening, to, isLast, delimiter, span, opening > at);
      if (after === MORE) return false;
      if (after !== STRAY) at = after;
    }
    let byte = -1;
    for (; at < to; at++) {
      byte = bytes[at]!;
      if (byte <= greatest && (byte === delimiter || byte === LF || byte === CR)) break;
    }
    if (at < to && byte === delimiter) {
      at++;
      continue;
    }
    if (at === to && !isLast) return false;
    if (byte === CR && at + 1 === to && !isLast) return false;
    span.end = at < to ? at : withoutPadding(bytes, span.start, at);
    span.next = at;
    if (at < to) {
      span.next += byte === CR && at + 1 < to && bytes[at + 1] === LF ? 2 : 1;
      span.lineEnds++;
    }
    return true;
  }
}

/** The end of the last record before what fills up the file: NUL bytes, and Ctrl-Z, the end of a file of DOS. */
function withoutPadding(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && (bytes[end - 1] === NUL || bytes[end - 1] === CTRL_Z)) end--;
  return end;
}

/** True for an empty line, or one of padding: it is not a record, and is copied to the output. */
export function isBlank(bytes: Buffer, { start, end }: RecordSpan): boolean {
  if (start === end) return true;
  const first = bytes[start]!;
  return (first === CTRL_Z || first === NUL) && withoutPadding(bytes, start, end) === start;
}

/** The text of a field, without its quotes; '' for a field that the record lacks. */
export function fieldText(
  bytes: Buffer,
  span: RecordSpan,
  index: number,
  encoding: TextEncoding,
): string {
  if (index >= span.fields) return '';
  const [start, end] = [span.starts[index]!, fieldEnd(span, index)];
  // What databases write for a value that is not there.
  if (end - start === 2 && bytes[start] === BACKSLASH && bytes[start + 1] === LETTER_N) return '';
  const { quote, wrap } = span.quoting;
  if (wrap !== undefined) {
    const text = decodeText(bytes, start, end, encoding);
    return text.length > 1 && text.startsWith(wrap) && text.endsWith(wrap)
      ? text.slice(1, -1)
      : text;
  }
  const code = quote.charCodeAt(0);
  let [from, to] = [start, end];
  while (from < to && bytes[from] === SPACE) from++;
  while (to > from && bytes[to - 1] === SPACE) to--;
  if (to - from < 2 || bytes[from] !== code || bytes[to - 1] !== code)
    return decodeText(bytes, start, end, encoding);
  const inner = decodeText(bytes, from + 1, to - 1, encoding);
  if (span.quoting.escape === '\\')
    return inner.replace(/\\(["\\])|""/g, (_, letter: string | undefined) => letter ?? '"');
  if (!inner.includes(quote)) return inner;
  // With a single quote inside, the outer ones do not enclose the field: `"a" and "b"`.
  const twice = quote + quote;
  return inner.replaceAll(twice, '').includes(quote)
    ? decodeText(bytes, start, end, encoding)
    : inner.replaceAll(twice, quote);
}

/** The first byte after a field. */
export function fieldEnd(span: RecordSpan, index: number): number {
  return index + 1 < span.fields ? span.starts[index + 1]! - 1 : span.end;
}

/** Where the quoted part of a field ends, which begins at `from`; MORE where the end is not read yet, STRAY where its quote is plain text. */
function afterQuoted(
  bytes: Buffer,
  from: number,
  to: number,
  isLast: boolean,
  delimiter: number,
  span: RecordSpan,
  mustClose: boolean,
): number {
  const limit = Math.min(to, from + LONGEST_QUOTED_FIELD);
  const quote = bytes[from]!;
  const escaping = span.quoting.escape === '\\' ? BACKSLASH : -1;
  let lineEnds = 0;
  for (let at = from + 1; at < limit; at++) {
    const byte = bytes[at]!;
    if (byte === LF || (byte === CR && bytes[at + 1] !== LF)) lineEnds++;
    if (byte === escaping) at++;
    if (byte !== quote) continue;
    if (at + 1 === to && !isLast) return MORE;
    const follower = at + 1 < to ? bytes[at + 1]! : LF;
    if (follower === quote) {
      at++;
    } else {
      let next = at + 1;
      if (delimiter !== SPACE) while (next < to && bytes[next] === SPACE) next++;
      if (next === to && !isLast) return MORE;
      const closer = next < to ? bytes[next]! : LF;
      const closes = closer === delimiter || closer === LF || closer === CR;
      if (!closes && (lineEnds > 0 || mustClose)) return STRAY;
      span.lineEnds += lineEnds;
      return at + 1;
    }
  }
  return limit === to && !isLast ? MORE : STRAY;
}
