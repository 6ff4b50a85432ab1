import type { PerilbookError } from '../../errors.ts';
import { decodeText } from '../bytes/decode-text.ts';
import { fieldEnd, isBlank, newRecordSpan, type QuoteRule, type RecordSpan, scanRecord } from './scan-records.ts';

/** A record of a file of delimited text, or a row of a sheet. */
export interface TableRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Set on the last record when no line end follows: its last cell may be cut. */
  readonly unended?: true;
}

/** No publisher's cell has this many lines: a quote still open after them is a stray one, and everything after it would end up in its
 * cell. */
const MOST_LINES = 1_000;

/**
 * The records of a publisher's file, as texts, a block at a time: memory is bounded by the block and one record. An empty line is no record.
 * Lines are read by the scanner that reads the users' rows, which is compared with csv-parse in the tests. csv-parse itself was tried
 * (7.0.3): it takes 9.4 s for 41 MB of EPA's releases where this takes 1.4 s, and so doubles the time of a load.
 *
 * @param delimiter `|` files have no quotes
 * @param damaged makes the error for a quote that is not closed, or a last line that is cut
 */
export async function* delimitedRecords(
  blocks: AsyncIterable<Buffer>,
  delimiter: ',' | '|',
  damaged: (problem: string) => PerilbookError,
): AsyncGenerator<readonly TableRecord[], void, void> {
  const reader = recordReader(delimiter, damaged);
  let rest: Buffer = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, block]) : block;
    const { records, end } = reader(bytes, false);
    rest = bytes.subarray(end);
    if (records.length > 0) yield records;
  }
  const { records } = reader(rest, true);
  if (records.length > 0) yield records;
}

function recordReader(delimiter: ',' | '|', damaged: (problem: string) => PerilbookError) {
  const quotes: QuoteRule = delimiter === '|' ? 'none' : 'loose';
  const span = newRecordSpan();
  let line = 1;
  let fewest = Number.POSITIVE_INFINITY;
  return (bytes: Buffer, isLast: boolean): { readonly records: TableRecord[]; readonly end: number } => {
    const records: TableRecord[] = [];
    const quoteFrom = (from: number) => (quotes === 'none' ? -1 : bytes.indexOf(QUOTE, from)) >>> 0;
    let quoteAt = quoteFrom(0);
    let at = 0;
    while (at < bytes.length) {
      if (quoteAt < at) quoteAt = quoteFrom(at);
      const plainEnd = bytes.indexOf(LF, at);
      let cells = plainEnd >= 0 && plainEnd < quoteAt ? cellsOfLine(bytes, at, plainEnd, delimiter) : null;
      if (cells !== null) Object.assign(span, { end: plainEnd, next: plainEnd + 1, lineEnds: 1 });
      else {
        if (!scanRecord(bytes, at, bytes.length, isLast, delimiter.charCodeAt(0), span, quotes)) break;
        if (span.hasStray || span.lineEnds > MOST_LINES) throw damaged(`line ${line}: a quote is not closed`);
        cells = isBlank(span) ? [''] : cellsOf(bytes, span, delimiter);
      }
      const isUnended = span.next === span.end;
      if (isUnended && line > 1 && cells.length < fewest) throw cutLine(line, cells.length, damaged);
      if (cells.length > 1 || cells[0] !== '') {
        fewest = Math.min(fewest, line === 1 ? cells.findLastIndex((cell) => cell !== '') + 1 : cells.length);
        records.push(isUnended ? { line, cells, unended: true } : { line, cells });
      }
      line += span.lineEnds;
      at = span.next;
    }
    return { records, end: at };
  };
}

const [LF, CR, QUOTE] = [10, 13, 34];

/** The cells of a line without quotes, which need not be looked for; null where carriage returns end lines in it. */
function cellsOfLine(bytes: Buffer, from: number, to: number, delimiter: string): string[] | null {
  const text = decodeText(bytes, from, to > from && bytes[to - 1] === CR ? to - 1 : to, 'utf-8');
  return text.includes('\r') ? null : text.split(delimiter);
}

function cutLine(line: number, fields: number, damaged: (problem: string) => PerilbookError): PerilbookError {
  return damaged(`it is cut: its last line, ${line}, has only ${fields === 1 ? '1 field' : `${fields} fields`}`);
}

/** The texts of a record. It is decoded as a whole, which takes a third of the time, unless it has quotes and characters of several bytes. */
function cellsOf(bytes: Buffer, span: RecordSpan, delimiter: string): string[] {
  const { start, end, starts, fields } = span;
  const text = decodeText(bytes, start, end, 'utf-8');
  if (delimiter === '|' || !text.includes('"')) return text.split(delimiter);
  const isAscii = text.length === end - start;
  const cells: string[] = [];
  for (let index = 0; index < fields; index++) {
    const from = starts[index]!;
    const to = fieldEnd(span, index);
    const isQuoted = bytes[from] === QUOTE;
    const [first, last] = isQuoted ? [from + 1, to - 1] : [from, to];
    const cell = isAscii ? text.slice(first - start, last - start) : decodeText(bytes, first, last, 'utf-8');
    cells.push(isQuoted && cell.includes('"') ? cell.replaceAll('""', '"') : cell);
  }
  return cells;
}
