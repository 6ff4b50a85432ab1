import type { PerilbookError } from '../../errors.ts';
import { invalidFile } from './load-errors.ts';
import { textBlocks } from './text-blocks.ts';

/** No agency's cell has this many lines: a quote still open after them is a stray one, and everything after it would
 * end up in its cell. */
const MOST_LINES = 1_000;
/** No record is this long either. */
const MOST_CHARACTERS = 1 << 24;

/** A record of a file of delimited text. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: string[];
  /** Set on the last record when no line end follows: its last cell may be cut. */
  readonly unended?: true;
}

/**
 * The records of a file of delimited text, one at a time: the file is never in memory as a whole, and nothing is awaited. A cell is quoted if it begins with a quote; an empty line is no record.
 *
 * Not csv-parse (7.0.3, tried on 17 files of agencies with `relax_quotes`, `escape` and `relax_column_count`): 16 read
 * alike, but EPA does not double quotes within quotes, and csv-parse stops at `"CERTAIN "A" COMPOUNDS, N.E.C."` or,
 * with `relax_quotes`, makes two cells of it: 61 of 3,686 rows of TRI differ. So this reader is needed anyway, and a
 * second one would not remove it. csv-parse also takes four times as long and reads a file either at once or
 * asynchronously.
 *
 * @param delimiter `|` files have no quotes
 * @throws PerilbookError SERVICE_DATA for a quote that is not closed or a last line that is cut
 */
export function* delimitedRecords(file: string, delimiter: ',' | '|'): Generator<CsvRecord> {
  let text = '';
  let line = 1;
  let lineEnd: '\n' | '\r' | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const block of textBlocks(file)) {
    text += block;
    lineEnd ??= text.includes('\n') ? '\n' : '\r';
    let at = 0;
    while (at < text.length) {
      const record = recordAt(text, at, lineEnd, delimiter, false);
      if (record === null) break;
      if (record.lines > MOST_LINES) throw strayQuote(file, line);
      const { cells } = record;
      if (cells.length > 1 || cells[0] !== '') {
        fewest = Math.min(fewest, line === 1 ? cells.findLastIndex((cell) => cell !== '') + 1 : cells.length);
        yield { line, cells };
      }
      line += record.lines;
      at = record.end;
    }
    text = text.slice(at);
    if (text.length > MOST_CHARACTERS) throw strayQuote(file, line);
  }
  if (text === '') return;
  // The rest has no line end, unless carriage returns alone end the lines.
  const { cells, open, lines } = recordAt(text, 0, lineEnd ?? '\n', delimiter, true)!;
  if (open === true || lines > MOST_LINES) throw strayQuote(file, line);
  if (cells.length < fewest && line > 1) throw cutLine(file, line, cells.length);
  if (cells.length > 1 || cells[0] !== '') yield { line, cells, unended: true };
}

interface ParsedRecord {
  readonly cells: string[];
  /** Where the next record begins. */
  readonly end: number;
  readonly lines: number;
  /** Whether one of its quotes is never closed. */
  readonly open?: boolean;
}

function strayQuote(file: string, line: number): PerilbookError {
  const hint = 'Close it, or download the file again; the stored data is unchanged.';
  return invalidFile(file, `line ${line}: a quote is not closed`, hint);
}

function cutLine(file: string, line: number, fields: number): PerilbookError {
  const hint = 'Download it again; the stored data is unchanged.';
  return invalidFile(
    file,
    `it is cut: its last line, ${line}, has only ${fields === 1 ? '1 field' : `${fields} fields`}`,
    hint,
  );
}

/** The record at an offset; null when the text ends before the record does and more is to come. */
function recordAt(
  text: string,
  from: number,
  lineEnd: string,
  delimiter: string,
  isLast: boolean,
): ParsedRecord | null {
  const newline = text.indexOf(lineEnd, from);
  if (newline < 0 && !isLast) return null;
  const end = newline < 0 ? text.length : newline;
  const line = text.slice(from, text.charCodeAt(end - 1) === 13 && lineEnd === '\n' && end > from ? end - 1 : end);
  if (delimiter === '|' || !line.includes('"')) {
    return { cells: line.split(delimiter), end: newline < 0 ? text.length : newline + 1, lines: 1 };
  }
  return quotedRecordAt(text, from, lineEnd, delimiter, isLast);
}

function quotedRecordAt(
  text: string,
  start: number,
  lineEnd: string,
  delimiter: string,
  isLast: boolean,
): ParsedRecord | null {
  const cells: string[] = [];
  let at = start;
  let lines = 1;
  let open = false;
  for (;;) {
    let cell = '';
    if (text[at] === '"') {
      let from = at + 1;
      for (;;) {
        const close = text.indexOf('"', from);
        if (close < 0) {
          if (!isLast) return null;
          cell += text.slice(from);
          open = true;
          at = text.length;
          break;
        }
        cell += text.slice(from, close);
        const next = text[close + 1];
        if (next === undefined && !isLast) return null;
        if (next === undefined || next === delimiter || next === '\r' || next === '\n') {
          at = close + 1;
          break;
        }
        // EPA does not double quotes within quotes ("CERTAIN "A" COMPOUNDS"); doubled ones are one.
        cell += '"';
        from = next === '"' ? close + 2 : close + 1;
      }
      for (let i = cell.indexOf(lineEnd); i >= 0; i = cell.indexOf(lineEnd, i + 1)) lines += 1;
    }
    const comma = text.indexOf(delimiter, at);
    const newline = text.indexOf(lineEnd, at);
    if (newline < 0 && !isLast) return null;
    const isComma = comma >= 0 && (newline < 0 || comma < newline);
    const end = isComma ? comma : newline < 0 ? text.length : newline;
    const tail = text.slice(at, end);
    cells.push(cell + (isComma || lineEnd === '\r' ? tail : tail.replace(/\r$/, '')));
    if (!isComma) return { cells, end: newline < 0 ? text.length : newline + 1, lines, open };
    at = comma + 1;
  }
}
