import { type Cell, cellOf, type Location } from '../../geo/coordinates.ts';
import { checkLocation, type ParsedLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import type { NumberBatch, PieceReader, Row, RowPiece } from '../../rows/port.ts';
import { grown } from './cell-table.ts';
import { type ColumnType, ColumnTypes } from './column-types.ts';
import type { Layout } from './layout.ts';
import { type LocateSettings, locate } from './locate.ts';
import type { RowFinding } from './row-places.ts';
import { FIRST_VALUE, parseValue } from './value.ts';

/** The scan's result for one row, which depends on this row alone. */
export interface ScannedRow {
  readonly located:
    | { readonly ok: true; readonly cell: Cell; readonly isLenient: boolean }
    | { readonly ok: false; readonly finding: RowFinding; readonly note: string; readonly elsewhere?: Location };
  readonly value: number;
  /** Why a value counts as 0; null where it counts. */
  readonly valueProblem: ValueProblem | null;
}

/** The first field of a row that counts as 0. A sum insured is not negative; a column that the job names may be. */
export interface ValueProblem {
  readonly finding: 'value_not_a_number' | 'value_negative' | 'value_missing' | 'formula_not_calculated';
  readonly column: string;
  readonly text: string;
}

const NO_VALUE = { value: 0, valueProblem: null };
/** The columns are those of the layout. A column may be mostly blank, so rows share the problem. */
const MISSING: ValueProblem = { finding: 'value_missing', column: '', text: '' };

export function scannedRow(row: Row, settings: LocateSettings, layout: Layout): ScannedRow {
  const located = locate(row, settings, layout);
  // Rows that are not looked up are in no sum of values. Written out: a spread takes half a microsecond a row.
  const { value, valueProblem } = located.ok ? rowValue(row, layout) : NO_VALUE;
  return { located, value, valueProblem };
}

/** The value of a row: the sum of its value columns. A text that is no number, and a negative value, count as 0 and are reported; so is a
 * row whose value columns are all blank. */
export function rowValue(row: Row, layout: Layout): Pick<ScannedRow, 'value' | 'valueProblem'> {
  let value = 0;
  let valueProblem: ValueProblem | null = null;
  let hasValue = layout.values === 0;
  const decimal = decimalOf(row, layout);
  for (let index = FIRST_VALUE; index < FIRST_VALUE + layout.values; index++) {
    const text = row.fields[index] ?? '';
    hasValue ||= text !== '' && text.trim() !== '';
    const part = parseValue(text, decimal);
    const finding =
      part === null
        ? 'value_not_a_number'
        : part < 0 && !layout.mayBeNegative
          ? 'value_negative'
          : row.formulas?.includes(layout.columns[index]!)
            ? 'formula_not_calculated'
            : null;
    if (finding === null) value += part!;
    else valueProblem ??= { finding, column: layout.used.value[index - FIRST_VALUE]!, text };
  }
  return { value, valueProblem: hasValue ? valueProblem : (valueProblem ?? MISSING) };
}

/** The decimal separator of a row's value: that of its coordinates, because the whole file is not known yet. */
function decimalOf({ fields }: Row, { pair }: Layout): 'point' | 'comma' {
  const lat = fields[0] ?? '';
  const lng = fields[1] ?? '';
  if (pair || !(lat.includes(',') || lng.includes(','))) return 'point';
  const both = `${lat} ${lng}`;
  return /\d,\d/.test(both) && !/\d\.\d/.test(both) ? 'comma' : 'point';
}

/** The value of a row; null if no value column has a number, because unknown is not zero. */
export function valueIfAny(row: Row, layout: Layout): number | null {
  const texts = row.fields.slice(FIRST_VALUE, FIRST_VALUE + layout.values);
  const decimal = decimalOf(row, layout);
  const hasNumber = texts.some((text) => text.trim() !== '' && parseValue(text, decimal) !== null);
  return hasNumber ? rowValue(row, layout).value : null;
}

/** The rows of a piece in a message between threads. Most rows have only a cell, which is in `cells`. */
export interface ScannedPiece {
  readonly piece: RowPiece;
  /** Latitude and longitude of each row's cell; 0 for a row without one, `OUTSIDE_US` for one outside the US after the first in `others`. */
  readonly cells: Int32Array<ArrayBuffer>;
  /** The value of each row; null where the job has no value columns. */
  readonly values: Float64Array<ArrayBuffer> | null;
  /** The rows with a finding, in their order. */
  readonly others: readonly (ScannedRow & { readonly index: number; readonly line: number })[];
  /** The number of further rows without a value, after the first in `others`: a column may be mostly blank. */
  readonly moreMissing: number;
  /** The box of the rows outside the US; null where there are none. */
  readonly elsewhere: DegreeBox | null;
  readonly types: readonly ColumnType[];
}

/** No latitude. */
export const OUTSIDE_US = 2 ** 31 - 1;
const ELSEWHERE: Cell = { lat7: OUTSIDE_US, lng7: 0 };

/** In degrees. */
export interface DegreeBox {
  readonly north: number;
  readonly south: number;
  readonly east: number;
  readonly west: number;
}

/** The smallest box around another and a location. */
export function boxWith(box: DegreeBox | null, { lat, lng }: Location): DegreeBox {
  const { north, south, east, west } = box ?? { north: lat, south: lat, east: lng, west: lng };
  return {
    north: Math.max(north, lat),
    south: Math.min(south, lat),
    east: Math.max(east, lng),
    west: Math.min(west, lng),
  };
}

export interface PieceScan {
  readonly settings: LocateSettings;
  readonly layout: Layout;
}

export async function scanPiece(
  file: PieceReader,
  piece: RowPiece,
  { settings, layout }: PieceScan,
): Promise<ScannedPiece> {
  const pieceRows = new PieceRows(settings, layout);
  const { columns } = pieceRows.types;
  const hasNumbersOnly = columns.length === FIRST_VALUE + layout.values && layout.pair === null;
  const numbers = hasNumbersOnly ? (file.readNumbers?.(piece, columns, FIRST_VALUE) ?? null) : null;
  if (numbers !== null) return pieceRows.ended(await takeAll(numbers, (batch) => pieceRows.addNumbers(batch)));
  return pieceRows.ended(await takeAll(file.read(piece, columns, FIRST_VALUE), (batch) => pieceRows.addRows(batch)));
}

async function takeAll<Batch, End>(batches: AsyncGenerator<Batch, End>, take: (batch: Batch) => void): Promise<End> {
  for (;;) {
    const { done, value } = await batches.next();
    if (done) return value;
    take(value);
  }
}

/** Whether the text of a number is a plain decimal of which a double keeps all digits, so that the text is not needed: degrees, whole numbers,
 * and amounts with cents. */
const isPlain = (number: number): boolean =>
  (Math.abs(number) < 1_000 && Math.abs(number) >= 1e-6) ||
  (Math.abs(number) < 1e9 && Math.round(number * 100) / 100 === number);

function plainOrNaN(number: number | null | undefined): number {
  return number != null && isPlain(number) ? number : Number.NaN;
}

class PieceRows {
  readonly types: ColumnTypes;
  readonly #settings: LocateSettings;
  readonly #layout: Layout;
  readonly #others: ScannedPiece['others'][number][] = [];
  #cells = new Int32Array(16_384);
  #values: Float64Array<ArrayBuffer>;
  #rows = 0;
  #hasMissing = false;
  #moreMissing = 0;
  #elsewhere: DegreeBox | null = null;

  constructor(settings: LocateSettings, layout: Layout) {
    this.types = new ColumnTypes(layout);
    this.#settings = settings;
    this.#layout = layout;
    this.#values = new Float64Array(layout.values > 0 ? this.#cells.length / 2 : 0);
  }

  addRows(batch: readonly Row[]): void {
    this.#makeRoom(batch.length);
    for (const row of batch) this.#addRow(row);
  }

  addNumbers({ count, numbers, rowAt }: NumberBatch): void {
    this.#makeRoom(count);
    const [lats, lngs] = [numbers[0]!, numbers[1]!];
    for (let index = 0; index < count; index++) {
      const location = { lat: lats[index] ?? Number.NaN, lng: lngs[index] ?? Number.NaN };
      let value = 0;
      for (let at = FIRST_VALUE; at < numbers.length; at++) {
        const part = plainOrNaN(numbers[at]![index]);
        value += part < 0 && !this.#layout.mayBeNegative ? Number.NaN : part;
      }
      const isWhole = !Number.isNaN(value + plainOrNaN(location.lat) + plainOrNaN(location.lng));
      // A place at 0, 0 is a missing one. Other rows are checked by their texts.
      const isPlace = isWhole && location.lat !== 0 && isCovered(location);
      if (
        !(isPlace || (isWhole && this.#elsewhere !== null && this.#isMoreElsewhere(checkLocation(location, isCovered))))
      ) {
        this.#addRow(rowAt(index));
        continue;
      }
      for (let at = 0; at < numbers.length; at++) this.types.noteDecimal(at, numbers[at]![index]!);
      this.#addCell(isPlace ? cellOf(location, this.#settings.precision) : ELSEWHERE);
      if (isPlace && this.#layout.values > 0) this.#values[this.#rows] = value;
      this.#rows++;
    }
  }

  ended(piece: RowPiece): ScannedPiece {
    const values = this.#layout.values > 0 ? this.#values.slice(0, this.#rows) : null;
    const cells = this.#cells.slice(0, 2 * this.#rows);
    return {
      piece,
      cells,
      values,
      others: this.#others,
      moreMissing: this.#moreMissing,
      elsewhere: this.#elsewhere,
      types: this.types.types,
    };
  }

  #addRow(row: Row): void {
    this.types.note(row.fields);
    const scanned = scannedRow(row, this.#settings, this.#layout);
    const { located, value, valueProblem } = scanned;
    if (located.ok) this.#addCell(located.cell);
    if (this.#layout.values > 0) this.#values[this.#rows] = value;
    const isMissing = valueProblem?.finding === 'value_missing';
    const isPlain = located.ok && !located.isLenient;
    if (isPlain && isMissing && this.#hasMissing) this.#moreMissing++;
    else if (this.#isMoreElsewhere(located)) this.#addCell(ELSEWHERE);
    else if (!isPlain || valueProblem !== null) this.#others.push({ ...scanned, index: this.#rows, line: row.line });
    this.#hasMissing ||= isMissing;
    this.#rows++;
  }

  /** Whether a row is outside the US, and not the first. Many rows may be, and sending them one by one took as long as reading them. */
  #isMoreElsewhere(located: ScannedRow['located'] | ParsedLocation): boolean {
    if (located.ok || located.finding !== 'outside_us' || !('elsewhere' in located)) return false;
    const isFirst = this.#elsewhere === null;
    this.#elsewhere = boxWith(this.#elsewhere, located.elsewhere!);
    return !isFirst;
  }

  #addCell({ lat7, lng7 }: Cell): void {
    this.#cells[2 * this.#rows] = lat7;
    this.#cells[2 * this.#rows + 1] = lng7;
  }

  #makeRoom(more: number): void {
    const needed = 2 * (this.#rows + more);
    if (needed <= this.#cells.length) return;
    const room = Math.max(2 * this.#cells.length, needed);
    this.#cells = grown(this.#cells, new Int32Array(room));
    if (this.#layout.values > 0) this.#values = grown(this.#values, new Float64Array(room / 2));
  }
}
