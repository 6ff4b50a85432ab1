import { columnLetters, parseColumn } from '../../formats/xlsx/sheet-parser.ts';

/** Columns counted from 0, without the last one; rows as Excel numbers them, with the last one. */
interface MergedRange {
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly bottom: number;
}

/** What is left of a merged range around new cells: readers show only the first cell of a range, so a new one within it would be lost.
 * Each part that is left is merged; a part of one cell is not.
 * @param region the columns of new cells
 * @param isEdited 1 for each row that has new cells */
export function partedRanges(
  ref: string,
  region: Pick<MergedRange, 'from' | 'to'>,
  isEdited: Uint8Array<ArrayBuffer>,
): readonly string[] {
  const range = parseRange(ref);
  if (range === null || range.to <= region.from || range.from >= region.to) return [ref];
  const edited = isEdited.subarray(range.top, range.bottom + 1);
  if (!edited.includes(1)) return [ref];
  const [top, bottom] = [range.top + edited.indexOf(1), range.top + edited.lastIndexOf(1)];
  const parts: readonly MergedRange[] = [
    { ...range, bottom: top - 1 },
    { ...range, top, bottom, to: region.from },
    { ...range, top, bottom, from: region.to },
    { ...range, top: bottom + 1 },
  ];
  return parts
    .filter(({ from, to, top, bottom }) => to > from && bottom >= top && (to - from) * (bottom - top + 1) > 1)
    .map(rangeText);
}

function parseRange(ref: string): MergedRange | null {
  const [, left, top, right, bottom] = /^\$?([A-Z]+)\$?(\d+):\$?([A-Z]+)\$?(\d+)$/i.exec(ref) ?? [];
  if (left === undefined || right === undefined) return null;
  return { from: parseColumn(left), to: parseColumn(right) + 1, top: Number(top), bottom: Number(bottom) };
}

function rangeText({ from, to, top, bottom }: MergedRange): string {
  return `${columnLetters(from)}${top}:${columnLetters(to - 1)}${bottom}`;
}
