import { isAscii, isUtf8 } from 'node:buffer';
import { PerilbookError } from '../../base/errors.ts';
import { counted } from '../../base/format-numbers.ts';
import { type ReadWindow, readWindow } from '../../formats/bytes/byte-source.ts';
import {
  fieldEnd,
  fieldText,
  isBlank,
  newRecordSpan,
  type RecordSpan,
  scanRecord,
} from '../../formats/csv/scan-records.ts';
import type { InputFile } from '../files/input-file.ts';
import { mayBeNoLocation, noLocationIn } from '../no-locations.ts';
import type { NumberBatch, Row, RowPiece } from '../port.ts';
import type { Dialect } from './dialect.ts';

/** Consecutive records, with their bytes and the positions for added fields. Valid until the next batch. */
export interface CsvBatch {
  readonly count: number;
  /** The records, if columns were requested. */
  readonly rows: readonly Row[];
  /** The records are in `bytes` from `from` to `to`, with the blank lines between them. */
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** Three numbers a row: the end of its kept fields, the delimiters to add for missing fields, its end. */
  readonly cuts: Int32Array;
  /** Makes a row of the batch by the offset of its first byte. */
  readonly rowFrom: (
    start: number,
    position: RecordPosition,
    columns: readonly number[],
    needed?: number,
  ) => Row;
}

export interface BatchRequest {
  /** The columns of each row; null if only the ends of rows are needed. */
  readonly columns: readonly number[] | null;
  /** How many of the first columns a row must have; default: all. */
  readonly needed?: number | undefined;
  /** Selects the records to return as rows, by number; default: all. */
  readonly isWanted?: ((number: number) => boolean) | undefined;
  readonly dropFrom: number | null;
  readonly signal?: AbortSignal | undefined;
  /** Default: all records after the header. */
  readonly piece?: RowPiece;
  /** Gets each record; `position` is that of its first byte. */
  readonly onRecord?: (
    bytes: Buffer,
    span: RecordSpan,
    position: RecordPosition,
    offsets: RecordOffsets,
  ) => void;
}

type RecordPosition = Pick<Row, 'number' | 'line'>;

/** Where the bytes of a record and its piece begin in the file. */
interface RecordOffsets {
  readonly window: number;
  readonly piece: number;
}

export const CUT_WIDTH = 3;

/** Room for a piece of half a mebibyte and the rest of its last record, so that one read suffices. */
const WINDOW_BYTES = 576 * 1024;
const ROWS_A_BATCH = 1024;
/** Longer records are refused as damaged. A quoted field may have 16 MiB. */
const LONGEST_RECORD = 64 * 1024 * 1024;

/** The window of the last pass, for reuse: a thread reads hundreds of pieces, and new memory for each was freed late. */
let spareWindow: Buffer | null = null;

/** Streams the records after the header in batches, or those that begin in a piece. Memory is bounded by the window, which grows only
 * for a longer record. Returns the piece that it read. */
export async function* csvBatches(
  input: InputFile,
  dialect: Dialect,
  request: BatchRequest,
): AsyncGenerator<CsvBatch, RowPiece> {
  const { header, firstLine } = dialect;
  const whole = {
    from: header.next,
    to: Number.POSITIVE_INFINITY,
    isGuess: false,
    line: firstLine,
  };
  const { piece = { file: 0, ...whole, rows: 0, lines: 0 } } = request;
  await using pass = await input.startPass(request.piece !== undefined);
  const start = piece.isGuess ? piece.from - 1 : piece.from;
  const window = readWindow(pass, spareWindow ?? Buffer.allocUnsafeSlow(WINDOW_BYTES), start);
  spareWindow = null;
  await window.refill();
  if (piece.isGuess) skipToLine(window);
  // One span and one array for all batches.
  const [span, cuts] = [newRecordSpan(dialect.quoting), new Int32Array(ROWS_A_BATCH * CUT_WIDTH)];
  const begin = window.start + window.from;
  const position = { number: 0, line: piece.line };
  let encoding: RowPiece['encoding'] = null;
  while ((!window.atEnd || window.from < window.to) && window.start + window.from < piece.to) {
    request.signal?.throwIfAborted();
    const offsets = { window: window.start, piece: begin };
    const batch = takeBatch(window, dialect, request, position, span, cuts, offsets);
    if (batch.to > batch.from) {
      // While the bytes are in the processor's cache: a pass of its own took 8 % of a run.
      if (encoding === null) encoding = beyondAscii(batch.bytes.subarray(batch.from, batch.to));
      yield batch;
    } else if (window.to - window.from > LONGEST_RECORD)
      throw withoutEnd(input.name, position.line);
    // The window holds at most the beginning of a record.
    else await window.refill();
  }
  await pass.assertSame();
  if (window.bytes.length === WINDOW_BYTES) spareWindow = window.bytes;
  const read = { rows: position.number, lines: position.line - piece.line };
  return {
    ...piece,
    ...read,
    encoding,
    from: begin,
    to: window.start + window.from,
    isGuess: false,
  };
}

