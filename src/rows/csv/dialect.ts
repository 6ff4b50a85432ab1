import { PerilbookError } from '../../base/errors.ts';
import { guessEncoding, type TextEncoding } from '../../formats/bytes/decode-text.ts';
import {
  fieldText,
  isBlank,
  newRecordSpan,
  type Quoting,
  type RecordSpan,
  scanRecord,
} from '../../formats/csv/scan-records.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import type { FileEncoding } from '../files/text-encoding.ts';
import type { OpenOptions } from '../port.ts';
import { type Head, recordsOf } from './head-records.ts';
import { guessQuoting } from './quoting.ts';
import { otherDelimiter } from './rare-delimiters.ts';

export interface Dialect {
  readonly delimiter: string;
  readonly quoting: Quoting;
  /** What to do if no column has a location; null for nothing. */
  readonly columnsHint: string | null;
  readonly encoding: TextEncoding;
  /** True when the encoding was guessed from the bytes of the head. */
  readonly isEncodingGuessed: boolean;
  /** If rows have more fields than the header, the last columns have no name. */
  readonly columns: readonly string[];
  /** The header record in the head of the file; everything before it (BOM, blank lines, `sep=`) is copied to the output. Without a
   * header, an empty span where the records begin. */
  readonly header: RecordSpan;
  readonly hasHeader: boolean;
  /** The line on which the records begin. */
  readonly firstLine: number;
}

/** The formats of text with a delimiter, by their extensions. A file with any other delimiter is CSV, and one called .csv may have each. */
export const DELIMITED_FORMATS = { tsv: '\t', csv: ',' } as const;

/** The format of a text with a delimiter. */
export function delimitedFormat(delimiter: string): string {
  return Object.entries(DELIMITED_FORMATS).find(([, own]) => own === delimiter)?.[0] ?? 'csv';
}

/** Commas last: if two delimiters fit equally well, commas are probably in texts or decimals. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const RECORDS_TO_JUDGE_BY = 50;
const BOM = '\xef\xbb\xbf';

/** Looks at the head of a file (in an encoding whose structure is ASCII). */
export function readDialect(input: InputFile, options: OpenOptions): Dialect {
  const { name, head: bytes, isWhole } = input;
  const start = bytes.toString('latin1', 0, BOM.length) === BOM ? BOM.length : 0;
  const declared = /^sep=([^\r\n"])(?=[\r\n])/i.exec(bytes.toString('latin1', start, start + 8));
  const above = { from: start + (declared?.[0].length ?? 0), linesAbove: 0 };
  const head: Head = {
    name,
    bytes,
    isWhole,
    ...(options.headerLine === undefined ? above : linesAbove(input, options)),
  };
  const { delimiter, hint: columnsHint } = findDelimiter(head, options.delimiter ?? declared?.[1]);
  const quoting = guessQuoting(head, delimiter);
  const stated = statedEncoding(input, options.encoding, start > 0);
  const encoding = stated ?? guessEncoding(bytes);
  const manner = { delimiter, quoting, columnsHint, encoding, isEncodingGuessed: stated === null };
  const { record, linesBefore } = findHeader(head, delimiter, quoting);
  if (options.headerLine !== undefined && linesBefore >= options.headerLine) {
    throw unreadable(name, `has nothing on line ${options.headerLine}, which should name the columns`, HEADER_LINE);
  }
  if (options.header === false) {
    const { start: at } = record;
    const header = { ...record, end: at, next: at, fields: 0, lineEnds: 0 };
    const columns = Array.from({ length: usualWidth(head, delimiter, quoting) }, (_, i) => String(i + 1));
    return { ...manner, columns, header, hasHeader: false, firstLine: 1 + linesBefore };
  }
  const width = Math.max(record.fields, widthWithUnnamed(head, delimiter, quoting));
  const columns = Array.from({ length: width }, (_, i) => fieldText(bytes, record, i, encoding).trim());
  const firstLine = 1 + linesBefore + record.lineEnds;
  return { ...manner, columns, header: record, hasHeader: true, firstLine };
}

function statedEncoding({ utf16 }: InputFile, named: FileEncoding | undefined, hasBom: boolean): TextEncoding | null {
  // UTF-16 was already converted to UTF-8, whatever its bytes look like.
  if (utf16) return 'utf-8';
  if (named === 'utf-8' || named === 'windows-1252') return named;
  return hasBom ? 'utf-8' : null;
}

const HEADER_LINE = 'Name another line: --header-line N (header_line: N in the job file), counted from 1.';

/** The first byte of the header line. @throws USAGE, INPUT_UNREADABLE */
function linesAbove(
  { name, head }: InputFile,
  { headerLine = 1, header }: OpenOptions,
): Pick<Head, 'from' | 'linesAbove'> {
  if (header === false) {
    const hint = 'Leave out one of them: --header-line, or --no-header (header: false).';
    throw new PerilbookError('USAGE', 'A header line is given for an input without a header', hint);
  }
  let from = head.toString('latin1', 0, BOM.length) === BOM ? BOM.length : 0;
  for (let line = 1; line < headerLine; line++) {
    while (from < head.length && head[from] !== LF && head[from] !== CR) from++;
    if (from >= head.length) throw unreadable(name, `has no line ${headerLine}`, HEADER_LINE);
    from += head[from] === CR && head[from + 1] === LF ? 2 : 1;
  }
  return { from, linesAbove: headerLine - 1 };
}

const [LF, CR] = [10, 13];
/** How many lines are searched for a header below titles. */
const TITLE_LINES = 20;

/** The first line after the header whose fields could be column names; null if there is none. */
export function likelyHeader(
  input: InputFile,
  options: OpenOptions,
  isHeader: (fields: readonly string[]) => boolean,
): number | null {
  for (let headerLine = 1; headerLine <= TITLE_LINES; headerLine++) {
    if (headerLine === (options.headerLine ?? 1)) continue;
    try {
      const { columns, hasHeader } = readDialect(input, { ...options, headerLine });
      if (hasHeader && isHeader(columns)) return headerLine;
    } catch (error) {
      if (!(error instanceof PerilbookError && error.code === 'INPUT_UNREADABLE')) throw error;
    }
  }
  return null;
}

function findHeader({ name, bytes, from, linesAbove, isWhole }: Head, delimiter: string, quoting: Quoting) {
  const record = newRecordSpan(quoting);
  let linesBefore = linesAbove;
  for (let at = from; at < bytes.length; at = record.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), record)) {
      throw unreadable(name, 'has no line end in its first mebibyte', 'Perilbook reads CSV with one record a line.');
    }
    if (!isBlank(record)) return { record, linesBefore };
    linesBefore += record.lineEnds;
  }
  throw unreadable(name, 'has no header line', 'The first line must name the columns.');
}

