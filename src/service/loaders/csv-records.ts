import { PerilbookError } from '../../errors.ts';
import { textBlocks } from './text-blocks.ts';

/** No agency's cell has so many lines: a quote that is not closed sooner is a stray one, and what follows it would be lost
 * in its cell, up to the file's end. */
const MOST_LINES = 1_000;
/** Nor is a record as long as this. */
const MOST_CHARACTERS = 1 << 24;

/** A record of a file of delimited text. */
export interface CsvRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: string[];
}

/**
 * The records of a file, one after the other; the file is never held whole, and nothing is awaited: csv-parse does one or
 * the other. Quotes count where a cell begins with one; an empty line is no record.
 *
 * @param delimiter `|` files have no quotes
 */
export function* csvRecords(file: string, delimiter: ',' | '|' = ','): Generator<CsvRecord> {
  let text = '';
  let line = 1;
  let lineEnd: '\n' | '\r' | null = null;
  for (const block of textBlocks(file)) {
    text += block;
    lineEnd ??= text.includes('\n') ? '\n' : '\r';
    let at = 0;
    while (at < text.length) {
      const record = recordAt(text, at, lineEnd, delimiter, false);
      if (record === null) break;
      if (record.lines > MOST_LINES) throw strayQuote(file, line);
      if (record.cells.length > 1 || record.cells[0] !== '') yield { line, cells: record.cells };
      line += record.lines;
      at = record.end;
    }
    text = text.slice(at);
    if (text.length > MOST_CHARACTERS) throw strayQuote(file, line);
  }
  if (text === '') return;
  for (let at = 0; at < text.length; ) {
    const record = recordAt(text, at, lineEnd ?? '\n', delimiter, true)!;
    if (record.lines > MOST_LINES || (record.open === true && record.lines > 1)) throw strayQuote(file, line);
    if (record.cells.length > 1 || record.cells[0] !== '') yield { line, cells: record.cells };
    line += record.lines;
    at = record.end;
  }
}

interface Found {
  readonly cells: string[];
  /** Where the next record begins. */
  readonly end: number;
  readonly lines: number;
  /** Whether a quote of it is never closed. */
  readonly open?: boolean;
}

function strayQuote(file: string, line: number): PerilbookError {
  return new PerilbookError(
    'SERVICE_DATA',
    `Cannot load "${file}": line ${line}: a quote is not closed`,
    'Close it, or download the file again; the data that was there is unchanged.',
    { file, row: line },
  );
}

/** The record that begins at a place; null when the text ends before the record does and more text is to come. */
function recordAt(text: string, from: number, lineEnd: string, delimiter: string, isLast: boolean): Found | null {
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
): Found | null {
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
        // EPA writes quotes within quotes as they are ("CERTAIN "A" COMPOUNDS"); doubled ones are one.
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
