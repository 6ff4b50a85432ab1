import type { AddedColumn } from '../../rows/port.ts';
import { FIRST_VALUE, type KeptColumn, type Layout } from './layout.ts';

/** What all texts of a column are, as far as they were seen. */
export interface ColumnType {
  isNumber: boolean;
  /** A whole number of 32 bits. */
  isCount: boolean;
  isTime: boolean;
  hasAny: boolean;
}

/** Digits with a point between, as every format of numbers has them: no leading zeros, which are of a code. */
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
/** More digits than these a number in binary may not keep. */
const DIGITS_KEPT = 15;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

function newColumnType(): ColumnType {
  return { isNumber: true, isCount: true, isTime: true, hasAny: false };
}

/** Takes one more text into account; an empty one says nothing. */
function noteText(type: ColumnType, text: string): void {
  if (text === '') return;
  type.hasAny = true;
  if (type.isNumber && !isPlainNumber(text)) type.isNumber = false;
  if (type.isCount && (!type.isNumber || (Number(text) | 0) !== Number(text))) type.isCount = false;
  if (type.isTime && !TIME.test(text)) type.isTime = false;
}

function isPlainNumber(text: string): boolean {
  const trimmed = text.trim();
  if (!PLAIN_NUMBER.test(trimmed)) return false;
  return trimmed.length <= DIGITS_KEPT || Math.abs(Number(trimmed)) < 1_000;
}

/** The type that a kept column can have in a format with types: its own where every text fits, else text. */
function typeKept(wanted: AddedColumn['type'], { isNumber, isCount, isTime }: ColumnType): AddedColumn['type'] {
  const fits = { text: true, number: isNumber, count: isCount, time: isTime }[wanted];
  return fits ? wanted : 'text';
}

/** The types of the columns that a scan reads anyway, and of those that are kept from an earlier run. */
export class ColumnTypes {
  /** What the scan must read: the layout's columns, and behind them the kept ones. */
  readonly columns: readonly number[];
  readonly #layout: Layout;
  readonly #types: readonly ColumnType[];

  constructor(layout: Layout) {
    this.#layout = layout;
    this.columns = [...layout.columns, ...layout.kept.map(({ keeps }) => keeps)];
    this.#types = this.columns.map(newColumnType);
  }

  note(fields: readonly string[]): void {
    for (let at = 0; at < this.#types.length; at++) noteText(this.#types[at]!, fields[at] ?? '');
  }

  /** The columns of location and value that hold a number in every row; area codes are no numbers. */
  numbers(): ReadonlySet<number> {
    const { columns, values } = this.#layout;
    const measured = columns.slice(0, FIRST_VALUE + values);
    return new Set(measured.filter((_, at) => this.#types[at]!.isNumber && this.#types[at]!.hasAny));
  }

  kept(): KeptColumn[] {
    const { columns, kept } = this.#layout;
    return kept.map((column, at) => ({ ...column, type: typeKept(column.type, this.#types[columns.length + at]!) }));
  }
}