/** The encoding of the bytes beyond ASCII in some whole records; null where there are none. */
function beyondAscii(bytes: Buffer): NonNullable<RowPiece['encoding']> | null {
  if (isAscii(bytes)) return null;
  return isUtf8(bytes) ? 'utf-8' : 'windows-1252';
}

const [LF, CR] = [10, 13];

/** Moves the window to the first line that begins after its first byte, or to its end. */
function skipToLine(window: ReadWindow): void {
  const { bytes, to } = window;
  let at = window.from;
  while (at < to && bytes[at] !== LF && bytes[at] !== CR) at++;
  at += bytes[at] === CR && bytes[at + 1] === LF ? 2 : 1;
  window.from = Math.min(at, to);
}

function takeBatch(
  window: ReadWindow,
  dialect: Dialect,
  request: BatchRequest,
  position: { number: number; line: number },
  span: RecordSpan,
  cuts: Int32Array,
  offsets: RecordOffsets,
): CsvBatch {
  const { bytes, from, to, atEnd } = window;
  const end = request.piece?.to ?? Number.POSITIVE_INFINITY;
  const limit = Math.min(to, end - window.start);
  const { columns, needed = columns?.length ?? 0, isWanted } = request;
  const delimiter = dialect.delimiter.charCodeAt(0);
  const rows: Row[] = [];
  let at = from;
  let count = 0;
  while (count < ROWS_A_BATCH && at < limit && scanRecord(bytes, at, to, atEnd, delimiter, span)) {
    if (!isBlank(bytes, span)) {
      cutRecord(span, dialect.columns.length, request.dropFrom, cuts, count++ * CUT_WIDTH);
      position.number++;
      if (columns !== null && (isWanted === undefined || isWanted(position.number))) {
        rows.push(makeRow(bytes, span, position, dialect, columns, needed));
      }
      request.onRecord?.(bytes, span, position, offsets);
    }
    position.line += span.lineEnds;
    at = span.next;
  }
  window.from = at;
  const rowFrom: CsvBatch['rowFrom'] = (start, where, asked, neededOfThem = asked.length) => {
    scanRecord(bytes, start, to, atEnd, delimiter, span);
    return makeRow(bytes, span, where, dialect, asked, neededOfThem);
  };
  return { count, rows, bytes, from, to: at, cuts, rowFrom };
}

/** Some programs fill fields with them, or leave them where they failed to write. */
const NUL =
  "The latitude or the longitude has a NUL byte in it: remove it, for instance with tr -d '\\000'.";

function makeRow(
  bytes: Buffer,
  span: RecordSpan,
  { number, line }: RecordPosition,
  dialect: Dialect,
  columns: readonly number[],
  needed: number,
): Row {
  const width = dialect.columns.length;
  const fields: string[] = [];
  let lacksNeeded = false;
  let hasNul = false;
  let hasAny = false;
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!;
    fields.push(fieldText(bytes, span, column, dialect.encoding));
    if (i >= needed) continue;
    if (column >= span.fields) lacksNeeded = true;
    if (fields[i]!.includes('\0')) hasNul = true;
    if (!mayBeNoLocation(fields[i]!)) hasAny = true;
  }
  const noLocation = hasAny || needed === 0 ? null : noLocationIn(textsOf(bytes, span, dialect));
  if (noLocation !== null) return { number, line, fields, noLocation };
  // Unrequested trailing fields may be missing: EPA's TRI files have a header of 110 fields and rows of 109.
  if (span.fields <= width && !lacksNeeded)
    return hasNul ? { number, line, fields, problem: NUL } : { number, line, fields };
  const other = dialect.hasHeader && dialect.header.fields === width ? 'header' : 'file';
  const isEscaped = bytes.subarray(span.start, span.end).includes('\\"');
  const cause = isEscaped
    ? ': a quote in a quoted text is written twice, not with a backslash.'
    : ': a text with a delimiter in it needs quotes.';
  const hint = span.fields > width ? cause : '.';
  return {
    number,
    line,
    fields,
    ...(span.fields > width && { isTooLong: true as const }),
    problem: `The row has ${counted(span.fields, 'field')} where the ${other} has ${width}${hint}`,
  };
}

/** The texts of a record that are the user's own. */
function textsOf(bytes: Buffer, span: RecordSpan, { encoding, ownWidth }: Dialect): string[] {
  return Array.from({ length: Math.min(span.fields, ownWidth) }, (_, index) =>
    fieldText(bytes, span, index, encoding),
  );
}

/** Decides which bytes of a record stay and how many fields it lacks before the added ones. If the header drops an earlier run's
 * columns, a record with too many fields drops as many fields at its end. */
