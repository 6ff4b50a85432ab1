import type { Prepared } from '../run/prepare.ts';
import { currencyOf } from '../run/scan/currency.ts';
import { FIRST_VALUE } from '../run/scan/layout.ts';
import type { Scan } from '../run/scan/scan-input.ts';
import { rowValue } from '../run/scan/scanned-rows.ts';
import { wholeUnits } from '../run/scan/value.ts';
import type { CountedSum } from './sums.ts';

/** The currencies of a file's values. Values of different currencies are never added. */
export interface FileCurrencies {
  /** The currency of the values that the report breaks down; null: the file does not say. */
  readonly shown: string | null;
  /** By currency, most rows first; `currency` is null where a row names none. Empty without values. */
  readonly totals: readonly (CountedSum & { readonly currency: string | null })[];
  /** The value of a cell in the shown currency, in units (`CellTable`). */
  readonly valueOfCell: (cell: number) => number;
}

/** A file has a few; more are texts of another kind. */
const MOST_CURRENCIES = 50;

/** The scan says which currencies there are; only where there are several is the input read again, for the value of each cell. */
export async function currenciesOf(prepared: Prepared): Promise<FileCurrencies> {
  const { job, plan } = prepared;
  const { cells, layout, located, currencies } = plan.scan;
  const valueOfCell = (cell: number) => cells.value(cell);
  const [most, ...others] = [...currencies].sort((a, b) => b[1] - a[1]).map(([code]) => code);
  if (layout.values === 0) return { shown: null, totals: [], valueOfCell };
  const shown = job.currency ?? (most || others.find(Boolean)) ?? null;
  if (most === undefined || (others.length === 0 && most === (shown ?? ''))) {
    return { shown, totals: [{ currency: shown, rows: located, value: cells.total() }], valueOfCell };
  }
  const values = new Float64Array(cells.size);
  const sums = new Map<string, { rows: number; value: number }>();
  for await (const { code, value, cell } of rowsWithCurrency(plan.scan)) {
    const key = sums.has(code) || sums.size < MOST_CURRENCIES ? code : 'other';
    const sum = sums.get(key) ?? { rows: 0, value: 0 };
    sum.rows++;
    sum.value += value;
    sums.set(key, sum);
    if (code === shown) values[cell]! += value;
  }
  const totals = [...sums].map(([code, sum]) => ({ currency: code || null, ...sum }));
  return { shown, totals: totals.sort((a, b) => b.rows - a.rows), valueOfCell: (cell) => values[cell]! };
}

/** The rows with a location in the US. */
async function* rowsWithCurrency({ rowFile, layout, cells, places }: Scan) {
  const placesOf = places.placesFrom(cells.size);
  for await (const batch of rowFile.read(layout.columns, FIRST_VALUE)) {
    const numbers = placesOf(batch.length);
    for (const [index, row] of batch.entries()) {
      const cell = numbers[index]!;
      if (cell >= cells.size) continue;
      const code = currencyOf(row.fields[layout.currency!]);
      yield { cell, code, value: wholeUnits(rowValue(row, layout).value, cells.decimals) };
    }
  }
}
