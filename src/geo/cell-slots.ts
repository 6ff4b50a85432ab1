/** The numbers of cells by their place: open addressing over typed arrays, which threads can share. */
export interface CellSlots {
  /** Latitude and longitude of each cell: side by side, so that a look-up reads memory in two places. */
  readonly keys: Int32Array;
  /** The number of the cell in each slot plus one; 0 is empty. Their count is a power of two. */
  readonly slots: Uint32Array;
}

/** The slot of a cell, or the empty one where it belongs. */
export function findSlot({ keys, slots }: CellSlots, lat7: number, lng7: number): number {
  const mask = slots.length - 1;
  let slot = cellHash(lat7, lng7) & mask;
  for (;;) {
    const number = slots[slot]! - 1;
    if (number < 0 || (keys[2 * number] === lat7 && keys[2 * number + 1] === lng7)) return slot;
    slot = (slot + 1) & mask;
  }
}

/** The number of a cell; -1 if it is not there. */
export function cellNumber(cells: CellSlots, lat7: number, lng7: number): number {
  return cells.slots[findSlot(cells, lat7, lng7)]! - 1;
}

/** The slot of a cell in a table of 2^32. It mixes both halves well: cells of one street differ in a few low bits only (the finisher of MurmurHash3). */
export function cellHash(lat7: number, lng7: number): number {
  let h = Math.imul(lat7, 0x9e3779b1) ^ lng7;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