/** The delimiter that gives the most header fields, weighted by the records that agree. */
function findDelimiter(head: Head, given: string | undefined): { delimiter: string; hint: string | null } {
  if (given !== undefined) return { delimiter: checkedDelimiter(given), hint: null };
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = scoreDelimiter(head, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  const other = best.score > 0 ? null : otherDelimiter(head);
  return { delimiter: other?.delimiter ?? best.delimiter, hint: other?.hint ?? null };
}

function scoreDelimiter(head: Head, delimiter: string): number {
  const [width, ...others] = firstWidths(head, delimiter, guessQuoting(head, delimiter));
  if (width === undefined || width < 2) return 0;
  const agreeing = others.filter((other) => other === width).length;
  // Ragged files have a delimiter too: disagreement weakens a candidate but does not exclude it.
  return width * (others.length === 0 ? 1 : 0.1 + agreeing / others.length);
}

/** The most frequent width of the first records; of two, the larger. */
function usualWidth(head: Head, delimiter: string, quoting: Quoting): number {
  const counts = new Map<number, number>();
  for (const width of firstWidths(head, delimiter, quoting)) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [usual] = [...counts].sort(([a, times], [b, others]) => others - times || b - a);
  return usual?.[0] ?? 0;
}

/** The usual width if each of the first rows has more fields than the header, else 0: NOAA's files of tornadoes name 24 of 28 columns,
 * and some programs end each row with a delimiter. A single long row is not accepted: one of its texts may lack quotes. */
function widthWithUnnamed(head: Head, delimiter: string, quoting: Quoting): number {
  const [named = 0, ...widths] = firstWidths(head, delimiter, quoting);
  return widths.length > 0 && widths.every((width) => width > named) ? usualWidth(head, delimiter, quoting) : 0;
}

function firstWidths(head: Head, delimiter: string, quoting: Quoting): number[] {
  const widths: number[] = [];
  for (const { fields } of recordsOf(head, delimiter, quoting)) {
    widths.push(fields);
    if (widths.length > RECORDS_TO_JUDGE_BY) break;
  }
  return widths;
}

function checkedDelimiter(delimiter: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they may be delimiters
  const isCharacter = /^[\x01-\x09\x0b\x0c\x0e-\x7e]$/.test(delimiter);
  // A letter, digit or sign would split the numbers that are added.
  if (isCharacter && !/[\w"'.+-]/.test(delimiter)) return delimiter;
  const hint = 'Give one character, for instance a comma, a semicolon, a tab or a bar.';
  throw new PerilbookError('USAGE', `${JSON.stringify(delimiter)} cannot be a delimiter`, hint);
}
