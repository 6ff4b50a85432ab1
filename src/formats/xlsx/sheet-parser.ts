import { type Attributes, localName, partParser } from './part-parser.ts';
import { partDecoder, type Workbook } from './workbook.ts';

/** A cell, and its position in the characters of the sheet's XML. */
export interface SheetCell {
  /** Counted from 0. */
  readonly column: number;
  type: string;
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

/** A piece of a sheet's XML, and the rows that end in it. */
export interface SheetPiece {
  readonly text: string;
  readonly rows: readonly SheetRow[];
  /** Where an unfinished row, filter or list of merged ranges begins; null if there is none. */
  readonly openFrom: number | null;
}

/** An element beside the rows that names ranges: `dimension` before them, `autoFilter` and `mergeCells` after them. */
export interface RangeElement {
  /** As written, with its prefix. */
  readonly tag: string;
  readonly refs: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Streams the XML of the sheet in pieces of some 128 KiB. Memory is bounded by the longest row, and the list of merged ranges. */
export async function* sheetPieces(
  { zip, sheet, sheetName }: Workbook,
  onRanges?: (element: RangeElement) => void,
): AsyncGenerator<SheetPiece, void, void> {
  const parse = sheetParser(onRanges);
  const decode = partDecoder();
  const parsed = (chunk: Buffer | null): SheetPiece => {
    try {
      return parse(decode(chunk), chunk === null);
    } catch (error) {
      throw zip.damaged(
        `the sheet "${sheetName}" cannot be read (${(error as Error).message})`,
        error,
      );
    }
  };
  for await (const chunk of zip.unpacked(sheet)) yield parsed(chunk);
  yield parsed(null);
}

/** Makes a function that finds rows and cells in the pieces of a sheet's XML. It throws an `Error` if it is not a sheet. */
function sheetParser(onRanges?: (element: RangeElement) => void) {
  let isInData = false;
  let rows: SheetRow[] = [];
  let row: SheetRow | null = null;
  let cell: SheetCell | null = null;
  /** The text that is read: of `<v>`, or of the `<is>` beside it. */
  let reads: 'value' | 'inline' | null = null;
  let value: string | null = null;
  let inline: string | null = null;
  let ranges: { tag: string; refs: string[]; from: number } | null = null;
  let phonetic = 0;
  let lastLine = 0;
  let tagFrom = 0;

  const begins = (name: string) => {
    // The parser has read `<`, the name, and one character after it.
    tagFrom = parser.position - name.length - 2;
  };
  const opens = (name: string, attributes: Attributes) => {
    const local = localName(name);
    if (!isInData) {
      if (local === 'sheetData') isInData = true;
      else if (local === 'dimension')
        onRanges?.({ tag: name, refs: [attributes.ref ?? ''], from: tagFrom, to: parser.position });
      else if (local === 'mergeCells') ranges = { tag: name, refs: [], from: tagFrom };
      else if (local === 'mergeCell') ranges?.refs.push(attributes.ref ?? '');
      else if (local === 'autoFilter')
        ranges = { tag: name, refs: [attributes.ref ?? ''], from: tagFrom };
      return;
    }
    switch (local) {
      case 'row': {
        const line = attributes.r === undefined ? lastLine + 1 : Number(attributes.r);
        if (!(line > lastLine && line <= MOST_ROWS)) throw new Error(`row ${line} is out of order`);
        lastLine = line;
        const tagTo = parser.position;
        row = { line, cells: [], from: tagFrom, tagTo, to: tagTo, tag: name };
        return;
      }
      case 'c': {
        if (row === null) return;
        const before = row.cells.at(-1)?.column ?? -1;
        const column = attributes.r === undefined ? before + 1 : parseColumn(attributes.r);
        if (!(column > before && column < MOST_COLUMNS))
          throw new Error(`cell ${attributes.r ?? columnLetters(column)} is out of order`);
        const style = attributes.s === undefined ? 0 : Number(attributes.s);
        const type = attributes.t ?? 'n';
        const made: SheetCell = {
          column,
          type,
          style,
          text: null,
          hasFormula: false,
          from: tagFrom,
          to: tagFrom,
        };
        cell = made;
        [value, inline] = [null, null];
        row.cells.push(made);
        return;
      }
      case 'f':
        if (cell) cell.hasFormula = true;
        return;
      case 'rPh':
        phonetic++;
        return;
      case 'is':
        inline ??= '';
        return;
      case 'v':
        reads = 'value';
        value ??= '';
        return;
      case 't':
        if (inline !== null && phonetic === 0) reads = 'inline';
    }
  };
  const says = (text: string) => {
    if (reads === 'value') value += text;
    else if (reads === 'inline') inline += text;
  };
  const closes = (name: string) => {
    if (!isInData) {
      if (ranges?.tag !== name) return;
      onRanges?.({ ...ranges, to: parser.position });
      ranges = null;
      return;
    }
    switch (localName(name)) {
      case 'v':
      case 't':
        reads = null;
        return;
      case 'rPh':
        phonetic--;
        return;
      case 'c':
        if (cell) endCell(cell, value, inline, parser.position);
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
  };
  const parser = partParser({ begins, opens, says, closes });
  return (text: string, isLast: boolean): SheetPiece => {
    rows = [];
    parser.read(text);
    if (isLast) parser.end();
    return { text, rows, openFrom: row?.from ?? ranges?.from ?? null };
  };
}

/** Gives a cell its text. Of a `<v>` beside the `<is>` of an inline text the type says which one counts, as in Excel, if both are there. */
function endCell(cell: SheetCell, value: string | null, inline: string | null, to: number): void {
  const isInline = inline !== null && (cell.type === 'inlineStr' || value === null);
  cell.to = to;
  cell.text = isInline ? inline : value;
  if (isInline) cell.type = 'inlineStr';
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
