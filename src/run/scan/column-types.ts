import { keptNumber } from '../../rows/kept-columns.ts';
import type { AddedColumn } from '../../rows/port.ts';
import type { KeptColumn, Layout } from './layout.ts';
import { FIRST_VALUE } from './value.ts';

/** The type of all texts of a column so far. */
export interface ColumnType {
  isNumber: boolean;
  /** Of a kept column: a number if the file has decimal commas. */
  isCommaNumber: boolean;
  /** A whole number of 32 bits. */
  isCount: boolean;
  isTime: boolean;
  hasAny: boolean;
  hasDecimalPoint: boolean;
  hasDecimalComma: boolean;
}

/** A number that every format writes in the same way. A text with leading zeros is a code. */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** A double keeps no more digits. */
const DIGITS_KEPT = 15;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

function newColumnType(): ColumnType {
  const marks = { hasDecimalPoint: false, hasDecimalComma: false };
  const is = { isNumber: true, isCommaNumber: true, isCount: true, isTime: true };
  return { ...is, hasAny: false, ...marks };
}

/** Adds one text; an empty one is ignored. */
function noteText(type: ColumnType, text: string): void {
  if (text === '') return;
  type.hasAny = true;
  if (type.isNumber && !isPlainNumber(text)) type.isNumber = false;
  if (type.isCount && (!type.isNumber || (Number(text) | 0) !== Number(text))) type.isCount = false;
  if (type.isTime && !TIME.test(text)) type.isTime = false;
}

/** As `noteText`, for a column of an earlier run: a number is what is written as one. */
function noteKept(type: ColumnType, text: string): void {
  if (text === '') return;
  type.hasAny = true;
  if (type.isNumber) {
    const number = keptNumber(text, 'point');
    type.isNumber = number !== null;
    if (number === null || (number | 0) !== number) type.isCount = false;
  }
  if (type.isCommaNumber && keptNumber(text, 'comma') === null) type.isCommaNumber = false;
  if (type.isTime && !TIME.test(text)) type.isTime = false;
}

/** Notes the decimal separator of a coordinate. */
function noteDecimalMark(type: ColumnType, text: string): void {
  if (!type.hasDecimalPoint && /\d\.\d/.test(text)) type.hasDecimalPoint = true;
  else if (!type.hasDecimalComma && /\d,\d/.test(text)) type.hasDecimalComma = true;
}

function isPlainNumber(text: string): boolean {
  const trimmed = text.trim();
  if (!PLAIN_NUMBER.test(trimmed)) return false;
  return trimmed.length <= DIGITS_KEPT || Math.abs(Number(trimmed)) < 1_000;
}

/** The type of a kept column in a typed format: its own if every text fits, else text. */
function typeKept(
  wanted: AddedColumn['type'],
  { isNumber, isCommaNumber, isCount, isTime }: ColumnType,
  decimal: 'point' | 'comma',
): AddedColumn['type'] {
  const number = decimal === 'comma' ? isCommaNumber : isNumber;
  const fits = { text: true, number, count: isCount, time: isTime, point: false }[wanted];
  return fits ? wanted : 'text';
}

/** The types of the columns that a scan reads, and of the columns kept from an earlier run. */
export class ColumnTypes {
  /** The columns to read: the layout's, then the kept ones. */
  readonly columns: readonly number[];
  readonly #layout: Layout;
  readonly types: readonly ColumnType[];

  constructor(layout: Layout) {
    this.#layout = layout;
    this.columns = [...layout.columns, ...layout.kept.map(({ keeps }) => keeps)];
    this.types = this.columns.map(newColumnType);
  }

  note(fields: readonly string[]): void {
    const kept = this.#layout.columns.length;
    for (let at = 0; at < kept; at++) noteText(this.types[at]!, fields[at] ?? '');
    for (let at = kept; at < this.types.length; at++) noteKept(this.types[at]!, fields[at] ?? '');
    for (let at = 0; at < FIRST_VALUE; at++) noteDecimalMark(this.types[at]!, fields[at] ?? '');
  }

  /** As `note`, for the numbers of a column whose texts are plain decimals.
   * @param isTaken 1 for each row that counts */
  noteDecimals(at: number, numbers: ArrayLike<number | null>, isTaken: Uint8Array): void {
    const type = this.types[at]!;
    const { length } = isTaken;
    let [hasAny, isCount] = [false, true];
    for (let row = 0; row < length; row++) {
      if (isTaken[row] === 0) continue;
      hasAny = true;
      const value = numbers[row]!;
      if ((value | 0) !== value) isCount = false;
    }
    if (!hasAny) return;
    type.hasAny = true;
    type.isTime = false;
    if (isCount) return;
    type.isCount = false;
    type.isCommaNumber = false;
    type.hasDecimalPoint = true;
  }

  add(others: readonly ColumnType[]): void {
    for (const [at, type] of this.types.entries()) {
      const { isNumber, isCommaNumber, isCount, isTime, hasAny } = others[at]!;
      const { hasDecimalPoint, hasDecimalComma } = others[at]!;
      type.isNumber &&= isNumber;
      type.isCommaNumber &&= isCommaNumber;
      type.isCount &&= isCount;
      type.isTime &&= isTime;
      type.hasAny ||= hasAny;
      type.hasDecimalPoint ||= hasDecimalPoint;
      type.hasDecimalComma ||= hasDecimalComma;
    }
  }

  /** The location and value columns with a number in every row. Area codes are not numbers. */
  numbers(): ReadonlySet<number> {
    const { columns, values } = this.#layout;
    const measured = columns.slice(0, FIRST_VALUE + values);
    return new Set(measured.filter((_, at) => this.types[at]!.isNumber && this.types[at]!.hasAny));
  }

  /** A comma if some coordinate has a comma and none has a point. In a column with both coordinates, a comma separates them. */
  decimal(): 'point' | 'comma' {
    const coordinates = this.#layout.pair ? [] : this.types.slice(0, FIRST_VALUE);
    const hasComma = coordinates.some(({ hasDecimalComma }) => hasDecimalComma);
    return hasComma && !coordinates.some(({ hasDecimalPoint }) => hasDecimalPoint)
      ? 'comma'
      : 'point';
  }

  /** @param decimal the decimal separator of the numbers in the kept columns */
  kept(decimal: 'point' | 'comma'): KeptColumn[] {
    const { columns, kept } = this.#layout;
    return kept.map((column, at) => ({
      ...column,
      type: typeKept(column.type, this.types[columns.length + at]!, decimal),
    }));
  }
}
