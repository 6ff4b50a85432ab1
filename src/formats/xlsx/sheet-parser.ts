import { SaxesParser } from 'saxes';
import { localName, type Workbook } from './workbook.ts';

/** A cell, and its position in the characters of the sheet's XML. */
export interface SheetCell {
  /** Counted from 0. */
  readonly column: number;
  readonly type: string;
  readonly style: number;
  /** As in the XML; null for a cell without text. */
  text: string | null;
  hasFormula: boolean;
  readonly from: number;
  to: number;
}

export interface SheetRow {
  /** The number that Excel shows beside the row. */
  readonly line: number;
  /** From the left to the right. */
  readonly cells: SheetCell[];
  readonly from: number;
  /** After the opening tag. */
  readonly tagTo: number;
  to: number;
  /** As written, with its prefix. */
  readonly tag: string;
}

/** What Excel can hold: XFD columns, 1,048,576 rows. */
export const MOST_COLUMNS = 16_384;
export const MOST_ROWS = 1_048_576;

/** A cell holds at most 32,767 letters: more than this without a tag is not a sheet. */
const LONGEST_PIECE = 16 * 1024 * 1024;

/** A piece of a sheet's XML, and the rows that end in it. */
export interface SheetPiece {
  readonly text: string;
  readonly rows: readonly SheetRow[];
  /** Where an unfinished row begins; null if there is none. */
  readonly openRow: number | null;
}

/** Streams the XML of the sheet in pieces of some 128 KiB. Memory is bounded by the longest row. `onDimension` is called for
 * `<dimension ref="…"/>`, which comes before the rows. */
export async function* sheetPieces(
  { zip, sheet, sheetName }: Workbook,
  onDimension?: (ref: string, from: number, to: number) => void,
): AsyncGenerator<SheetPiece, void, void> {
  const parse = sheetParser(onDimension);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const parsed = (chunk: Buffer | null): SheetPiece => {
    try {
      return parse(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode(), chunk === null);
    } catch (error) {
      throw zip.damaged(`the sheet "${sheetName}" cannot be read (${(error as Error).message})`, error);
    }
  };
  for await (const chunk of zip.unpacked(sheet)) yield parsed(chunk);
  yield parsed(null);
}

/** Makes a function that finds rows and cells in the pieces of a sheet's XML. It throws an `Error` if it is not a sheet. */
function sheetParser(onDimension?: (ref: string, from: number, to: number) => void) {
  const parser = new SaxesParser({ position: true, xmlns: false } as const);
  let isInData = false;
  let rows: SheetRow[] = [];
  let row: SheetRow | null = null;
  let cell: SheetCell | null = null;
  let isValue = false;
  let phonetic = 0;
  let lastLine = 0;
  let lastPosition = 0;
  let tagFrom = 0;

  parser.on('opentagstart', ({ name }) => {
    // The parser has read `<`, the name, and one character after it.
    tagFrom = parser.position - name.length - 2;
  });
  parser.on('opentag', ({ name, attributes }) => {
    lastPosition = parser.position;
    const local = localName(name);
    if (!isInData) {
      if (local === 'sheetData') isInData = true;
      else if (local === 'dimension') onDimension?.(attributes.ref ?? '', tagFrom, parser.position);
      return;
    }
    switch (local) {
      case 'row': {
        const line = attributes.r === undefined ? lastLine + 1 : Number(attributes.r);
        if (!(line > lastLine && line <= MOST_ROWS)) throw new Error(`row ${attributes.r} is out of order`);
        lastLine = line;
        const tagTo = parser.position;
        row = { line, cells: [], from: tagFrom, tagTo, to: tagTo, tag: name };
        return;
      }
      case 'c': {
        if (row === null) return;
        const before = row.cells.at(-1)?.column ?? -1;
        const column = attributes.r === undefined ? before + 1 : parseColumn(attributes.r);
        if (!(column > before && column < MOST_COLUMNS)) throw new Error(`cell ${attributes.r} is out of order`);
        const style = attributes.s === undefined ? 0 : Number(attributes.s);
        const type = attributes.t ?? 'n';
        const made: SheetCell = { column, type, style, text: null, hasFormula: false, from: tagFrom, to: tagFrom };
        cell = made;
        row.cells.push(made);
        return;
      }
      case 'f':
        if (cell) cell.hasFormula = true;
        return;
      case 'rPh':
        phonetic++;
        return;
      case 'v':
      case 't':
        isValue = cell !== null && phonetic === 0;
        if (isValue) cell!.text ??= '';
    }
  });
  const addText = (text: string) => {
    if (isValue) cell!.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', ({ name }) => {
    lastPosition = parser.position;
    if (!isInData) return;
    switch (localName(name)) {
      case 'v':
      case 't':
        isValue = false;
        return;
      case 'rPh':
        phonetic--;
        return;
      case 'c':
        if (cell) cell.to = parser.position;
        cell = null;
        return;
      case 'row':
        if (row) {
          row.to = parser.position;
          rows.push(row);
        }
        row = null;
        return;
      case 'sheetData':
        isInData = false;
    }
  });
  return (text: string, isLast: boolean): SheetPiece => {
    rows = [];
    parser.write(text);
    if (parser.position - lastPosition > LONGEST_PIECE) throw new Error('a text in it has no end');
    if (isLast) parser.close();
    return { text, rows, openRow: row?.from ?? null };
  };
}

/** The column of a reference such as `AB12`, counted from 0. */
export function parseColumn(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) & ~0x20;
    if (letter < 65 || letter > 90) break;
    column = column * 26 + letter - 64;
  }
  return column - 1;
}

/** The letters of a column that is counted from 0: 27 is `AB`. */
export function columnLetters(column: number): string {
  let letters = '';
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26)) {
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters;
  }
  return letters;
}
