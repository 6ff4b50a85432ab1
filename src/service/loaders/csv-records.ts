import { textBlocks } from './text-blocks.ts';

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
      if (record.cells.length > 1 || record.cells[0] !== '') yield { line, cells: record.cells };
      line += record.lines;
      at = record.end;
    }
    text = text.slice(at);
  }
  if (text === '') return;
  for (let at = 0; at < text.length; ) {
    const record = recordAt(text, at, lineEnd ?? '\n', delimiter, true)!;
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

function quotedRecordAt(text: string, from: number, lineEnd: string, delimiter: string, isLast: boolean): Found | null {
  const cells: string[] = [];
  let at = from;
  let lines = 1;
  for (;;) {
    let cell = '';
    if (text[at] === '"') {
      let open = at + 1;
      for (;;) {
        const close = text.indexOf('"', open);
        if (close < 0) {
          if (!isLast) return null;
          cell += text.slice(open);
          at = text.length;
          break;
        }
        cell += text.slice(open, close);
        const next = text[close + 1];
        if (next === undefined && !isLast) return null;
        if (next === undefined || next === delimiter || next === '\r' || next === '\n') {
          at = close + 1;
          break;
        }
        // EPA writes quotes within quotes as they are ("CERTAIN "A" COMPOUNDS"); doubled ones are one.
        cell += '"';
        open = next === '"' ? close + 2 : close + 1;
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
    if (!isComma) return { cells, end: newline < 0 ? text.length : newline + 1, lines };
    at = comma + 1;
  }
}
