import type { CellTable } from '../run/scan/cell-table.ts';

/** Tiles of half a degree, in units of cells. */
const TILE = 5_000_000;
const ROWS = 180 * 2 + 1;
const COLUMNS = 360 * 2 + 1;

/**
 * The numbers of all cells, those of each half degree together, in the order of the file within it. Neighbors are in the same counties and
 * bins of the map, so what they add to stays in the processor's cache: in the order of the file the report of a million places took 3 s
 * more. Counting by tile takes a tenth of the time of a sort.
 */
export function nearOrder(cells: CellTable): Uint32Array {
  const starts = new Uint32Array(ROWS * COLUMNS + 1);
  const tileOf = (number: number) => {
    const { lat7, lng7 } = cells.cell(number);
    return Math.floor((lat7 + 900_000_000) / TILE) * COLUMNS + Math.floor((lng7 + 1_800_000_000) / TILE);
  };
  for (let number = 0; number < cells.size; number++) starts[tileOf(number) + 1]!++;
  for (let tile = 1; tile < starts.length; tile++) starts[tile]! += starts[tile - 1]!;
  const order = new Uint32Array(cells.size);
  for (let number = 0; number < cells.size; number++) order[starts[tileOf(number)]!++] = number;
  return order;
}
