import { PerilbookError } from '../../base/errors.ts';
import {
  fieldText,
  isBlank,
  newRecordSpan,
  type Quoting,
  type RecordSpan,
  scanRecord,
} from '../../formats/csv/scan-records.ts';
import { type InputFile, unreadable } from '../files/input-file.ts';
import { ownWidth } from '../kept-columns.ts';
import type { OpenOptions } from '../port.ts';
import { type EncodingOfText, encodingOf, hasAsciiInLetters } from '../text-encoding.ts';
import { findDelimiter } from './delimiters.ts';
import { type CsvHead, guessQuoting, usualWidth, widthWithUnnamed } from './head-records.ts';

export interface Dialect extends EncodingOfText {
  readonly delimiter: string;
  readonly quoting: Quoting;
  /** What to do if no column has a location; null for nothing. */
  readonly columnsHint: string | null;
  /** If rows have more fields than the header, the last columns have no name. */
  readonly columns: readonly string[];
  /** How many of the columns are not of an earlier run. */
  readonly ownWidth: number;
  /** The header record in the head of the file; everything before it (BOM, blank lines, `sep=`) is copied to the output. Without a
   * header, an empty span where the records begin. */
  readonly header: RecordSpan;
  readonly hasHeader: boolean;
  /** The line on which the records begin. */
  readonly firstLine: number;
}

/** The formats of text with a delimiter, by their extensions. A file with any other delimiter is CSV, and one called .csv may have each. */
export const DELIMITED_FORMATS = {
  psv: { delimiter: '|', extensions: ['.psv'] },
  tsv: { delimiter: '\t', extensions: ['.tsv', '.tab'] },
  csv: { delimiter: ',', extensions: ['.csv'] },
} as const;

/** The format of a text with a delimiter. */
export function delimitedFormat(delimiter: string): string {
  return (
    Object.entries(DELIMITED_FORMATS).find(([, own]) => own.delimiter === delimiter)?.[0] ?? 'csv'
  );
}

const BOM = '\xef\xbb\xbf';

/** Looks at the head of a file (in an encoding whose structure is ASCII). */
export function readDialect(input: InputFile, options: OpenOptions): Dialect {
  const { head, declared } = tableIn(input, options);
  const { delimiter, hint: columnsHint } = findDelimiter(head, options.delimiter ?? declared);
  const quoting = guessQuoting(head, delimiter);
  const ofText = encodingOf(input, options.encoding);
  const { encoding } = ofText;
  if (hasAsciiInLetters(encoding) && delimiter >= '@' && delimiter <= '~') {
    const hint = `Convert the file to UTF-8 first: iconv -f ${encoding} -t UTF-8 FILE > utf8.csv.`;
    const what = `has ${JSON.stringify(delimiter)} between its fields, which is also a part of letters in ${encoding}`;
    throw unreadable(input.name, what, hint);
  }
  const manner = { delimiter, quoting, columnsHint, ...ofText };
  const first = findHeader(head, delimiter, quoting);
  if (options.headerLine !== undefined && first.linesBefore >= options.headerLine) {
    const what = `has nothing on line ${options.headerLine}, which should name the columns`;
    throw unreadable(input.name, what, HEADER_LINE);
  }
  const table =
    options.header === false
      ? numberedColumns(head, first, manner)
      : namedColumns(head, first, manner);
  return { ...manner, ...table, ownWidth: ownWidth(table.columns) };
}

/** Where the table begins in the head of a file: after BOM and `sep=`, or at the header line that the user names. */
function tableIn(
  input: InputFile,
  options: OpenOptions,
): { readonly head: CsvHead; readonly declared: string | undefined } {
  const { name, head: bytes, isWhole } = input;
  const start = bytes.toString('latin1', 0, BOM.length) === BOM ? BOM.length : 0;
  const sep = /^sep=([^\r\n"])(?=[\r\n])/i.exec(bytes.toString('latin1', start, start + 8));
  const begin =
    options.headerLine === undefined
      ? { from: start + (sep?.[0].length ?? 0), linesAbove: 0 }
      : linesAbove(input, options);
  return { head: { name, bytes, isWhole, ...begin }, declared: sep?.[1] };
}

type TableColumns = Pick<Dialect, 'columns' | 'header' | 'hasHeader' | 'firstLine'>;
type TableManner = Pick<Dialect, 'delimiter' | 'quoting' | 'encoding'>;

/** The columns of a table without names: they are numbered. */
function numberedColumns(
  head: CsvHead,
  { record, linesBefore }: FirstRecord,
  { delimiter, quoting }: TableManner,
): TableColumns {
  const { start: at } = record;
  const header = { ...record, end: at, next: at, fields: 0, lineEnds: 0 };
  const width = usualWidth(head, delimiter, quoting);
  const columns = Array.from({ length: width }, (_, i) => String(i + 1));
  return { columns, header, hasHeader: false, firstLine: 1 + linesBefore };
}

/** The columns by the names in the first record; where all rows have more fields, the last ones have none. */
function namedColumns(
  head: CsvHead,
  { record, linesBefore }: FirstRecord,
  { delimiter, quoting, encoding }: TableManner,
): TableColumns {
  const width = Math.max(record.fields, widthWithUnnamed(head, delimiter, quoting));
  const columns = Array.from({ length: width }, (_, i) =>
    fieldText(head.bytes, record, i, encoding).trim(),
  );
  const firstLine = 1 + linesBefore + record.lineEnds;
  return { columns, header: record, hasHeader: true, firstLine };
}

const HEADER_LINE =
  'Name another line: --header-line N (header_line: N in the job file), counted from 1.';

/** The first byte of the header line. @throws USAGE, INPUT_UNREADABLE */
function linesAbove({ name, head }: InputFile, { headerLine = 1, header }: OpenOptions) {
  if (header === false) {
    const hint = 'Leave out --header-line, or --no-header (header: false).';
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

/** The first record of a table, and the lines before it. */
interface FirstRecord {
  readonly record: RecordSpan;
  readonly linesBefore: number;
}

/** @throws INPUT_UNREADABLE */
function findHeader(
  { name, bytes, from, linesAbove, isWhole }: CsvHead,
  delimiter: string,
  quoting: Quoting,
): FirstRecord {
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
    if (!isBlank(bytes, record)) return { record, linesBefore };
    linesBefore += record.lineEnds;
  }
  throw unreadable(name, 'has no header line', 'The first line must name the columns.');
}
