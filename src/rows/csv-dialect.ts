import { PerilbookError } from '../errors.ts';
import { fieldText, isBlank, newRecordSpan, type RecordSpan, scanRecord } from './csv-scan.ts';
import { guessEncoding, type TextEncoding } from './text-encoding.ts';

/** What a user may say of a CSV file that its content would otherwise decide. */
export interface CsvOptions {
  /** One ASCII character that is no quote and no line end. */
  readonly delimiter?: string;
  readonly encoding?: TextEncoding;
}

/** How a CSV file is written, and where its header lies. */
export interface Dialect {
  readonly delimiter: string;
  readonly encoding: TextEncoding;
  readonly columns: readonly string[];
  /** The header record in the head of the file; what stands before it (BOM, blank lines, `sep=`) passes to the output. */
  readonly header: RecordSpan;
  /** The line on which the records begin. */
  readonly firstLine: number;
}

/** Commas last: where two cut equally well, commas are likelier to be part of texts and decimals. */
const DELIMITERS = ['\t', ';', '|', ','] as const;
const RECORDS_TO_JUDGE_BY = 50;
const BOM = '\xef\xbb\xbf';

/** Looks at the head of a file. `isWhole` says that there is nothing behind it. */
export function readDialect(file: string, head: Buffer, isWhole: boolean, options: CsvOptions): Dialect {
  const start = head.toString('latin1', 0, BOM.length) === BOM ? BOM.length : 0;
  const declared = /^sep=([^\r\n"])(?=[\r\n])/i.exec(head.toString('latin1', start, start + 8));
  const from = start + (declared?.[0].length ?? 0);
  const delimiter = checkedDelimiter(options.delimiter ?? declared?.[1] ?? guessDelimiter(head, from, isWhole));
  const encoding = options.encoding ?? (start > 0 ? 'utf-8' : guessEncoding(head));
  const { header, linesBefore } = findHeader(file, head, from, isWhole, delimiter);
  const columns = Array.from({ length: header.fields }, (_, i) => fieldText(head, header, i, encoding).trim());
  return { delimiter, encoding, columns, header, firstLine: 1 + linesBefore + header.lineEnds };
}

function findHeader(file: string, head: Buffer, from: number, isWhole: boolean, delimiter: string) {
  const header = newRecordSpan();
  let linesBefore = 0;
  for (let at = from; at < head.length; at = header.next) {
    if (!scanRecord(head, at, head.length, isWhole, delimiter.charCodeAt(0), header)) {
      throw refused(file, 'has no line end in its first mebibyte', 'Perilbook reads CSV with one record a line.');
    }
    if (!isBlank(header)) return { header, linesBefore };
    linesBefore += header.lineEnds;
  }
  throw refused(file, 'has no header line', 'The first line must name the columns.');
}

/** The delimiter that cuts the header into the most fields, where the records agree with it. */
function guessDelimiter(head: Buffer, from: number, isWhole: boolean): string {
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 };
  for (const delimiter of DELIMITERS) {
    const score = scoreOf(head, from, isWhole, delimiter.charCodeAt(0));
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

function scoreOf(head: Buffer, from: number, isWhole: boolean, delimiter: number): number {
  const span = newRecordSpan();
  let width = 0;
  let records = 0;
  let agreeing = 0;
  for (let at = from; at < head.length && records < RECORDS_TO_JUDGE_BY; at = span.next) {
    if (!scanRecord(head, at, head.length, isWhole, delimiter, span)) break;
    if (isBlank(span)) continue;
    if (width === 0) width = span.fields;
    else records++;
    if (records > 0 && span.fields === width) agreeing++;
  }
  if (width < 2) return 0;
  // Ragged files still have a delimiter: disagreement weakens a candidate and does not exclude it.
  return width * (records === 0 ? 1 : 0.1 + agreeing / records);
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
