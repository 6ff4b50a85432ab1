import type { Prepared } from '../job/prepare.ts';
import { currencyColumn, currencyOf } from '../job/scan/currency.ts';
import { FIRST_VALUE } from '../job/scan/layout.ts';
import { rowValue } from '../job/scan/scanned-rows.ts';
import { wholeUnits } from '../job/scan/value.ts';
import type { RowsAndValue } from './figures.ts';

/** The currencies of a file's values. Values of different currencies are never added. */
export interface BookCurrencies {
  /** The currency of the values that the report breaks down; null: the file does not say. */
  readonly shown: string | null;
  /** By currency, most rows first; `code` is null where a row names none. Empty without values. */
  readonly totals: readonly CurrencyTotal[];
  /** The value of a cell in the shown currency, in units (`CellTable`). */
  readonly valueOfCell: (cell: number) => number;
}

export interface CurrencyTotal extends RowsAndValue {
  readonly code: string | null;
}

/** A file has a few; more are texts of another kind. */
const MOST_CURRENCIES = 50;

/** Reads the input for its currencies, if it has a column for them, and once more if there are several. */
export async function currenciesOf(prepared: Prepared): Promise<BookCurrencies> {
  const { job, plan, rowFile } = prepared;
  const { cells, layout } = plan.scan;
  const valueOfCell = (cell: number) => cells.value(cell);
  const column = currencyColumn(rowFile.columns);
  if (layout.values === 0) return { shown: null, totals: [], valueOfCell };
  if (column === null) {
    let [rows, value] = [0, 0];
    for (let cell = 0; cell < cells.size; cell++) {
      rows += cells.rows(cell);
      value += cells.value(cell);
    }
    return { shown: job.currency, totals: [{ code: job.currency, rows, value }], valueOfCell };
  }
  const sums = new Map<string, { rows: number; value: number }>();
  for await (const { code, value } of rowsWithCurrency(prepared, column)) {
    const key = sums.has(code) || sums.size < MOST_CURRENCIES ? code : 'other';
    const sum = sums.get(key) ?? { rows: 0, value: 0 };
    sum.rows++;
    sum.value += value;
    sums.set(key, sum);
  }
  const totals = [...sums].map(([code, sum]) => ({ code: code || null, ...sum })).sort((a, b) => b.rows - a.rows);
  const named = totals.find(({ code }) => code !== null)?.code ?? null;
  const shown = job.currency ?? named;
  if (totals.length <= 1 && (totals[0]?.code ?? null) === shown) return { shown, totals, valueOfCell };
  const values = new Float64Array(cells.size);
  for await (const { code, value, cell } of rowsWithCurrency(prepared, column)) {
    if (code === shown) values[cell]! += value;
  }
  return { shown, totals, valueOfCell: (cell) => values[cell]! };
}

/** The rows with a location in the US. */
async function* rowsWithCurrency({ rowFile, plan }: Prepared, column: number) {
  const { layout, cells, places } = plan.scan;
  const placesOf = places.placesFrom(cells.size);
  for await (const batch of rowFile.read([...layout.columns, column], FIRST_VALUE)) {
    const numbers = placesOf(batch.length);
    for (const [index, row] of batch.entries()) {
      const cell = numbers[index]!;
      if (cell >= cells.size) continue;
      const code = currencyOf(row.fields[layout.columns.length]);
      yield { cell, code, value: wholeUnits(rowValue(row, layout).value, cells.decimals) };
    }
  }
}
