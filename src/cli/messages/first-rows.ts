import { firstRows } from '../../rows/first-rows.ts';
import type { Prepared } from '../../run/prepare.ts';
import { table } from './format.ts';

const ROWS_SHOWN = 3;
/** The location columns, and some that tell which rows these are. */
const COLUMNS_SHOWN = 5;
const LONGEST_FIELD = 24;

/** The first rows of an input of which no row can be looked up, so that its user sees what Perilbook reads; else none. */
export async function firstRowMessages({ plan: { scan }, summary }: Prepared, width: number): Promise<string[]> {
  if (summary.cells > 0 || summary.rows === 0) return [];
  const { rowFile, layout } = scan;
  const used = new Set([layout.used.lat, layout.used.lng].map((name) => rowFile.columns.indexOf(name)));
  const others = rowFile.columns.map((_, index) => index).filter((index) => !used.has(index));
  const shown = [...used, ...others].filter((index) => index >= 0).slice(0, COLUMNS_SHOWN);
  const rows = (await firstRows(rowFile, shown, ROWS_SHOWN)).map(({ line, fields }) => [
    String(line),
    ...fields.map((text) => text.slice(0, LONGEST_FIELD) || '(empty)'),
  ]);
  const head = [rowFile.unit ?? 'line', ...shown.map((index) => rowFile.columns[index]!.slice(0, LONGEST_FIELD))];
  return ['', 'The first rows:', ...table(head, rows, '  ', width)];
}
