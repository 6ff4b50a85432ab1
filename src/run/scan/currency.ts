import { currencyOfMark } from '../../base/currencies.ts';
import type { Job } from '../../job/settings.ts';
import { currencyMark, parseValue, wholeUnits } from './value.ts';

/** OED's name first. */
const COLUMN_NAMES = ['loccurrency', 'currency', 'currencycode', 'valuecurrency'];

/** The column with a currency code in each row; null for none. */
export function currencyColumn(columns: readonly string[]): number | null {
  const names = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  return COLUMN_NAMES.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? null;
}

/** The code in a field, also of a sign; empty for none. Case and blanks around it do not count. */
export function parseCurrency(field: string | undefined): string {
  const text = (field ?? '').trim().toUpperCase();
  return text === '' ? '' : (currencyOfMark(text) ?? text);
}

/** `Price (EUR)`, `TIV [$]`. */
const UNIT = /[([]\s*([A-Z]{3}|\p{Sc})\s*[)\]]/u;

/** The currency of amounts in rows that name none. */
export interface AmountCurrency {
  /** That of the job, or in the names of the value columns; null where neither says it. */
  readonly given: string | null;
  /** Where none is given: that of most amounts with a sign; null where none has one. */
  readonly assumed: string | null;
}

/** Decides the currency of a file's amounts before they are read. An amount with the sign of another one is not added to these.
 * @param texts those of the value columns in the first rows: all rows may say otherwise */
export function amountCurrency(
  { currency }: Pick<Job, 'currency'>,
  names: readonly string[],
  texts: Iterable<string>,
): AmountCurrency {
  const named = names.map((name) => currencyOfMark(UNIT.exec(name)?.[1] ?? ''));
  const given = currency ?? named.find((code) => code !== null) ?? null;
  if (given !== null) return { given, assumed: null };
  const signs = new SignCounts();
  for (const text of texts) signs.add(signedCurrency(text));
  return { given, assumed: signs.most() };
}

/** The currency of the sign or code at an amount; null where there is none.
 * @param mark what `currencyMark` finds in the text
 * @param number what the text is as a number, null for none */
export function signedCurrency(
  text: string,
  mark: string = currencyMark(text),
  number: number | null = null,
): string | null {
  if (mark === '') return null;
  const isAmount = (number ?? parseValue(text) ?? parseValue(text, 'comma')) !== null;
  return isAmount ? currencyOfMark(mark) : null;
}

/** How many amounts, or rows with amounts, have the sign of each currency. */
export class SignCounts {
  readonly #counts = new Map<string, number>();

  add(code: string | null, count = 1): void {
    if (code !== null) this.#counts.set(code, (this.#counts.get(code) ?? 0) + count);
  }

  addAll(others: Iterable<readonly [code: string, count: number]>): void {
    for (const [code, count] of others) this.add(code, count);
  }

  get all(): readonly (readonly [code: string, count: number])[] {
    return [...this.#counts];
  }

  /** The most frequent one, of several the first; null where there is none. */
  most(): string | null {
    return this.all.reduce<readonly [string | null, number]>(
      (most, next) => (next[1] > most[1] ? next : most),
      [null, 0],
    )[0];
  }
}

/** The located rows of a currency. */
export interface ScannedCurrency {
  /** '' for rows without a currency. */
  readonly code: string;
  readonly rows: number;
  /** The values by cell, in the file's unit. Null for the currency of the first row, which has the rest of each cell's value. */
  readonly values: ReadonlyMap<number, number> | null;
  /** The same of the values that loss rates apply to: one map where these are the values. */
  readonly lossValues: ReadonlyMap<number, number> | null;
}

/** Makes the function that gives the value of a cell in one of a file's currencies, in units (`CellTable`).
 * @param whole that of a cell in all of them together */
export function valueInCurrency(
  own: ScannedCurrency,
  all: readonly ScannedCurrency[],
  kind: 'values' | 'lossValues',
  { whole, decimals }: { readonly whole: (cell: number) => number; readonly decimals: number },
): (cell: number) => number {
  const units = (value = 0) => wholeUnits(value, decimals);
  const values = own[kind];
  if (values !== null) return (cell) => units(values.get(cell));
  const apart = all.flatMap((of) => of[kind] ?? []);
  return (cell) => apart.reduce((rest, of) => rest - units(of.get(cell)), whole(cell));
}

/** Whether values may be added: amounts in two currencies have no sum, and so no share. */
export function hasOneCurrency(findings: readonly { readonly finding: string }[]): boolean {
  return findings.every(({ finding }) => finding !== 'currency_differs');
}

/** A file has few currencies. If there are more, the column holds other texts, and they count as one: codes are in capitals. */
const MOST_CODES = 50;
export const OTHER_CODES = 'other';

interface RowsOfCurrency {
  readonly code: string;
  rows: number;
  values: Map<number, number> | null;
  lossValues: Map<number, number> | null;
}

/** Counts the currencies of values. */
export interface ValueCurrencies {
  /** Counts a row. @returns whether its currency differs from the first one */
  add(field: string | undefined, cell: number, value: number, lossValue?: number): boolean;
  readonly all: readonly ScannedCurrency[];
  /** The currency of the first row with one; null so far. */
  readonly code: string | null;
}

/** Counts the currencies of a file's values, of its located rows.
 * @param hasLosses whether loss rates apply to another value than the value */
export function valueCurrencies(hasLosses = false): ValueCurrencies {
  let first = '';
  let seen: string | undefined = '';
  let differs = false;
  const byCode = new Map<string, RowsOfCurrency>();
  let current: RowsOfCurrency | undefined;
  return {
    add(field: string | undefined, cell: number, value: number, lossValue = Number.NaN): boolean {
      // Neighbouring rows mostly have the same text.
      if (field !== seen || current === undefined) {
        seen = field;
        const named = parseCurrency(field);
        first ||= named;
        differs = named !== '' && named !== first;
        const code = byCode.has(named) || byCode.size < MOST_CODES ? named : OTHER_CODES;
        const values = byCode.size === 0 ? null : new Map<number, number>();
        const lossValues = hasLosses && values !== null ? new Map<number, number>() : values;
        current = byCode.get(code) ?? { code, rows: 0, values, lossValues };
        byCode.set(code, current);
      }
      current.rows++;
      addTo(current.values, cell, value);
      if (hasLosses && lossValue) addTo(current.lossValues, cell, lossValue);
      return differs;
    },
    get all(): readonly ScannedCurrency[] {
      return [...byCode.values()];
    },
    get code(): string | null {
      return first || null;
    },
  };
}

function addTo(sums: Map<number, number> | null, cell: number, value: number): void {
  sums?.set(cell, (sums.get(cell) ?? 0) + value);
}
