import type { ReadonlyTopicSets } from '../../contract/topic-set.ts';
import type { CellTable } from '../scan/cell-table.ts';

/** Cells to look up with the sets of their missing topics, in memory that all workers share. */
export interface SharedCells {
  readonly lat7: Int32Array<SharedArrayBuffer>;
  readonly lng7: Int32Array<SharedArrayBuffer>;
  readonly missing: Float64Array<SharedArrayBuffer>;
}

/** Squares of 0.022° by 0.044°: cells in a square use the same outlines and tiles, which workers keep in memory. */
const BITS = 13;
const SQUARES = 2 ** BITS;
/** A key of 26 bits and a number of 27 are one exact double. */
const MOST_CELLS = 2 ** 27;

/** Puts cells into Z-order, so that neighbours in the list are neighbours on the map. */
export function sortedCells(
  order: ArrayLike<number> & Iterable<number>,
  cells: CellTable,
  missing: ReadonlyTopicSets,
): SharedCells {
  const keyed = new Float64Array(order.length);
  let next = 0;
  for (const number of order) {
    const { lat7, lng7 } = cells.cell(number);
    const row = Math.floor(((lat7 / 1e7 + 90) / 180) * (SQUARES - 1));
    const column = Math.floor(((lng7 / 1e7 + 180) / 360) * (SQUARES - 1));
    keyed[next++] = (spread(row) * 2 + spread(column)) * MOST_CELLS + number;
  }
  keyed.sort();
  const shared = {
    lat7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    lng7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    missing: new Float64Array(new SharedArrayBuffer(order.length * 8)),
  };
  for (let index = 0; index < keyed.length; index++) {
    const number = keyed[index]! % MOST_CELLS;
    const { lat7, lng7 } = cells.cell(number);
    shared.lat7[index] = lat7;
    shared.lng7[index] = lng7;
    shared.missing[index] = missing.get(number);
  }
  return shared;
}

/** Puts a zero between the bits of a number. */
function spread(bits: number): number {
  let spaced = bits;
  spaced = (spaced | (spaced << 8)) & 0x00ff00ff;
  spaced = (spaced | (spaced << 4)) & 0x0f0f0f0f;
  spaced = (spaced | (spaced << 2)) & 0x33333333;
  return (spaced | (spaced << 1)) & 0x55555555;
}
