import type { PerilbookError } from '../../errors.ts';
import { invalidFile } from './load-errors.ts';
import { type Columns, columnsOf } from './named-columns.ts';
import { sheetRecords } from './sheet-records.ts';
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
  /** The last record, when no line end follows it: its last cell may be cut. */
  readonly unended?: true;
}

/**
 * The records of a file, or of the table of an .xlsx workbook, one after the other; the file is never held whole, and nothing is awaited. Quotes count where a cell
 * begins with one; an empty line is no record.
 *
 * Not csv-parse: EPA leaves quotes within quotes as they are, and csv-parse makes two cells of `"CERTAIN "A" COMPOUNDS, N.E.C."`
 * with `relax_quotes` and stops at it without; it also reads a whole file at once or asynchronously only.
 *
 * @param delimiter `|` files have no quotes
 * @throws PerilbookError SERVICE_DATA when a quote is not closed, or the last line is cut
 */
export function* csvRecords(file: string, delimiter: ',' | '|' = ','): Generator<CsvRecord> {
  if (/\.xlsx$/i.test(file)) {
    yield* sheetRecords(file);
    return;
  }
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
  // What is left has no line end behind it, unless a carriage return alone ends the lines.
  const { cells, open, lines } = recordAt(text, 0, lineEnd ?? '\n', delimiter, true)!;
  if (open === true || lines > MOST_LINES) throw strayQuote(file, line);
  if (cells.length < fewest && line > 1) throw cutLine(file, line, cells.length);
  if (cells.length > 1 || cells[0] !== '') yield { line, cells, unended: true };
}

/** A file whose first record is its header. */
export function csvTable(file: string): { readonly columns: Columns; readonly rows: Generator<CsvRecord> } {
  const rows = csvRecords(file);
  const header = rows.next();
  return { columns: columnsOf(header.done ? [] : header.value.cells, file), rows };
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
  const hint = 'Close it, or download the file again; the data that was there is unchanged.';
  return invalidFile(file, `line ${line}: a quote is not closed`, hint);
}

function cutLine(file: string, line: number, fields: number): PerilbookError {
  const hint = 'Download it again; the data that was there is unchanged.';
  return invalidFile(
    file,
    `it is cut: its last line, ${line}, has only ${fields === 1 ? '1 field' : `${fields} fields`}`,
    hint,
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
