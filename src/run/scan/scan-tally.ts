import { isCurrencyCode } from '../../base/currencies.ts';
import { counted } from '../../base/format-numbers.ts';
import type { CellAreaFinder } from '../../data/tables/cell-area-finder.ts';
import { LOCATION_NOTES, noteOfMissing } from '../../geo/parse-location.ts';
import type { Job } from '../../job/settings.ts';
import { DELIMITED_FORMATS } from '../../rows/csv/dialect.ts';
import type { LineReference, Row, RowSource } from '../../rows/port.ts';
import { type AreaCounts, AreaTable, findAreas } from '../areas/area-table.ts';
import { CellTable } from './cell-table.ts';
import { ColumnTypes } from './column-types.ts';
import {
  hasOneCurrency,
  parseCurrency,
  type ScannedCurrency,
  SignCounts,
  type ValueCurrencies,
  valueCurrencies,
} from './currency.ts';
import type { KeptColumn, Layout } from './layout.ts';
import { NumbersOfRows } from './numbers-of-rows.ts';
import { codesWidth, type ScannedRow, scannedRow, type ValueProblem } from './read-row.ts';
import { CodedGroups, groupsOfCells, NO_CODES, type RowGroups } from './row-groups.ts';
import { type RowFinding, RowPlaces } from './row-places.ts';
import { boxWith, type DegreeBox, type ScannedPiece } from './scan-pieces.ts';

/** Findings of rows that are looked up anyway. */
export const LOOKED_UP_FINDINGS = [
  'read_leniently',
  'value_not_a_number',
  'value_negative',
  'value_missing',
  'formula_not_calculated',
  'value_too_large',
  'value_in_other_currency',
  'currency_differs',
  'currency_unknown',
] as const;

/** A problem of some rows: with their location (these rows are not looked up) or with another field. */
export interface Finding {
  /** The kind of what is wrong. */
  readonly finding: RowFinding | (typeof LOOKED_UP_FINDINGS)[number];
  /** The same in words. */
  readonly note: string;
  /** How many rows. */
  readonly rows: number;
  /** The line of the first such row. */
  readonly firstLine: number;
  /** The part file that it is in, where the input is several. */
  readonly part?: string;
}

/** The rows of an input, counted. Memory grows with the cells, not the rows: after the first millions, the rows' cells go into a file. */
/** What a scan counts of the rows. */
export interface RowTally {
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outsideUs: number;
  /** The box of the rows whose numbers are a location outside the US; null without such a row. */
  readonly elsewhere: DegreeBox | null;
  /** In the order of their first rows. */
  readonly findings: readonly Finding[];
  /** The currency of the values: the first code in its column, else what the names and signs of the amounts say; null if there is none. */
  readonly currency: string | null;
  /** The currency of most rows with a sign at their amounts, of those where nothing else says it; null without such a row. */
  readonly signed: string | null;
  /** Empty without a currency column. */
  readonly currencies: readonly ScannedCurrency[];
  /** The same with the values of groups of rows. */
  readonly currenciesOfGroups: readonly ScannedCurrency[];
  readonly cells: CellTable;
  readonly areas: AreaTable;
  /** How many cells the boundaries put in an area; null if the job does not use areas. */
  readonly areaCounts: AreaCounts | null;
  readonly places: RowPlaces;
  readonly groups: RowGroups;
  readonly coded: CodedGroups | null;
  readonly lossValues: NumbersOfRows<Float64Array<ArrayBuffer>> | null;
  /** How many rows each part file has, by its name; a part without rows is not among them. */
  readonly partRows: ReadonlyMap<string, number>;
  /** The columns that the job uses with a number in every row. */
  readonly numbers: ReadonlySet<number>;
  readonly decimal: 'comma' | 'point';
  readonly kept: readonly KeptColumn[];
}

/** The value of all cells, in units (`CellTable`); 0 in the order of the file, and where amounts in two currencies have no sum. */
export function totalValue({ findings, cells }: Pick<RowTally, 'findings' | 'cells'>): number {
  return hasOneCurrency(findings) ? cells.total() : 0;
}

export const VALUE_NOTES: Readonly<
  Record<ValueProblem['finding'], (problem: ValueProblem) => string>
