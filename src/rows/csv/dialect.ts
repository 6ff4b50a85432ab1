import { PerilbookError } from '../../base/errors.ts';
import { guessEncoding, type TextEncoding } from '../../formats/bytes/decode-text.ts';
import {
  fieldText,
  isBlank,
  newRecordSpan,
  type Quoting,
  type RecordSpan,
  RFC_QUOTING,
  scanRecord,
} from '../../formats/csv/scan-records.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import { mayHaveLocation } from '../location-columns.ts';
import type { OpenOptions } from '../port.ts';
import type { FileEncoding } from '../text-encoding.ts';

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
  const first = { from: start + (declared?.[0].length ?? 0), linesAbove: 0 };
  const begin = options.headerLine === undefined ? first : linesAbove(input, options);
  const head: Head = { name, bytes, isWhole, ...begin };
  const { delimiter, hint: columnsHint } = findDelimiter(head, options.delimiter ?? declared?.[1]);
  const quoting = guessQuoting(head, delimiter);
  const stated = statedEncoding(input, options.encoding, start > 0);
  const encoding = stated ?? guessEncoding(bytes);
  const manner = { delimiter, quoting, columnsHint, encoding, isEncodingGuessed: stated === null };
  const { record, linesBefore } = findHeader(head, delimiter, quoting);
  if (options.headerLine !== undefined && linesBefore >= options.headerLine) {
    throw unreadable(
      name,
      `has nothing on line ${options.headerLine}, which should name the columns`,
      HEADER_LINE,
    );
  }
  if (options.header === false) {
    const { start: at } = record;
    const header = { ...record, end: at, next: at, fields: 0, lineEnds: 0 };
    const columns = Array.from({ length: usualWidth(head, delimiter, quoting) }, (_, i) =>
      String(i + 1),
    );
    return { ...manner, columns, header, hasHeader: false, firstLine: 1 + linesBefore };
  }
  const width = Math.max(record.fields, widthWithUnnamed(head, delimiter, quoting));
  const columns = Array.from({ length: width }, (_, i) =>
    fieldText(bytes, record, i, encoding).trim(),
  );
  const firstLine = 1 + linesBefore + record.lineEnds;
  return { ...manner, columns, header: record, hasHeader: true, firstLine };
}

function statedEncoding(
  { utf16 }: InputFile,
  named: FileEncoding | undefined,
  hasBom: boolean,
): TextEncoding | null {
  // UTF-16 was already converted to UTF-8, whatever its bytes look like.
  if (utf16) return 'utf-8';
  if (named === 'utf-8' || named === 'windows-1252') return named;
  return hasBom ? 'utf-8' : null;
}

const HEADER_LINE =
  'Name another line: --header-line N (header_line: N in the job file), counted from 1.';

/** The first byte of the header line. @throws USAGE, INPUT_UNREADABLE */
function linesAbove({ name, head }: InputFile, { headerLine = 1, header }: OpenOptions) {
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
) {
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

function findHeader(
  { name, bytes, from, linesAbove, isWhole }: Head,
  delimiter: string,
  quoting: Quoting,
) {
  const record = newRecordSpan(quoting);
  let linesBefore = linesAbove;
  for (let at = from; at < bytes.length; at = record.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), record)) {
      throw unreadable(
        name,
        'has no line end in its first mebibyte',
        'Perilbook reads CSV with one record a line.',
      );
    }
    if (!isBlank(record)) return { record, linesBefore };
    linesBefore += record.lineEnds;
  }
  throw unreadable(name, 'has no header line', 'The first line must name the columns.');
}

/** The delimiter that gives the most header fields, weighted by the records that agree. */
function findDelimiter(
  head: Head,
  given: string | undefined,
): { delimiter: string; hint: string | null } {
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
  for (const width of firstWidths(head, delimiter, quoting))
    counts.set(width, (counts.get(width) ?? 0) + 1);
  const [usual] = [...counts].sort(([a, times], [b, others]) => others - times || b - a);
  return usual?.[0] ?? 0;
}

/** The usual width if each of the first rows has more fields than the header, else 0: NOAA's files of tornadoes name 24 of 28 columns,
 * and some programs end each row with a delimiter. A single long row is not accepted: one of its texts may lack quotes. */
