import type { CellAreaFinder, CellAreas } from '../../data/tables/cell-area-finder.ts';
import { UNITS_PER_DEGREE } from '../../geo/coordinates.ts';
import type { AreaTable } from './area-table.ts';
import type { CellTable } from './cell-table.ts';

/** How many cells have an area by the boundaries, and why the others have none: these are bought on their own. */
export type AreaCounts = Readonly<Record<NonNullable<CellAreas['lacks']> | 'in_area', number>>;

/** Cells are looked up in the order of squares of a quarter of a degree: for random places in 85,000 tracts that is four times
 * as fast as the order of the file, because the outlines of a square stay in the processor's cache. */
const SQUARES_PER_DEGREE = 4;
const SQUARE = UNITS_PER_DEGREE / SQUARES_PER_DEGREE;
/** Numbers of squares have 20 bits and those of cells 32: together they are exact in a double. */
const CELLS = 2 ** 32;

/** Finds the areas of all cells and records them. */
export function findAreas(cells: CellTable, areas: AreaTable, find: CellAreaFinder): AreaCounts {
  const order = new Float64Array(cells.size);
  for (let cell = 0; cell < cells.size; cell++) {
    const { lat7, lng7 } = cells.cell(cell);
    const row = Math.floor(lat7 / SQUARE) + 90 * SQUARES_PER_DEGREE;
    const column = Math.floor(lng7 / SQUARE) + 180 * SQUARES_PER_DEGREE;
    order[cell] = (row * 360 * SQUARES_PER_DEGREE + column) * CELLS + cell;
  }
  order.sort();
  const counts = { in_area: 0, near_border: 0, in_no_area: 0, no_boundaries: 0 };
  for (const key of order) {
    const cell = key - Math.floor(key / CELLS) * CELLS;
    const { tract, county, lacks } = find(cells.cell(cell));
    counts[lacks ?? 'in_area']++;
    areas.record(cell, 'tract', tract);
    areas.record(cell, 'county', county);
  }
  return counts;
}
