import {
  isBlank,
  newRecordSpan,
  type Quoting,
  type RecordSpan,
  RFC_QUOTING,
  scanRecord,
} from '../../formats/csv/scan-records.ts';

/* The records in the head of a file, which show its delimiter, its quotes and its width. */

/** The head of a file, which shows its dialect. */
export interface CsvHead {
  readonly name: string;
  readonly bytes: Buffer;
  /** Where the table begins: after BOM and `sep=`, and after the lines above the header. */
  readonly from: number;
  readonly linesAbove: number;
  readonly isWhole: boolean;
}

/** The records in the head of a file, in one span. */
export function* recordsOf(
  { bytes, from, isWhole }: CsvHead,
  delimiter: string,
  quoting: Quoting,
): Generator<RecordSpan> {
  const span = newRecordSpan(quoting);
  for (let at = from; at < bytes.length; at = span.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), span)) return;
    if (!isBlank(bytes, span)) yield span;
  }
}

const RECORDS_TO_JUDGE_BY = 50;

/** The numbers of fields of the first records. */
export function firstWidths(head: CsvHead, delimiter: string, quoting: Quoting): number[] {
  const widths: number[] = [];
  for (const { fields } of recordsOf(head, delimiter, quoting)) {
    widths.push(fields);
    if (widths.length > RECORDS_TO_JUDGE_BY) break;
  }
  return widths;
}

/** The most frequent width of the first records; of two, the larger. */
export function usualWidth(head: CsvHead, delimiter: string, quoting: Quoting): number {
  const counts = new Map<number, number>();
  for (const width of firstWidths(head, delimiter, quoting))
    counts.set(width, (counts.get(width) ?? 0) + 1);
  const [usual] = [...counts].sort(([a, times], [b, others]) => others - times || b - a);
  return usual?.[0] ?? 0;
}

/** The usual width if each of the first rows has more fields than the header, else 0: NOAA's files of tornadoes name 24 of 28 columns,
 * and some programs end each row with a delimiter. A single long row is not accepted: one of its texts may lack quotes. */
export function widthWithUnnamed(head: CsvHead, delimiter: string, quoting: Quoting): number {
  const [named = 0, ...widths] = firstWidths(head, delimiter, quoting);
  return widths.length > 0 && widths.every((width) => width > named)
    ? usualWidth(head, delimiter, quoting)
    : 0;
}

/** Concordance's letter in windows-1252 and in UTF-8. */
const THORNS = [Buffer.of(0xfe), Buffer.of(0xc3, 0xbe)];
const WRAPPED: Quoting = { quote: '"', escape: '"', wrap: 'þ' };
const SINGLE: Quoting = { quote: "'", escape: "'" };
const BACKSLASHED: Quoting = { quote: '"', escape: '\\' };

/** How the head of a file quotes. Single quotes and backslashes are also letters: they are taken only where all records then have one
 * width, and each record is in single quotes, or a backslash stands before a quote within a field. */
export function guessQuoting(head: CsvHead, delimiter: string): Quoting {
  // Bytes, not a text of a mebibyte: each delimiter is tried, and each thread opens the file.
  const has = (part: string | Buffer) => head.bytes.includes(part, head.from);
  if (has(ESCAPED_QUOTE) && isRegular(head, delimiter, BACKSLASHED)) {
    if (hasQuoteWithin(head, delimiter) || !isRegular(head, delimiter, RFC_QUOTING))
      return BACKSLASHED;
  }
  if (THORNS.some(has) && isRegular(head, delimiter, WRAPPED, isWrapped)) return WRAPPED;
  const isSingle = has("'") && isRegular(head, delimiter, SINGLE, hasSingleQuotes);
  return isSingle ? SINGLE : RFC_QUOTING;
}

const ESCAPED_QUOTE = '\\"';

/** Whether an escaped quote has text after it, so that it does not end its field. */
function hasQuoteWithin({ bytes, from }: CsvHead, delimiter: string): boolean {
  const ends = [delimiter, '\n', '\r', '"'].map((end) => end.charCodeAt(0));
  for (let at = bytes.indexOf(ESCAPED_QUOTE, from); at >= 0; ) {
    const follower = bytes[at + 2];
    if (follower !== undefined && !ends.includes(follower)) return true;
    at = bytes.indexOf(ESCAPED_QUOTE, at + 2);
  }
  return false;
}

function isRegular(
  head: CsvHead,
  delimiter: string,
  quoting: Quoting,
  fits: (bytes: Buffer, span: RecordSpan) => boolean = () => true,
): boolean {
  let [width, records] = [0, 0];
  for (const span of recordsOf(head, delimiter, quoting)) {
    width ||= span.fields;
    // Names often have no quotes.
    if (span.fields !== width || (records++ > 0 && !fits(head.bytes, span))) return false;
  }
  return width > 1 && records > 1;
}

/** Whether all fields of a record are in thorns. */
function isWrapped(bytes: Buffer, span: RecordSpan): boolean {
  return rawFields(bytes, span).every((text) =>
    /^(?:\xfe|\xc3\xbe)[\s\S]*(?:\xfe|\xc3\xbe)$/.test(text),
  );
}

function rawFields(bytes: Buffer, span: RecordSpan): string[] {
  return Array.from({ length: span.fields }, (_, index) => {
    const end = index + 1 < span.fields ? span.starts[index + 1]! - 1 : span.end;
    return bytes.toString('latin1', span.starts[index]!, end).trim();
  });
}

/** Whether a field of a record is in single quotes, and none in double ones. */
function hasSingleQuotes(bytes: Buffer, span: RecordSpan): boolean {
  const fields = rawFields(bytes, span);
  return (
    fields.some((text) => /^'[\s\S]*'$/.test(text)) && !fields.some((text) => text.startsWith('"'))
  );
}