> = {
  value_not_a_number: ({ column, text }) =>
    `The value is not a number and counts as 0, for example ${shortenNote(text)} in column ${column}. Correct it, or name another column: --order-by COLUMN.`,
  value_negative: ({ column, text }) =>
    `The value is negative and counts as 0, for example ${shortenNote(text)} in column ${column}.`,
  value_too_large: ({ column, text }) =>
    `The value is larger than any amount of money and counts as 0, for example ${shortenNote(text)} in column ${column}.`,
  value_in_other_currency: ({ column, text }) =>
    `The value is in another currency than its row or file and counts as 0, for example ${shortenNote(text)} in column ${column}. Nothing is converted. To count the values in another currency: --currency CODE.`,
  value_missing: ({ column }) => `No value: ${column} is empty, which counts as 0.`,
  formula_not_calculated: ({ column }) =>
    `A formula without a stored value is read as empty, for example in column ${column}. Open the workbook in Excel or LibreOffice, and save it.`,
};
const LONGEST_EXAMPLE = 24;
const shortenNote = (text: string): string =>
  JSON.stringify(text.length > LONGEST_EXAMPLE ? `${text.slice(0, LONGEST_EXAMPLE)}…` : text);
/** How many texts that are no currency the note names. */
const CODES_NAMED = 5;
const CURRENCY =
  'The value is in another currency than the first. The order of buying compares the numbers without conversion.';
/** The begin of a note that does not fit all rows of a finding. */
export const OF_THE_FIRST = 'The first of them: ';
const LENIENT =
  'Read as degrees, minutes and seconds, with compass letters or with decimal commas (--coordinates lenient).';

/** Counts the rows of an input, by cell and by finding. */
export class ScanTally implements Disposable {
  readonly types: ColumnTypes;
  readonly #job: Job;
  readonly #layout: Layout;
  readonly #source: Pick<RowSource, 'format' | 'unit' | 'columns'>;
  readonly #cells: CellTable;
  readonly #places = new RowPlaces();
  /** The value of each row that loss rates apply to; null for a job without amounts of losses. */
  readonly #lossValues: NumbersOfRows<Float64Array<ArrayBuffer>> | null;
  /** Null for a job that reads no codes of rows. */
  readonly #coded: CodedGroups | null;
  /** By name, or by note for features that cannot be read. */
  readonly #findings = new Map<string, { -readonly [Name in keyof Finding]: Finding[Name] }>();
  readonly #currencies: ValueCurrencies;
  /** The same by groups of rows; null where these are the cells. */
  readonly #ofGroups: ValueCurrencies | null;
  /** The texts of the currency column that are no codes, and their rows. */
  readonly #unknownCodes = new Map<string, number>();
  readonly #signs = new SignCounts();
  readonly #partRows = new Map<string, number>();
  #located = 0;
  #elsewhere: DegreeBox | null = null;

  constructor(job: Job, layout: Layout, source: Pick<RowSource, 'format' | 'unit' | 'columns'>) {
    this.#job = job;
    this.#layout = layout;
    this.#source = source;
    this.types = new ColumnTypes(layout);
    const { values, lossValues } = layout;
    const isOfPart = lossValues.length > 0 && lossValues.length < values;
    this.#cells = new CellTable(isOfPart);
    this.#currencies = valueCurrencies(isOfPart);
    this.#lossValues =
      lossValues.length === 0 ? null : new NumbersOfRows((length) => new Float64Array(length));
    this.#coded = codesWidth(layout) === 0 ? null : new CodedGroups();
    this.#ofGroups = codesWidth(layout) === 0 ? null : valueCurrencies(false);
  }

  get rows(): number {
    return this.#places.rows;
  }

