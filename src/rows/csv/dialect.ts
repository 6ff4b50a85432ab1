import { PerilbookError } from '../../errors.ts';
import type { InputFile } from '../files/input-file.ts';
import { type FileEncoding, guessEncoding, type TextEncoding } from '../files/text-encoding.ts';
import { fieldText, isBlank, newRecordSpan, type RecordSpan, scanRecord } from './scan.ts';

/** What a user may say of a CSV file that its content would otherwise decide. */
export interface CsvOptions {
  /** One ASCII character that is no quote and no line end. */
  readonly delimiter?: string;
  readonly encoding?: FileEncoding;
  /** False when the first line is a row already: the columns are then named by their numbers. */
  readonly header?: boolean;
}

/** How a CSV file is written, and where its header lies. */
export interface Dialect {
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  /** True when only the bytes of the head speak for the encoding. */
  readonly isEncodingGuessed: boolean;
  readonly columns: readonly string[];
  /** The header record in the head of the file; what stands before it (BOM, blank lines, `sep=`) passes to the output.
   * Without one, the empty place where it would be. */
  readonly header: RecordSpan;
  readonly hasHeader: boolean;
  /** The line on which the records begin. */
  readonly firstLine: number;
}

/** The head of a file, from which its dialect is read. */
interface Head {
  readonly name: string;
  readonly bytes: Buffer;
  /** Where the text begins, behind BOM and `sep=`. */
  readonly from: number;
  readonly isWhole: boolean;
}

/** Commas last: where two cut equally well, commas are likelier to be part of texts and decimals. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const RECORDS_TO_JUDGE_BY = 50;
const BOM = '\xef\xbb\xbf';

/** Looks at the head of a file (in an encoding whose structure is ASCII). */
export function readDialect(
  input: Pick<InputFile, 'name' | 'head' | 'isWhole' | 'utf16'>,
  options: CsvOptions,
): Dialect {
  const { name, head: bytes, isWhole } = input;
  const start = bytes.toString('latin1', 0, BOM.length) === BOM ? BOM.length : 0;
  const declared = /^sep=([^\r\n"])(?=[\r\n])/i.exec(bytes.toString('latin1', start, start + 8));
  const head: Head = { name, bytes, from: start + (declared?.[0].length ?? 0), isWhole };
  const delimiter = checkedDelimiter(options.delimiter ?? declared?.[1] ?? guessDelimiter(head));
  const known = knownEncoding(input, options.encoding, start > 0);
  const encoding = known ?? guessEncoding(bytes);
  const manner = { delimiter, encoding, isEncodingGuessed: known === null };
  const { record, linesBefore } = findHeader(head, delimiter);
  if (options.header === false) {
    const { start: at } = record;
    const header = { ...record, end: at, next: at, fields: 0, lineEnds: 0 };
    const columns = Array.from({ length: usualWidth(head, delimiter) }, (_, i) => String(i + 1));
    return { ...manner, columns, header, hasHeader: false, firstLine: 1 + linesBefore };
  }
  const columns = Array.from({ length: record.fields }, (_, i) => fieldText(bytes, record, i, encoding).trim());
  const firstLine = 1 + linesBefore + record.lineEnds;
  return { ...manner, columns, header: record, hasHeader: true, firstLine };
}

function knownEncoding(
  { utf16 }: Pick<InputFile, 'utf16'>,
  named: FileEncoding | undefined,
  hasBom: boolean,
): TextEncoding | null {
  // UTF-16 reads as UTF-8 here, whatever else its bytes look like.
  if (utf16) return 'utf-8';
  if (named === 'utf-8' || named === 'windows-1252') return named;
  return hasBom ? 'utf-8' : null;
}

function findHeader({ name, bytes, from, isWhole }: Head, delimiter: string) {
  const record = newRecordSpan();
  let linesBefore = 0;
  for (let at = from; at < bytes.length; at = record.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), record)) {
      throw refused(name, 'has no line end in its first mebibyte', 'Perilbook reads CSV with one record a line.');
    }
    if (!isBlank(record)) return { record, linesBefore };
    linesBefore += record.lineEnds;
  }
  throw refused(name, 'has no header line', 'The first line must name the columns.');
}

/** The delimiter that cuts the header into the most fields, where the records agree with it. */
function guessDelimiter(head: Head): string {
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = scoreOf(head, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function scoreOf(head: Head, delimiter: string): number {
  const [width, ...others] = firstWidths(head, delimiter);
  if (width === undefined || width < 2) return 0;
  const agreeing = others.filter((other) => other === width).length;
  // Ragged files still have a delimiter: disagreement weakens a candidate and does not exclude it.
  return width * (others.length === 0 ? 1 : 0.1 + agreeing / others.length);
}

/** The width that most of the first records have; the wider one of two. */
function usualWidth(head: Head, delimiter: string): number {
  const counts = new Map<number, number>();
  for (const width of firstWidths(head, delimiter)) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [usual] = [...counts].sort(([a, times], [b, others]) => others - times || b - a);
  return usual?.[0] ?? 0;
}

function firstWidths({ bytes, from, isWhole }: Head, delimiter: string): number[] {
  const span = newRecordSpan();
  const widths: number[] = [];
  for (let at = from; at < bytes.length && widths.length <= RECORDS_TO_JUDGE_BY; at = span.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), span)) break;
    if (!isBlank(span)) widths.push(span.fields);
  }
  return widths;
}

function checkedDelimiter(delimiter: string): string {
  // Letters, digits and signs would cut the numbers that are added.
  if (/^[\t\x20-\x7e]$/.test(delimiter) && !/[\w".+-]/.test(delimiter)) return delimiter;
  throw new PerilbookError(
    'USAGE',
    `${JSON.stringify(delimiter)} cannot be a delimiter`,
    'Give one character, for instance a comma, a semicolon, a tab or a bar.',
  );
}

function refused(file: string, what: string, hint: string): PerilbookError {
  return new PerilbookError('INPUT_UNREADABLE', `${file} ${what}`, hint, { file });
}
