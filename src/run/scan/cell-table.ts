import { type CellSlots, cellHash, cellNumber, findSlot } from '../../geo/cell-slots.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { decimalsFor, wholeUnits } from './value.ts';

const FIRST_CAPACITY = 1024;

/** No latitude. */
export const NO_CELL = 2 ** 31 - 1;

/** A third of the slots stays empty, so that a lookup takes two or three probes. */
const MOST_FULL = 2 / 3;

/** The arrays of a table of cells, for threads. */
export interface CountedCells extends CellSlots {
  readonly rows: Uint32Array;
  /** In units (`CellTable`). */
  readonly values: Float64Array;
}

/** The cells and values of many rows. */
interface CellsOfRows {
  /** Latitude and longitude of each; the latitude is `NO_CELL` for a row without one. */
  readonly cells: Int32Array;
  readonly values: Float64Array | null;
  /** The values that loss rates apply to. */
  readonly lossValues: Float64Array | null;
}

/** The values of cells that loss rates apply to. */
type LossValues = Float64Array<SharedArrayBuffer> | null;

/** The distinct cells of an input, numbered in the order of their first rows: 32 bytes a cell or less, where a Map of strings takes
 * some 150. Its arrays are in memory that threads share. */
export class CellTable {
  #keys = new Int32Array(shared(8 * FIRST_CAPACITY));
  #rows = new Uint32Array(shared(4 * FIRST_CAPACITY));
  #values = new Float64Array(shared(8 * FIRST_CAPACITY));
  #slots = new Uint32Array(shared(8 * FIRST_CAPACITY));
  #lossValues: LossValues;
  #size = 0;
  #decimals = 0;
  /** The last requested number. */
  #asked = -1;

  /** @param hasLosses whether loss rates apply to another value than the value */
  constructor(hasLosses = false) {
    this.#lossValues = hasLosses ? new Float64Array(shared(8 * FIRST_CAPACITY)) : null;
  }

  get size(): number {
    return this.#size;
  }

  /** Counts a row of some value at a cell; returns the cell's number. */
  add(cell: Cell, value = 0): number {
    return this.addAt(cell.lat7, cell.lng7, value);
  }