  /** Adds rows with their texts. All rows of a batch are of one part. */
  addRows(batch: readonly Row[]): void {
    this.#countPart(batch[0]?.part, batch.length);
    const { currency, isConverted } = this.#layout;
    for (const row of batch) {
      this.types.note(row.fields);
      const scanned = scannedRow(row, this.#job, this.#layout);
      const group = this.#add(scanned, row);
      this.#signs.add(scanned.signed);
      // In its own format the formula stays.
      if (
        isConverted &&
        row.formulas !== undefined &&
        scanned.valueProblem?.finding !== 'formula_not_calculated'
      ) {
        const column = this.#source.columns[row.formulas[0]!]!;
        this.#findInValue({ finding: 'formula_not_calculated', column, text: '' }, row);
      }
      // Rows that are not looked up are in no sum of values.
      if (group === null || currency === null) continue;
      const { value, lossValue } = scanned;
      const cell = this.#coded?.cellOf(group) ?? group;
      this.#ofGroups?.add(row.fields[currency], group, value);
      if (this.#currencies.add(row.fields[currency], cell, value, lossValue))
        this.#find('currency_differs', CURRENCY, row);
      const code = parseCurrency(row.fields[currency]);
      if (code === '' || isCurrencyCode(code)) continue;
      this.#unknownCodes.set(code, (this.#unknownCodes.get(code) ?? 0) + 1);
      this.#find('currency_unknown', '', row);
    }
  }

  /** Adds rows that a thread has scanned. @param linesBefore the number of lines to add to theirs */
  addPiece(scanned: ScannedPiece, linesBefore: number, part: string | undefined): void {
    const { piece, types, signs, others, moreMissing, elsewhere } = scanned;
    const { values, lossValues, codes } = scanned;
    const width = codesWidth(this.#layout);
    this.types.add(types);
    this.#signs.addAll(signs);
    this.#countPart(part, piece.rows);
    const numbers = new Int32Array(piece.rows);
    this.#cells.addAll(scanned, numbers);
    let [next, outside] = [0, 0];
    for (let row = 0; row < piece.rows; row++) {
      const number = numbers[row]!;
      const other = others[next];
      if (other?.index === row) {
        this.#findIn(other, {
          line: other.line + linesBefore,
          ...(part !== undefined && { part }),
        });
        next++;
      } else if (number < 0) {
        this.#addUnlocated('outside_us', LOCATION_NOTES.outside_us);
        outside++;
      }
      if (number < 0) continue;
      const own = codes === null ? NO_CODES : codes.subarray(row * width, (row + 1) * width);
      this.#addLocated(number, values === null ? 0 : values[row]!, lossValues?.[row], own);
    }
    if (moreMissing > 0) this.#findings.get('value_missing')!.rows += moreMissing;
    if (outside > 0) this.#findings.get('outside_us')!.rows += outside;
    if (elsewhere === null) return;
    const { north, south, east, west } = elsewhere;
    this.#elsewhere = boxWith(boxWith(this.#elsewhere, { lat: north, lng: east }), {
      lat: south,
      lng: west,
    });
  }

  /** The result, after the last row. @param find finds the areas of the cells */
  result(find?: CellAreaFinder): RowTally {
    const cells = this.#cells;
    cells.roundValues();
    this.#refuseLostSigns();
    this.#nameUnknownCodes();
    const outsideUs = this.#findings.get('outside_us')?.rows ?? 0;
    const areas = new AreaTable();
    const { given, assumed } = this.#layout.amountCurrency;
    const signed = this.#signs.most();
    const decimal = this.types.decimal();
    const isDelimited = this.#source.format in DELIMITED_FORMATS;
    return {
      rows: this.rows,
      located: this.#located,
      invalid: this.rows - this.#located - outsideUs,
      outsideUs,
      elsewhere: this.#elsewhere,
      findings: [...this.#findings.values()],
      currency: this.#currencies.code ?? given ?? signed ?? assumed,
      signed,
      currencies: this.#currencies.all,
      currenciesOfGroups: (this.#ofGroups ?? this.#currencies).all,
      cells,
      areas,
      areaCounts: find === undefined ? null : findAreas(cells, areas, find),
      places: this.#places,
      groups: this.#coded?.groups(this.#places, cells) ?? groupsOfCells(cells, this.#places),
      coded: this.#coded,
      lossValues: this.#lossValues,
      partRows: this.#partRows,
      numbers: this.types.numbers(),
      decimal,
      kept: this.types.kept(isDelimited ? decimal : 'point'),
    };
  }

  [Symbol.dispose](): void {
    this.#places[Symbol.dispose]();
    this.#lossValues?.[Symbol.dispose]();
    this.#coded?.[Symbol.dispose]();
  }

  /** Returns the number of the row's group; null for none. */
  #add(scanned: ScannedRow, at: LineReference): number | null {
    this.#findIn(scanned, at);
    const { located, value, lossValue, codes } = scanned;
    if (!located.ok) return null;
    const { lat7, lng7 } = located.cell;
    const number = this.#cells.addAt(lat7, lng7, value, lossValue);
    return this.#addLocated(number, value, lossValue, codes);
  }

  /** Adds what is to be said of a row, and its place if it has none. */
  #findIn({ located, valueProblem }: ScannedRow, at: LineReference): void {
    if (valueProblem !== null) this.#findInValue(valueProblem, at);
    if (located.ok) {
      if (located.isLenient) this.#find('read_leniently', LENIENT, at);
      return;
    }
    this.#addUnlocated(located.finding, located.note);
    if (located.elsewhere !== undefined)
      this.#elsewhere = boxWith(this.#elsewhere, located.elsewhere);
    // How far each row is off the coast its own note says.
    const isElsewhere = located.finding === 'outside_us';
    this.#find(located.finding, isElsewhere ? LOCATION_NOTES.outside_us : located.note, at);
  }

  /** Adds a row whose cell is counted. Returns the number of its group. */
  #addLocated(number: number, value: number, lossValue = Number.NaN, codes = NO_CODES): number {
    this.#located++;
    this.#places.addCell(number);
    this.#lossValues?.add(lossValue);
    return this.#coded?.add(number, codes, value) ?? number;
  }

  #addUnlocated(finding: RowFinding, note: string): void {
    this.#places.addUnlocated(finding, note);
    this.#lossValues?.add(Number.NaN);
    this.#coded?.addUnlocated();
  }

  #findInValue(problem: ValueProblem, at: LineReference): void {
    const earlier = this.#findings.get(problem.finding);
    if (earlier) {
      earlier.rows++;
      return;
    }
    const column = problem.column || this.#layout.used.value.join(' + ');
    this.#find(problem.finding, VALUE_NOTES[problem.finding]({ ...problem, column }), at);
  }

  #nameUnknownCodes(): void {
    const found = this.#findings.get('currency_unknown');
    if (found === undefined) return;
    const named = [...this.#unknownCodes].sort(([, a], [, b]) => b - a);
    const shown = named
      .slice(0, CODES_NAMED)
      .map(([code, rows]) => `${shortenNote(code)} (${counted(rows, 'row')})`);
    const more = named.length > CODES_NAMED ? ` and ${named.length - CODES_NAMED} others` : '';
    found.note = `The currency is no code of ISO 4217 such as USD: ${shown.join(', ')}${more}. Values with different texts are not added. Correct the column.`;
  }

  #find(finding: Finding['finding'], note: string, { line, part }: LineReference): void {
    // A collection may hold several kinds of geometries; why lines cannot be read varies without end.
    const key = finding === 'unreadable' && this.#source.unit === 'feature' ? note : finding;
    const earlier = this.#findings.get(key);
    if (earlier) {
      earlier.rows++;
      // Rows may have too many fields in many ways.
      if (finding === 'too_many_fields' || finding === 'unreadable') this.#noteFirst(earlier, note);
      if (finding === 'empty' && note !== earlier.note)
        earlier.note = noteOfMissing(earlier.note, note);
    } else
      this.#findings.set(key, {
        finding,
        note,
        rows: 1,
        firstLine: line,
        ...(part !== undefined && { part }),
      });
  }

  /** Says of a note that does not fit all rows that it is the first row's. */
  #noteFirst(finding: { note: string }, note: string): void {
    if (finding.note !== note && !finding.note.startsWith(OF_THE_FIRST))
      finding.note = OF_THE_FIRST + finding.note;
  }

  #countPart(part: string | undefined, rows: number): void {
    if (part !== undefined) this.#partRows.set(part, (this.#partRows.get(part) ?? 0) + rows);
  }

  /** A longitude without its sign is a guess that holds only in a file most of whose rows are in the US: with the other sign, most of China
   * lies there, too. Elsewhere such rows are what they say, outside the US. */
  #refuseLostSigns(): void {
    const [lost, outside] = [this.#findings.get('sign_lost'), this.#findings.get('outside_us')];
    if (lost === undefined || this.#located > lost.rows + (outside?.rows ?? 0)) return;
    this.#places.replaceFinding('sign_lost', 'outside_us');
    this.#findings.delete('sign_lost');
    if (outside === undefined) {
      this.#findings.set('outside_us', {
        ...lost,
        finding: 'outside_us',
        note: LOCATION_NOTES.outside_us,
      });
    } else {
      if (lost.firstLine < outside.firstLine) outside.firstLine = lost.firstLine;
      outside.rows += lost.rows;
    }
  }
}
