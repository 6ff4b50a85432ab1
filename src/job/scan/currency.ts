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
}

export function valueCurrency(): ValueCurrency {
  let first = '';
  let seen: string | undefined = '';
  let differs = false;
  return {
    isOther(field) {
      // Neighbours mostly have the same text.
      if (field === seen) return differs;
      seen = field;
      const code = currencyOf(field);
      first ||= code;
      differs = code !== '' && code !== first;
      return differs;
    },
    get code() {
      return first || null;
    },
  };
}
