import { fieldEnd, type RecordSpan } from '../../formats/csv/scan-records.ts';
import type { InputFile } from '../files/input-file.ts';
import type { NumberBatch, RowPiece } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { csvBatches, ROWS_A_BATCH } from './record-batches.ts';

/** Reads columns of a piece as numbers; a row must have the first `needed` of them. Making texts of them first took a third of a scan's
 * time. */
export async function* readNumbers(
  input: InputFile,
  dialect: Dialect,
  piece: RowPiece,
  columns: readonly number[],
  needed: number | undefined,
): AsyncGenerator<NumberBatch, RowPiece> {
  const numbers = columns.map(() => new Float64Array(ROWS_A_BATCH));
  const [starts, order, lines] = [0, 1, 2].map(() => new Uint32Array(ROWS_A_BATCH)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  const width = dialect.columns.length;
  let next = 0;
  const onRecord = (bytes: Buffer, span: RecordSpan, position: { readonly number: number; readonly line: number }) => {
    // The problem of a row with too many fields is reported when its texts are read.
    const isWhole = span.fields <= width;
    for (let index = 0; index < columns.length; index++) {
      numbers[index]![next] = isWhole ? numberIn(bytes, span, columns[index]!) : Number.NaN;
    }
    starts[next] = span.start;
    order[next] = position.number;
    lines[next] = position.line;
    next++;
  };
  const batches = csvBatches(input, dialect, { columns: null, dropFrom: null, piece, onRecord });
  try {
    for (;;) {
      next = 0;
      const { done, value } = await batches.next();
      if (done) return value;
      const rowAt = (index: number) =>
        value.rowFrom(starts[index]!, { number: order[index]!, line: lines[index]! }, columns, needed);
      if (value.count > 0) yield { count: value.count, numbers, rowAt };
    }
  } finally {
    await batches.return(undefined as never);
  }
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
  if (whole < 1 || (whole > MOST_WHOLE && to - from > LONGEST) || (whole > 1 && bytes[first] === ZERO))
    return Number.NaN;
  if ((point >= 0 && decimals === 0) || decimals >= POWERS.length || digits > Number.MAX_SAFE_INTEGER)
    return Number.NaN;
  return (isNegative ? -digits : digits) / POWERS[decimals]!;
}