function widthWithUnnamed(head: Head, delimiter: string, quoting: Quoting): number {
  const [named = 0, ...widths] = firstWidths(head, delimiter, quoting);
  return widths.length > 0 && widths.every((width) => width > named)
    ? usualWidth(head, delimiter, quoting)
    : 0;
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

/** The head of a file, which shows its dialect. */
interface Head {
  readonly name: string;
  readonly bytes: Buffer;
  /** Where the table begins: after BOM and `sep=`, and after the lines above the header. */
  readonly from: number;
  readonly linesAbove: number;
  readonly isWhole: boolean;
}

/** The records in the head of a file, in one span. */
function* recordsOf(
  { bytes, from, isWhole }: Head,
  delimiter: string,
  quoting: Quoting,
): Generator<RecordSpan> {
  const span = newRecordSpan(quoting);
  for (let at = from; at < bytes.length; at = span.next) {
    if (!scanRecord(bytes, at, bytes.length, isWhole, delimiter.charCodeAt(0), span)) return;
    if (!isBlank(span)) yield span;
  }
}

const SINGLE: Quoting = { quote: "'", escape: "'" };
const BACKSLASHED: Quoting = { quote: '"', escape: '\\' };

/** How the head of a file quotes. Single quotes and backslashes are also letters: they are taken only where all records then have one
 * width, and each record is in single quotes, or a backslash stands before a quote within a field. */
function guessQuoting(head: Head, delimiter: string): Quoting {
  const text = head.bytes.toString('latin1', head.from);
  if (text.includes('\\"') && isRegular(head, delimiter, BACKSLASHED)) {
    if (hasQuoteWithin(text, delimiter) || !isRegular(head, delimiter, RFC_QUOTING))
      return BACKSLASHED;
  }
  const isSingle = text.includes("'") && isRegular(head, delimiter, SINGLE, hasSingleQuotes);
  return isSingle ? SINGLE : RFC_QUOTING;
}

/** Whether an escaped quote has text after it, so that it does not end its field. */
function hasQuoteWithin(text: string, delimiter: string): boolean {
  for (let at = text.indexOf('\\"'); at >= 0; at = text.indexOf('\\"', at + 2)) {
    const follower = text[at + 2] ?? '\n';
    if (follower !== delimiter && follower !== '\n' && follower !== '\r' && follower !== '"')
      return true;
  }
  return false;
}

function isRegular(
  head: Head,
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

/** Whether a field of a record is in single quotes, and none in double ones. */
function hasSingleQuotes(bytes: Buffer, span: RecordSpan): boolean {
  const fields = Array.from({ length: span.fields }, (_, index) => {
    const end = index + 1 < span.fields ? span.starts[index + 1]! - 1 : span.end;
    return bytes.toString('latin1', span.starts[index]!, end).trim();
  });
  return (
    fields.some((text) => /^'[\s\S]*'$/.test(text)) && !fields.some((text) => text.startsWith('"'))
  );
}

/** Marks that separate fields in some files, and stand in texts and names too: Hive writes \x01, ASCII has \x1c to \x1f for it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const RARE = /[\x01-\x08\x0b\x0c\x0e-\x1f^~`!#$%&*:;=?@/\\<>{} ]/g;

/** The delimiter of a file without a usual one: read where all records have one width and the names are those of a location; else a hint, or null. */
function otherDelimiter(
  head: Head,
): { readonly delimiter: string | null; readonly hint: string | null } | null {
  const lines = firstLines(head);
  const [header = ''] = lines;
  const isAligned = lines.some((line) => /^ | {2}/.test(line));
  const marks = [...new Set(header.match(RARE))].filter((mark) => mark !== ' ' || !isAligned);
  const candidates = marks.flatMap((delimiter) => {
    const names = namesIn(head, delimiter);
    return names === null ? [] : [{ delimiter, names }];
  });
  const certain = candidates.filter(({ names }) => mayHaveLocation(names));
  if (certain.length === 1) return { delimiter: certain[0]!.delimiter, hint: null };
  if (isAligned && mayHaveLocation(header.trim().split(/ +/)))
    return { delimiter: null, hint: alignedHint(header) };
  const [likely] = [...certain, ...candidates].filter(
    ({ delimiter }) => delimiter !== ' ' || certain.length > 0,
  );
  if (likely === undefined) return null;
  const given = typed(likely.delimiter);
  const hint = `If ${given.name} separates its columns, add --delimiter ${given.option} (delimiter: ${given.yaml} in the job file).`;
  return { delimiter: null, hint };
}

function firstLines({ bytes, from }: Head): string[] {
  const text = bytes.toString('latin1', from, from + 64 * 1024);
  return text
    .split(/[\r\n]+/)
    .filter(Boolean)
    .slice(0, 20);
}

/** The names of the columns that a delimiter makes; null unless all records have as many fields. */
function namesIn(head: Head, delimiter: string): string[] | null {
  const quoting = guessQuoting(head, delimiter);
  let names: string[] | null = null;
  for (const span of recordsOf(head, delimiter, quoting)) {
    names ??= Array.from({ length: span.fields }, (_, index) =>
      fieldText(head.bytes, span, index, 'utf-8').trim(),
    );
    if (span.fields !== names.length) return null;
  }
  return names !== null && names.length > 1 ? names : null;
}

/** Names may have single spaces in them, where columns have more between them. */
function alignedHint(header: string): string {
  const gap = /\S {2}/.test(header) ? ' {2,}' : ' +';
  return `If spaces align its columns, put a comma in each gap, for instance with: sed -E 's/^ +//; s/ +$//; s/${gap}/,/g'.`;
}

/** A delimiter as it is typed in a shell and in YAML. */
function typed(delimiter: string): { name: string; option: string; yaml: string } {
  const code = delimiter.charCodeAt(0);
  if (code > 32)
    return {
      name: delimiter,
      option: delimiter === '\\' ? "'\\'" : `'${delimiter}'`,
      yaml: `'${delimiter}'`,
    };
  if (code === 32) return { name: 'a space', option: "' '", yaml: "' '" };
  const written = `\\x${code.toString(16).padStart(2, '0')}`;
  return { name: `the character ${written}`, option: `$'${written}'`, yaml: `"${written}"` };
}
