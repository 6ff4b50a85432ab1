/** OED's name first. */
const COLUMN_NAMES = ['loccurrency', 'currency', 'currencycode', 'valuecurrency'];

/** The column with a currency code in each row; null for none. */
export function currencyColumn(columns: readonly string[]): number | null {
  const names = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  return COLUMN_NAMES.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? null;
}

export function parseCurrency(field: string | undefined): string {
  return (field ?? '').trim().toUpperCase();
}

/** The located rows of a currency. */
export interface ScannedCurrency {
  /** '' for rows without a currency. */
  readonly code: string;
  readonly rows: number;
  /** The values by cell, in the file's unit. Null for the currency of the first row, which has the rest of each cell's value. */
  readonly values: ReadonlyMap<number, number> | null;
}

/** Whether values may be added: amounts in two currencies have no sum, and so no share. */
export function hasOneCurrency(findings: readonly { readonly finding: string }[]): boolean {
  return findings.every(({ finding }) => finding !== 'currency_differs');
}

/** A file has few currencies. If there are more, the column holds other texts, and they count as one. */
const MOST_CODES = 50;

interface RowsOfCurrency {
  readonly code: string;
  rows: number;
  values: Map<number, number> | null;
}

/** Counts the currencies of a file's values, of its located rows. */
export function valueCurrencies() {
  let first = '';
  let seen: string | undefined = '';
  let differs = false;
  const byCode = new Map<string, RowsOfCurrency>();
  let current: RowsOfCurrency | undefined;
  return {
    /** Counts a row. @returns whether its currency differs from the first one */
    add(field: string | undefined, cell: number, value: number): boolean {
      // Neighbouring rows mostly have the same text.
      if (field !== seen || current === undefined) {
        seen = field;
        const named = parseCurrency(field);
        first ||= named;
        differs = named !== '' && named !== first;
        const code = byCode.has(named) || byCode.size < MOST_CODES ? named : 'other';
        current = byCode.get(code) ?? {
          code,
          rows: 0,
          values: byCode.size === 0 ? null : new Map(),
        };
        byCode.set(code, current);
      }
      current.rows++;
      current.values?.set(cell, (current.values.get(cell) ?? 0) + value);
      return differs;
    },
    get all(): readonly ScannedCurrency[] {
      return [...byCode.values()];
    },
    /** The currency of the first row with one; null so far. */
    get code(): string | null {
      return first || null;
    },
  };
}
