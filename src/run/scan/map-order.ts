import type { CellTable } from './cell-table.ts';

/** Squares of 0.022° by 0.044°: cells in a square use the same outlines and tiles, which stay in the processor's cache. */
const BITS = 13;
const SQUARES = 2 ** BITS;
/** A key of 26 bits and a number of 27 are one exact double. */
const MOST_CELLS = 2 ** 27;

/** The numbers of cells in Z-order: neighbours in the list are neighbours on the map. */
export function inMapOrder(numbers: ArrayLike<number> & Iterable<number>, cells: CellTable): Float64Array {
  const keyed = new Float64Array(numbers.length);
  let next = 0;
  for (const number of numbers) {
    const { lat7, lng7 } = cells.cell(number);
    const row = Math.floor(((lat7 / 1e7 + 90) / 180) * (SQUARES - 1));
    const column = Math.floor(((lng7 / 1e7 + 180) / 360) * (SQUARES - 1));
    keyed[next++] = (spread(row) * 2 + spread(column)) * MOST_CELLS + number;
  }
  return keyed.sort().map((key) => key % MOST_CELLS);
}

/** Puts a zero between the bits of a number. */
function spread(bits: number): number {
  let spaced = bits;
  spaced = (spaced | (spaced << 8)) & 0x00ff00ff;
  spaced = (spaced | (spaced << 4)) & 0x0f0f0f0f;
  spaced = (spaced | (spaced << 2)) & 0x33333333;
  return (spaced | (spaced << 1)) & 0x55555555;
}
