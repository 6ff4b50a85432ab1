import { columnLetters, parseColumn } from './sheet-parser.ts';

/** Columns counted from 0, without the last one; rows as Excel numbers them, with the last one. */
export interface CellRange {
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly bottom: number;
}

/** Reads a range such as `A1:D20` or `$A$1:$D$20`; null for one cell, and for other texts. */
export function parseRange(ref: string): CellRange | null {
  const [, left, top, right, bottom] = /^\$?([A-Z]+)\$?(\d+):\$?([A-Z]+)\$?(\d+)$/i.exec(ref) ?? [];
  if (left === undefined || right === undefined) return null;
  return {
    from: parseColumn(left),
    to: parseColumn(right) + 1,
    top: Number(top),
    bottom: Number(bottom),
  };
}

/** A range as the parts of a workbook have it. */
export function rangeText({ from, to, top, bottom }: CellRange): string {
  return `${columnLetters(from)}${top}:${columnLetters(to - 1)}${bottom}`;
}
