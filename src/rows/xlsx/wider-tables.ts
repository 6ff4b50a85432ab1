import { PerilbookError } from '../../base/errors.ts';
import { type CellRange, parseRange, rangeText } from '../../formats/xlsx/cell-range.ts';
import {
  filterNameXml,
  filterXml,
  type NewColumns,
  type SheetTables,
  tableXml,
} from '../../formats/xlsx/sheet-tables.ts';
import type { Workbook } from '../../formats/xlsx/workbook.ts';
import { ownWidth } from '../kept-columns.ts';

/* A table or a filter of Excel sorts its own columns alone. New columns beside it would stay where they are, and rows would get the answers of
 * others: so it is widened by them, or the user is told. */

/** What tables and filters are compared with. */
export interface SheetColumns {
  /** The number of the header row; null where there is none. */
  readonly headerLine: number | null;
  readonly columns: readonly string[];
}

/** A table, or the filter of the sheet. */
interface Sorted {
  /** As messages name it. */
  readonly name: string;
  readonly range: CellRange;
  /** Why it cannot be widened; null if it can be. */
  readonly problem: string | null;
}

function sortedRanges({ tables, filter }: SheetTables, sheet: SheetColumns): Sorted[] {
  const ofTables = tables.map((table): Sorted => {
    const { range, headerRows, totalsRows, isBound } = table;
    const problem = isBound
      ? 'its columns are bound to a query'
      : totalsRows > 0
        ? 'it ends with a row of totals'
        : headerRows === 0
          ? 'it has no row of column names'
          : rangeProblem(range, sheet);
    return { name: `Table "${table.name}"`, range, problem };
  });
  const ofSheet =
    filter === null
      ? []
      : [{ name: 'The filter', range: filter, problem: rangeProblem(filter, sheet) }];
  // What ends above the rows stays as it is.
  return [...ofTables, ...ofSheet].filter(({ range }) => range.bottom > (sheet.headerLine ?? 0));
}

/** Why a range cannot be widened by new columns; null if it can be. It may have those of an earlier run. */
function rangeProblem(
  { from, to, top }: CellRange,
  { headerLine, columns }: SheetColumns,
): string | null {
  if (top !== headerLine) return 'its column names are not in the row that is read';
  if (from > columns.findIndex((name) => name !== '')) return 'other columns stand left of it';
  if (to > columns.length) return 'it has columns without a name';
  return to < ownWidth(columns) ? 'other columns stand right of it' : null;
}

/** What to say of tables and filters that cannot have the new columns; null for nothing. */
export function tablesNote(tables: SheetTables, sheet: SheetColumns): string | null {
  const notes = sortedRanges(tables, sheet).flatMap(({ name, range, problem }) =>
    problem === null
      ? []
      : [
          `${name} (${rangeText(range)}) cannot take the new columns: ${problem}. Do not sort by it in Excel: its own columns would move, and the new ones would not.`,
        ],
  );
  return notes.length === 0 ? null : notes.join(' ');
}

/** Whether a range gets the new columns. */
function isWidened({ range, problem }: Sorted, { from, before }: NewColumns): boolean {
  return problem === null && range.to >= from && range.to <= Math.max(from, before.length);
}

/** Refuses new columns that stand apart from a table that could have them: cells without a column name are between. @throws INPUT_COLUMNS */
export function checkTables(
  tables: SheetTables,
  sheet: SheetColumns,
  added: NewColumns,
  file: string,
): void {
  const apart = sortedRanges(tables, sheet).find(
    (sorted) => sorted.problem === null && !isWidened(sorted, added),
  );
  if (apart === undefined) return;
  const message = `${apart.name} (${rangeText(apart.range)}) of ${file} cannot take the new columns: cells without a column name stand right of it`;
  const hint = 'Give them a name within the table, or move them. Or name the output .csv.';
  throw new PerilbookError('INPUT_COLUMNS', message, hint, { file });
}

/** The parts of a workbook that change with the new columns beside its sheet, by their names in the zip. */
export async function widerParts(
  workbook: Workbook,
  tables: SheetTables,
  sheet: SheetColumns,
  added: NewColumns,
): Promise<ReadonlyMap<string, string>> {
  const parts = new Map<string, string>();
  const widened = sortedRanges(tables, sheet).filter((sorted) => isWidened(sorted, added));
  for (const table of tables.tables)
    if (widened.some(({ range }) => range === table.range))
      parts.set(table.entry.fileName, await tableXml(workbook, table, added));
  const ofFilter = widened.some(({ range }) => range === tables.filter)
    ? await filterNameXml(workbook, tables.filter!, added)
    : null;
  if (ofFilter !== null) parts.set(workbook.main.fileName, ofFilter);
  return parts;
}

/** The XML of the sheet's filter with the new columns, where it can have them. */
export function widerFilter(
  xml: string,
  ref: string,
  sheet: SheetColumns,
  added: NewColumns,
): string {
  const range = parseRange(ref);
  if (range === null) return xml;
  const filter = { name: '', range, problem: rangeProblem(range, sheet) };
  return isWidened(filter, added) ? filterXml(xml, range, added) : xml;
}
