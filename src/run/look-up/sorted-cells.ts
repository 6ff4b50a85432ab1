import type { ReadonlyTopicSets } from '../../contract/topic-set.ts';
import type { CellTable } from '../scan/cell-table.ts';
import { inMapOrder } from '../scan/map-order.ts';

/** Cells to look up with the sets of their missing topics, in memory that all workers share. */
export interface SharedCells {
  readonly lat7: Int32Array<SharedArrayBuffer>;
  readonly lng7: Int32Array<SharedArrayBuffer>;
  readonly missing: Float64Array<SharedArrayBuffer>;
}

/** Puts cells into the order of the map. */
export function sortedCells(
  order: ArrayLike<number> & Iterable<number>,
  cells: CellTable,
  missing: ReadonlyTopicSets,
): SharedCells {
  const shared = {
    lat7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    lng7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    missing: new Float64Array(new SharedArrayBuffer(order.length * 8)),
  };
  for (const [index, number] of inMapOrder(order, cells).entries()) {
    const { lat7, lng7 } = cells.cell(number);
    shared.lat7[index] = lat7;
    shared.lng7[index] = lng7;
    shared.missing[index] = missing.get(number);
  }
  return shared;
}
