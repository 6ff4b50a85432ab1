import type { AreaLevel } from '../../contract/topics.ts';
import type { CellAreaFinder, CellAreas } from '../../data/tables/cell-area-finder.ts';
import { type CellTable, growArray, inMapOrder } from '../scan/cell-table.ts';

const NONE = 0;

/** The areas of the cells, found by boundaries. */
export class AreaTable {
  readonly #names: string[] = [];
  readonly #numbers: Record<AreaLevel, Map<string, number>> = {
    tract: new Map(),
    county: new Map(),
  };
  /** The last code of each level and its number: cells in the same area often follow one another. */
  readonly #last: Record<AreaLevel, { code: string; number: number }> = {
    tract: { code: '', number: NONE },
    county: { code: '', number: NONE },
  };
  readonly #cells: Record<AreaLevel, Int32Array> = {
    tract: new Int32Array(1024),
    county: new Int32Array(1024),
  };

  /** Records the area of a cell; null if it has none. */
  record(cell: number, level: AreaLevel, code: string | null): void {
    if (code === null) return;
    if (cell >= this.#cells[level].length) this.#grow(level, cell);
    this.#cells[level][cell] = this.#numberOfCode(level, code);
  }

  /** The area of a cell, e.g. `tract 06037106111`, or null. */
  of(cell: number, level: AreaLevel): string | null {
    return this.#names[this.numberOf(cell, level) - 1] ?? null;
  }

  /** The number of a cell's area, from 1 to the number of areas; 0 if it has none. */
  numberOf(cell: number, level: AreaLevel): number {
    return this.#cells[level][cell] ?? NONE;
  }

  get names(): readonly string[] {
    return this.#names;
  }

  #numberOfCode(level: AreaLevel, code: string): number {
    const last = this.#last[level];
    if (last.code === code) return last.number;
    const numbers = this.#numbers[level];
    let number = numbers.get(code);
    if (number === undefined) {
      number = this.#names.push(`${level} ${code}`);
      numbers.set(code, number);
    }
    this.#last[level] = { code, number };
    return number;
  }

  #grow(level: AreaLevel, cell: number): void {
    const old = this.#cells[level];
    this.#cells[level] = growArray(old, new Int32Array(Math.max(cell + 1, 2 * old.length)));
  }
}

/** How many cells have an area by the boundaries, and why the others have none: these are bought on their own. */
export type AreaCounts = Readonly<Record<NonNullable<CellAreas['lacks']> | 'in_area', number>>;

/** Finds the areas of all cells and records them. For random places in 85,000 tracts, the map's order is four times as fast as the file's. */
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
