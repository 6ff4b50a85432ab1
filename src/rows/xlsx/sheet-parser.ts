import { SaxesParser } from 'saxes';
import { localName } from './workbook.ts';

/** A cell, and where it stands in the characters of the sheet's XML. */
export interface SheetCell {
  /** Counted from 0. */
  readonly column: number;
  readonly type: string;
  readonly style: number;
  /** As the XML has it; null for a cell that has none. */
  text: string | null;
  readonly from: number;
  to: number;
}

export interface SheetRow {
  /** The number that Excel shows beside the row. */
  readonly line: number;
  /** From the left to the right. */
  readonly cells: SheetCell[];
  readonly from: number;
  /** Behind the opening tag. */
  readonly tagTo: number;
  to: number;
  /** As it is written, with its prefix. */
  readonly tag: string;
  /** It is written `<row/>`: there is nothing inside. */
  readonly isClosed: boolean;
}

/** What Excel can hold: XFD columns, 1,048,576 rows. */
export const MOST_COLUMNS = 16_384;
export const MOST_ROWS = 1_048_576;

/** No cell holds more than 32,767 letters: beyond this without a tag it is no sheet. */
const LONGEST_PIECE = 16 * 1024 * 1024;

export interface SheetParser {
  write(text: string): void;
  /** @throws Error where the XML is not whole */
  close(): void;
  /** Where the row begins that was opened and is not yet closed; null between rows. */
  openRow(): number | null;
}

export interface SheetListener {
  readonly row: (row: SheetRow) => void;
  /** `<dimension ref="…"/>`, which stands before the rows. */
  readonly dimension?: (ref: string, from: number, to: number) => void;
}

/** Finds the rows and cells in the XML of a sheet, as it comes. Throws an `Error` for what is no sheet. */
export function sheetParser(listener: SheetListener): SheetParser {
  const parser = new SaxesParser({ position: true, xmlns: false } as const);
  let isInData = false;
  let row: SheetRow | null = null;
  let cell: SheetCell | null = null;
  let isValue = false;
  let phonetic = 0;
  let lastLine = 0;
  let lastPlace = 0;
  let tagFrom = 0;

  parser.on('opentagstart', ({ name }) => {
    // The parser has read `<`, the name, and one character behind it.
    tagFrom = parser.position - name.length - 2;
  });
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    lastPlace = parser.position;
    const local = localName(name);
    if (!isInData) {
      if (local === 'sheetData') isInData = true;
      else if (local === 'dimension') listener.dimension?.(attributes.ref ?? '', tagFrom, parser.position);
      return;
    }
    switch (local) {
      case 'row': {
        const line = attributes.r === undefined ? lastLine + 1 : Number(attributes.r);
        if (!(line > lastLine && line <= MOST_ROWS)) throw new Error(`row ${attributes.r} is out of order`);
        lastLine = line;
        const tagTo = parser.position;
        row = { line, cells: [], from: tagFrom, tagTo, to: tagTo, tag: name, isClosed: isSelfClosing };
        return;
      }
      case 'c': {
        if (row === null) return;
        const before = row.cells.at(-1)?.column ?? -1;
        const column = attributes.r === undefined ? before + 1 : columnOf(attributes.r);
        if (!(column > before && column < MOST_COLUMNS)) throw new Error(`cell ${attributes.r} is out of order`);
        const style = attributes.s === undefined ? 0 : Number(attributes.s);
        const type = attributes.t ?? 'n';
        const made: SheetCell = { column, type, style, text: null, from: tagFrom, to: tagFrom };
        cell = made;
        row.cells.push(made);
        return;
      }
      case 'rPh':
        phonetic++;
        return;
      case 'v':
      case 't':
        isValue = cell !== null && phonetic === 0;
        if (isValue) cell!.text ??= '';
    }
  });
  parser.on('text', (text) => {
    if (isValue) cell!.text += text;
  });
  parser.on('cdata', (text) => {
    if (isValue) cell!.text += text;
  });
  parser.on('closetag', ({ name }) => {
    lastPlace = parser.position;
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
          listener.row(row);
        }
        row = null;
        return;
      case 'sheetData':
        isInData = false;
    }
  });
  return {
    write(text) {
      parser.write(text);
      if (parser.position - lastPlace > LONGEST_PIECE) throw new Error('a text in it has no end');
    },
    close: () => void parser.close(),
    openRow: () => row?.from ?? null,
  };
}

/** The column of a reference such as `AB12`, counted from 0. */
export function columnOf(reference: string): number {
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