export function cutRecord(
  span: RecordSpan,
  width: number,
  dropFrom: number | null,
  cuts: Int32Array,
  at: number,
): void {
  const kept = dropFrom ?? width;
  const keep = span.fields > width ? span.fields - (width - kept) : Math.min(span.fields, kept);
  cuts[at] = keep >= span.fields ? span.end : keep === 0 ? span.start : span.starts[keep]! - 1;
  cuts[at + 1] = Math.max(0, kept - keep);
  cuts[at + 2] = span.end;
}

function withoutEnd(file: string, line: number): PerilbookError {
  const message = `${file} has a record without an end on line ${line}`;
  const hint = 'Look for a quote that is not closed, or for a file that is not CSV.';
  return new PerilbookError('INPUT_UNREADABLE', message, hint, { file, line });
}

/** Reads columns of a piece as numbers, of which a row must have the first `needed`. Texts first would take a third of a scan's time. */
export async function* readNumbers(
  input: InputFile,
  dialect: Dialect,
  piece: RowPiece,
  columns: readonly number[],
  needed?: number,
): AsyncGenerator<NumberBatch, RowPiece> {
  const numbers = columns.map(() => new Float64Array(ROWS_A_BATCH));
  const rowNumbers = () => new Uint32Array(ROWS_A_BATCH);
  const [starts, order, lines] = [rowNumbers(), rowNumbers(), rowNumbers()];
  const width = dialect.columns.length;
  const lengths = recordLengths(width);
  let next = 0;
  const onRecord: NonNullable<BatchRequest['onRecord']> = (bytes, span, position, offsets) => {
    // The problem of a row with too many fields is reported when its texts are read.
    const isWhole = span.fields <= width;
    for (let index = 0; index < columns.length; index++) {
      numbers[index]![next] = isWhole ? numberIn(bytes, span, columns[index]!) : Number.NaN;
    }
    lengths.add(span, offsets);
    starts[next] = span.start;
    order[next] = position.number;
    lines[next] = position.line;
    next++;
  };
  await using batches = csvBatches(input, dialect, {
    columns: null,
    dropFrom: null,
    piece,
    onRecord,
  });
  for (;;) {
    next = 0;
    const { done, value } = await batches.next();
    if (done) return { ...value, ...lengths.all() };
    const rowAt = (index: number) =>
      value.rowFrom(
        starts[index]!,
        { number: order[index]!, line: lines[index]! },
        columns,
        needed,
      );
    if (value.count > 0) yield { count: value.count, numbers, rowAt };
  }
}

const LONGEST_COUNTED = 2 ** 16 - 1;

/** Collects the lengths of records: with them the last pass finds their ends without a search. */
function recordLengths(width: number) {
  let lengths: Uint16Array<ArrayBuffer> | null = new Uint16Array(8 * ROWS_A_BATCH);
  let count = 0;
  let last: number | null = null;
  return {
    add({ end, fields }: RecordSpan, { window, piece }: RecordOffsets): void {
      if (lengths === null) return;
      const length = window + end - (last ?? piece);
      last = window + end;
      if (fields !== width || length > LONGEST_COUNTED) {
        lengths = null;
        return;
      }
      if (count === lengths.length) {
        const longer = new Uint16Array(2 * count);
        longer.set(lengths);
        lengths = longer;
      }
      lengths[count++] = length;
    },
    all: (): Pick<RowPiece, 'lengths'> =>
      lengths === null ? {} : { lengths: lengths.slice(0, count) },
  };
}

const [MINUS, POINT, ZERO] = [45, 46, 48];
/** Degrees have at most three digits before the point. A longer number is plain up to 15 characters: a double keeps all its digits. */
const [MOST_WHOLE, LONGEST] = [3, 15];
const POWERS = Float64Array.from({ length: 17 }, (_, power) => 10 ** power);

/** The number in a field: NaN unless it is a plain decimal of at most 16 digits. Digits below 2^53 and a power of ten are both exact, so
 * their quotient is the double that `Number` reads. */
function numberIn(bytes: Buffer, span: RecordSpan, column: number): number {
  if (column >= span.fields) return Number.NaN;
  const to = fieldEnd(span, column);
  const from = span.starts[column]!;
  let at = from;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  const first = at;
  let digits = 0;
  let point = -1;
  for (; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (bytes[at] === POINT && point < 0) point = at;
    else return Number.NaN;
  }
  const whole = (point < 0 ? to : point) - first;
  const decimals = point < 0 ? 0 : to - point - 1;
  // A text with leading zeros is a code; one that ends with a point is not a plain number.
  if (
    whole < 1 ||
    (whole > MOST_WHOLE && to - from > LONGEST) ||
    (whole > 1 && bytes[first] === ZERO)
  )
    return Number.NaN;
  if (
    (point >= 0 && decimals === 0) ||
    decimals >= POWERS.length ||
    digits > Number.MAX_SAFE_INTEGER
  )
    return Number.NaN;
  return (isNegative ? -digits : digits) / POWERS[decimals]!;
}
