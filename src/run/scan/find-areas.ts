import type { CellAreaFinder, CellAreas } from '../../data/tables/cell-area-finder.ts';
import type { AreaTable } from './area-table.ts';
import type { CellTable } from './cell-table.ts';
import { inMapOrder } from './map-order.ts';

/** How many cells have an area by the boundaries, and why the others have none: these are bought on their own. */
export type AreaCounts = Readonly<Record<NonNullable<CellAreas['lacks']> | 'in_area', number>>;

/** Finds the areas of all cells and records them. For random places in 85,000 tracts, the order of the map is four times as fast as that of
 * the file. */
export function findAreas(cells: CellTable, areas: AreaTable, find: CellAreaFinder): AreaCounts {
  const counts = { in_area: 0, near_border: 0, in_no_area: 0, no_boundaries: 0 };
  const all = Uint32Array.from({ length: cells.size }, (_, cell) => cell);
  for (const cell of inMapOrder(all, cells)) {
    const { tract, county, lacks } = find(cells.cell(cell));
    counts[lacks ?? 'in_area']++;
    areas.record(cell, 'tract', tract);
    areas.record(cell, 'county', county);
  }
  return counts;
}
