import { CellTable } from './cell-table.ts';
import { NumbersOfRows } from './numbers-of-rows.ts';
import type { RowPlaces } from './row-places.ts';

/** Rows that get the same fields: those of one cell, and of the same codes where the job reads codes of the rows' own. */
export interface RowGroups {
  readonly size: number;
  cellOf(group: number): number;
  rows(group: number): number;
  /** The sum of the values of its rows, in units (`CellTable`). */
  value(group: number): number;
  /** Returns a reader that begins at `row` and reads `count` rows per call: the number of a group, or `size` plus the number of a finding.
   * @throws INPUT_UNREADABLE for more rows than were added */
  groupsFrom(row?: number): (count: number) => Int32Array<ArrayBuffer>;
}

/** Groups that are the cells themselves. */
export function groupsOfCells(cells: CellTable, places: RowPlaces): RowGroups {
  return {
    get size() {
      return cells.size;
    },
    cellOf: (group) => group,
    rows: (group) => cells.rows(group),
    value: (group) => cells.value(group),
    groupsFrom: (row) => places.placesFrom(cells.size, row),
  };
}

/** The codes of a row, one for each column of codes (`codeNumber`). */
export type Codes = ArrayLike<number>;

/** Of a row whose place decides all. */
export const NO_CODES: Codes = [];

/** The groups of rows with codes of their own, numbered in the order of their first rows; and the group of each row: 4 bytes a row. */
export class CodedGroups implements Disposable {
  /** Counted as cells are: by two whole numbers, that of the cell and that of the codes. */
  readonly #pairs = new CellTable();
  readonly #ofRows = new NumbersOfRows((length) => new Int32Array(length));
  readonly #numbers = new Map<number | string, number>();
  readonly #codes: (readonly number[])[] = [];

  /** Counts a row of some value at a cell; returns the number of its group. */
  add(cell: number, codes: Codes, value: number): number {
    const key = codes.length === 1 ? codes[0]! : Array.from(codes).join();
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#codes.push(Array.from(codes)) - 1;
      this.#numbers.set(key, number);
    }
    const group = this.#pairs.addAt(cell, number, value);
    this.#ofRows.add(group);
    return group;
  }

  /** A row without a cell. */
  addUnlocated(): void {
    this.#ofRows.add(0);
  }

  /** The distinct codes of rows. */
  get codes(): readonly (readonly number[])[] {
    return this.#codes;
  }

  cellOf(group: number): number {
    return this.#pairs.shared.keys[2 * group]!;
  }

  /** The number of a group's codes. */
  codesOf(group: number): number {
    return this.#pairs.shared.keys[2 * group + 1]!;
  }

  get size(): number {
    return this.#pairs.size;
  }

  /** After the last row. */
  groups(places: RowPlaces, cells: CellTable): RowGroups {
    const pairs = this.#pairs;
    pairs.roundValues(cells.decimals);
    const { keys } = pairs.shared;
    return {
      size: pairs.size,
      cellOf: (group) => keys[2 * group]!,
      rows: (group) => pairs.rows(group),
      value: (group) => pairs.value(group),
      groupsFrom: (row) => {
        const placesOf = places.placesFrom(cells.size, row);
        const groupsOf = this.#ofRows.numbersFrom(row);
        return (count) => {
          const numbers = placesOf(count);
          const groups = groupsOf(count);
          for (let at = 0; at < count; at++)
            numbers[at] =
              numbers[at]! < cells.size ? groups[at]! : numbers[at]! - cells.size + pairs.size;
          return numbers;
        };
      },
    };
  }

  [Symbol.dispose](): void {
    this.#ofRows[Symbol.dispose]();
  }
}
