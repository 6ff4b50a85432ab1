/** OED's name first. */
const COLUMN_NAMES = ['loccurrency', 'currency', 'currencycode', 'valuecurrency'];

/** The column with a currency code in each row; null for none. */
export function currencyColumn(columns: readonly string[]): number | null {
  const names = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  return COLUMN_NAMES.map((name) => names.indexOf(name)).find((index) => index >= 0) ?? null;
}

export function currencyOf(field: string | undefined): string {
  return (field ?? '').trim().toUpperCase();
}

/** The currency of a file's values: that of the first row that names one, and which rows have another. */
export interface ValueCurrency {
  isOther(field: string | undefined): boolean;
  /** null while no row has named one. */
  readonly code: string | null;
  /** How many rows have each code; '' for none. */
  readonly rows: ReadonlyMap<string, number>;
}

/** A file has a few; more are texts of another kind, and counted as one. */
const MOST_CODES = 50;

export function valueCurrency(): ValueCurrency {
  let first = '';
  let seen: string | undefined = '';
  let differs = false;
  const rows = new Map<string, { count: number }>();
  let counted: { count: number } | undefined;
  return {
    isOther(field) {
      // Neighbours mostly have the same text.
      if (field === seen && counted !== undefined) {
        counted.count++;
        return differs;
      }
      seen = field;
      const code = currencyOf(field);
      first ||= code;
      differs = code !== '' && code !== first;
      const key = rows.has(code) || rows.size < MOST_CODES ? code : 'other';
      counted = rows.get(key) ?? { count: 0 };
      rows.set(key, counted);
      counted.count++;
      return differs;
    },
    get rows() {
      return new Map([...rows].map(([code, { count }]) => [code, count]));
    },
    get code() {
      return first || null;
    },
  };
}
