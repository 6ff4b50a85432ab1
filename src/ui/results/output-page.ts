import { z } from 'zod';
import { type OpenOptions, openRowFile } from '../../rows/open-row-file.ts';
import { type OutputRow, type OutputTable, worstPeril } from './output-table.ts';

/** Which rows of an output to show. */
export const rowFilterSchema = z.strictObject({
  status: z.string().optional(),
  peril: z.string().optional(),
  /** Of the peril; without one, the highest of all perils. */
  rating: z.string().optional(),
  /** In any of the user's own fields; upper and lower case are the same. */
  text: z.string().trim().max(200).optional(),
  from: z.int().nonnegative(),
});

export type RowFilter = z.infer<typeof rowFilterSchema>;

/** Some rows that pass a filter, and how many pass it in all. */
export interface OutputPage {
  readonly total: number;
  readonly rows: readonly ShownRow[];
}

interface ShownRow extends Pick<OutputRow, 'id' | 'place' | 'value' | 'currency' | 'status' | 'note'> {
  /** The place of the row in the user's file; null where that file has changed since. */
  readonly line: number | null;
  readonly peril: string;
  readonly rating: string;
}

/** A page of the table. */
const ROWS_PER_PAGE = 50;

/** The rows of a page that pass a filter, and how many pass it in all. Only a page is kept: a file of any length can be shown.
 * @param known how many pass it in all, if that is known: then the rest of the file is not read */
export async function filteredRows(
  table: OutputTable,
  filter: RowFilter,
  signal: AbortSignal,
  known: number | null,
): Promise<{ readonly total: number; readonly rows: readonly OutputRow[] }> {
  const peril = table.perils.findIndex(({ slug }) => slug === filter.peril);
  const text = filter.text?.toLowerCase() ?? '';
  const passes = (row: OutputRow): boolean => {
    if (filter.status !== undefined && row.status !== filter.status) return false;
    const rating = row.ratings[filter.peril === undefined ? worstPeril(row.ratings) : peril] ?? '';
    if (filter.peril !== undefined && rating === '') return false;
    if (filter.rating !== undefined && rating !== filter.rating) return false;
    return text === '' || row.original.some((field) => field.toLowerCase().includes(text));
  };
  const rows: OutputRow[] = [];
  let total = 0;
  for await (const batch of table.read(text !== '')) {
    signal.throwIfAborted();
    for (const row of batch) {
      if (!passes(row)) continue;
      if (total >= filter.from && rows.length < ROWS_PER_PAGE) rows.push(row);
      total++;
    }
    if (known !== null && rows.length === ROWS_PER_PAGE) return { total: known, rows };
  }
  return { total, rows };
}

/** A row as the page shows it: with the peril of the filter, else with the worst one. */
export function shownRow(table: OutputTable, row: OutputRow, { peril }: RowFilter, line: number | null): ShownRow {
  const { id, place, value, currency, status, note, ratings } = row;
  const at = peril === undefined ? worstPeril(ratings) : table.perils.findIndex(({ slug }) => slug === peril);
  return {
    ...{ line, id, place, value, currency, status, note },
    peril: table.perils[at]?.title ?? '',
    rating: ratings[at] ?? '',
  };
}

/** The lines of some rows in the input, by their numbers, in that order. Rows are compared by some fields: where these differ, or
 * the file is gone, it has changed since the run and no line is shown. */
export async function linesOf(
  input: string,
  reading: OpenOptions,
  rows: readonly OutputRow[],
  identifying: readonly number[],
): Promise<(number | null)[]> {
  const lines = rows.map((): number | null => null);
  const rowFile = await openRowFile(input, reading).catch(() => null);
  const last = rows.at(-1)?.number ?? 0;
  if (rowFile === null || last === 0) return lines;
  let next = 0;
  for await (const batch of rowFile.read(identifying, 0)) {
    for (const { number, line, fields } of batch) {
      if (number !== rows[next]!.number) continue;
      if (fields.every((field, index) => field === rows[next]!.identifying[index])) lines[next] = line;
      if (++next === rows.length) return lines;
    }
  }
  return lines;
}
