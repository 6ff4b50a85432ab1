import { locationOf } from '../geo/coordinates.ts';
import { type County, countyAt } from '../geo/us-counties.ts';
import type { CellTable } from '../run/scan/cell-table.ts';

/** The county of each cell, found once: two bytes a cell. */
export class CellCounties {
  readonly #counties: (County | null)[] = [];
  readonly #numbers: Uint16Array;

  /** @param order all cells, near ones together: the outlines that they are compared with stay in the processor's cache */
  constructor(cells: CellTable, order: Uint32Array) {
    this.#numbers = new Uint16Array(cells.size);
    const known = new Map<County | null, number>();
    for (const cell of order) {
      const county = countyAt(locationOf(cells.cell(cell)));
      let number = known.get(county);
      if (number === undefined) {
        number = this.#counties.push(county) - 1;
        known.set(county, number);
      }
      this.#numbers[cell] = number;
    }
  }

  /** Null off every outline. */
  of(cell: number): County | null {
    return this.#counties[this.#numbers[cell]!]!;
  }
}