  /** As `add`, without an object for the cell. */
  addAt(lat7: number, lng7: number, value: number, lossValue = 0): number {
    const number = this.#numberAt(lat7, lng7);
    this.#rows[number]! += 1;
    if (value !== 0) this.#values[number]! += value;
    if (this.#lossValues !== null && lossValue) this.#lossValues[number]! += lossValue;
    return number;
  }

  /** Counts rows as `addAt` does, in loops of one step each: a processor that waits for memory then asks for that of the next rows.
   * @param numbers gets the number of each row's cell, -1 without one */
  addAll({ cells, values, lossValues }: CellsOfRows, numbers: Int32Array): void {
    const rows = numbers.length;
    const slots = this.#slots;
    const mask = slots.length - 1;
    // Most cells are in their first slot.
    for (let row = 0; row < rows; row++)
      numbers[row] = slots[cellHash(cells[2 * row]!, cells[2 * row + 1]!) & mask]! - 1;
    for (let row = 0; row < rows; row++) {
      const lat7 = cells[2 * row]!;
      const lng7 = cells[2 * row + 1]!;
      const number = numbers[row]!;
      const isFound =
        number >= 0 && this.#keys[2 * number] === lat7 && this.#keys[2 * number + 1] === lng7;
      if (isFound) continue;
      numbers[row] = lat7 === NO_CELL ? -1 : this.#numberAt(lat7, lng7);
    }
    const counted = this.#rows;
    for (let row = 0; row < rows; row++) if (numbers[row]! >= 0) counted[numbers[row]!]! += 1;
    if (values !== null) addTo(this.#values, numbers, values);
    if (lossValues !== null && this.#lossValues !== null)
      addTo(this.#lossValues, numbers, lossValues);
  }

  /** The number of an added cell, else -1. Lookups in file order do not need the slots. */
  numberOf({ lat7, lng7 }: Cell): number {
    const next = this.#asked + 1;
    const isNext =
      next < this.#size && this.#keys[2 * next] === lat7 && this.#keys[2 * next + 1] === lng7;
    this.#asked = isNext ? next : cellNumber(this.shared, lat7, lng7);
    return this.#asked;
  }

  /** Its arrays. Valid until the next cell is added. */
  get shared(): CountedCells {
    return { keys: this.#keys, slots: this.#slots, rows: this.#rows, values: this.#values };
  }

  cell(number: number): Cell {
    return { lat7: this.#keys[2 * number]!, lng7: this.#keys[2 * number + 1]! };
  }

  /** The cells from number `from` up to, not including, `to`. */
  cells(from: number, to: number): Cell[] {
    const cells: Cell[] = [];
    for (let number = from; number < Math.min(to, this.#size); number++)
      cells.push(this.cell(number));
    return cells;
  }

  /** Makes the value of each cell a whole number of units, whose sums are exact in any order. Called once, after the last row.
   * @param decimals of the units; default: as many as the total has room for */
  roundValues(decimals?: number): void {
    let total = 0;
    for (let cell = 0; cell < this.#size; cell++) total += Math.abs(this.#values[cell]!);
    this.#decimals = decimals ?? decimalsFor(total);
    for (let cell = 0; cell < this.#size; cell++)
      this.#values[cell] = wholeUnits(this.#values[cell]!, this.#decimals);
    for (let cell = 0; cell < this.#size && this.#lossValues !== null; cell++)
      this.#lossValues[cell] = wholeUnits(this.#lossValues[cell]!, this.#decimals);
  }

  /** A unit of value is 10^-decimals of the file's unit. */
  get decimals(): number {
    return this.#decimals;
  }

  /** The sum of the values of the rows in a cell, in units. */
  value(number: number): number {
    return this.#values[number]!;
  }

  /** The sum of the values that loss rates apply to, in units. */
  lossValue(number: number): number {
    return (this.#lossValues ?? this.#values)[number]!;
  }

  /** The sum of the values of all cells, in units. */
  total(): number {
    let sum = 0;
    for (let cell = 0; cell < this.#size; cell++) sum += this.#values[cell]!;
    return sum;
  }

  /** The number of rows in a cell. */
  rows(number: number): number {
    return this.#rows[number]!;
  }

  /** The number of a cell, which is added if it is new. */
  #numberAt(lat7: number, lng7: number): number {
    let slot = this.#find(lat7, lng7);
    const known = this.#slots[slot]! - 1;
    if (known >= 0) return known;
    if (this.#size + 1 > this.#slots.length * MOST_FULL) {
      this.#growSlots();
      slot = this.#find(lat7, lng7);
    }
    if (this.#size === this.#rows.length) this.#growColumns();
    const number = this.#size++;
    this.#keys[2 * number] = lat7;
    this.#keys[2 * number + 1] = lng7;
    this.#slots[slot] = number + 1;
    return number;
  }

  #find(lat7: number, lng7: number): number {
    return findSlot({ keys: this.#keys, slots: this.#slots }, lat7, lng7);
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(shared(this.#slots.length * 8));
    for (let number = 0; number < this.#size; number++) {
      this.#slots[this.#find(this.#keys[2 * number]!, this.#keys[2 * number + 1]!)] = number + 1;
    }
  }

  #growColumns(): void {
    this.#keys = growArray(this.#keys, new Int32Array(shared(this.#size * 16)));
    this.#rows = growArray(this.#rows, new Uint32Array(shared(this.#size * 8)));
    this.#values = growArray(this.#values, new Float64Array(shared(this.#size * 16)));
    if (this.#lossValues !== null)
      this.#lossValues = growArray(this.#lossValues, new Float64Array(shared(this.#size * 16)));
  }
}

/** Adds the values of rows to those of their cells. */
function addTo(sums: Float64Array, numbers: Int32Array, values: Float64Array): void {
  for (let row = 0; row < numbers.length; row++) {
    const value = values[row]!;
    // Unknown values are NaN, and count as 0.
    if (numbers[row]! >= 0 && !Number.isNaN(value)) sums[numbers[row]!]! += value;
  }
}

const shared = (bytes: number): SharedArrayBuffer => new SharedArrayBuffer(bytes);

/** A longer array with the same content. */
export function growArray<A extends Int32Array | Uint32Array | Float64Array>(old: A, next: A): A {
  next.set(old);
  return next;
}

/** Squares of 0.022° by 0.044°: cells in a square use the same outlines and tiles, which stay in the processor's cache. */
const BITS = 13;
const SQUARES = 2 ** BITS;
/** A key of 26 bits and a number of 27 are one exact double. */
const MOST_CELLS = 2 ** 27;

/** The numbers of cells in Z-order: neighbours in the list are neighbours on the map. */
export function inMapOrder(
  numbers: ArrayLike<number> & Iterable<number>,
  cells: CellTable,
): Float64Array {
  const keyed = new Float64Array(numbers.length);
  let next = 0;
  for (const number of numbers) {
    const { lat7, lng7 } = cells.cell(number);
    const row = Math.floor(((lat7 / 1e7 + 90) / 180) * (SQUARES - 1));
    const column = Math.floor(((lng7 / 1e7 + 180) / 360) * (SQUARES - 1));
    keyed[next++] = (spreadBits(row) * 2 + spreadBits(column)) * MOST_CELLS + number;
  }
  return keyed.sort().map((key) => key % MOST_CELLS);
}

/** Puts a zero between the bits of a number. */
function spreadBits(bits: number): number {
  let spaced = bits;
  spaced = (spaced | (spaced << 8)) & 0x00ff00ff;
  spaced = (spaced | (spaced << 4)) & 0x0f0f0f0f;
  spaced = (spaced | (spaced << 2)) & 0x33333333;
  return (spaced | (spaced << 1)) & 0x55555555;
}
