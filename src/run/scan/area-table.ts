import type { AreaLevel } from '../../geo/area-codes.ts';
import { grown } from './cell-table.ts';

const NONE = 0;
const CONFLICT = -1;

/**
 * The areas of the cells, by their rows. If a cell's rows name different areas of one level (on a border, or by a wrong
 * code), it has no area and is bought on its own.
 */
export class AreaTable {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** The last code of each level and its number: cells in the same area often follow one another. */
  readonly #last: Record<AreaLevel, { code: string; number: number }> = {
    tract: { code: '', number: NONE },
    county: { code: '', number: NONE },
  };
  readonly #cells: Record<AreaLevel, Int32Array> = { tract: new Int32Array(1024), county: new Int32Array(1024) };

  /** Records the area of a row's cell; null if the row names none. Returns false if another row contradicts it. */
  record(cell: number, level: AreaLevel, code: string | null): boolean {
    if (code === null) return true;
    if (cell >= this.#cells[level].length) this.#grow(level, cell);
    const cells = this.#cells[level];
    const number = this.#numberOf(level, code);
    if (cells[cell] === NONE) cells[cell] = number;
    if (cells[cell] === number) return true;
    cells[cell] = CONFLICT;
    return false;
  }

  /** The area of a cell, e.g. `tract 06037106111`, or null. */
  of(cell: number, level: AreaLevel): string | null {
    return this.#names[(this.#cells[level][cell] ?? NONE) - 1] ?? null;
  }

  /** All areas. */
  get names(): readonly string[] {
    return this.#names;
  }

  #numberOf(level: AreaLevel, code: string): number {
    const last = this.#last[level];
    if (last.code === code) return last.number;
    const name = `${level} ${code}`;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name);
      this.#numbers.set(name, number);
    }
    this.#last[level] = { code, number };
    return number;
  }

  #grow(level: AreaLevel, cell: number): void {
    const old = this.#cells[level];
    this.#cells[level] = grown(old, new Int32Array(Math.max(cell + 1, 2 * old.length)));
  }
}
