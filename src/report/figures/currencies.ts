import type { Job } from '../../job/settings.ts';
import type { ScannedCurrency } from '../../run/scan/currency.ts';
import type { Scan } from '../../run/scan/scan-input.ts';
import { wholeUnits } from '../../run/scan/value.ts';
import type { CountedSum } from './sums.ts';

/** The currencies of a file's values. Values of different currencies are never added. */
export interface FileCurrencies {
  /** The currency of the values that the report breaks down; null: unknown. */
  readonly shown: string | null;
  /** By currency, most rows first; `currency` is null for rows without one. Empty without values. */
  readonly totals: readonly (CountedSum & { readonly currency: string | null })[];
  /** The value of a cell in the shown currency, in units (`CellTable`). */
  readonly valueOfCell: (cell: number) => number;
}

/** From the scan, which has the values of each currency by cell. */
export function sumCurrencies({ currency }: Pick<Job, 'currency'>, scan: Scan): FileCurrencies {
  const { cells, layout, located, currencies } = scan;
  const whole = { valueOf: (cell: number) => cells.value(cell), total: cells.total() };
  if (layout.values === 0) return { shown: null, totals: [], valueOfCell: whole.valueOf };
  const byRows = [...currencies].sort((a, b) => b.rows - a.rows);
  const [most, ...others] = byRows.map(({ code }) => code);
  const shown = currency ?? (most || others.find(Boolean)) ?? null;
  if (most === undefined) {
    return { shown, totals: [{ currency: shown, rows: located, value: whole.total }], valueOfCell: whole.valueOf };
  }
  const units = (value = 0) => wholeUnits(value, cells.decimals);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const apart = currencies.flatMap(({ values }) => values ?? []);
  const valueAt = ({ values }: ScannedCurrency, cell: number): number =>
    values === null ? cells.value(cell) - sum(apart.map((of) => units(of.get(cell)))) : units(values.get(cell));
  const totalOf = (values: ReadonlyMap<number, number>) => sum([...values.values()].map(units));
  const totals = byRows.map(({ code, rows, values }) => ({
    currency: code || null,
    rows,
    value: values === null ? whole.total - sum(apart.map(totalOf)) : totalOf(values),
  }));
  const own = currencies.find(({ code }) => code === shown);
  return { shown, totals, valueOfCell: (cell) => (own === undefined ? 0 : valueAt(own, cell)) };
}
