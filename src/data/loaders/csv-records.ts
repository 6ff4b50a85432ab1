import { type CsvRecord, delimitedRecords } from './delimited-text.ts';
import { type Columns, columnsOf } from './named-columns.ts';
import { sheetRecords } from './sheet-records.ts';

/**
 * The records of a file of delimited text, or of the table in an .xlsx workbook, one at a time.
 *
 * @param delimiter `|` files have no quotes
 * @throws PerilbookError SERVICE_DATA for a file that is damaged or cut
 */
export function csvRecords(file: string, delimiter: ',' | '|' = ','): Generator<CsvRecord> {
  return /\.xlsx$/i.test(file) ? sheetRecords(file) : delimitedRecords(file, delimiter);
}

/** A file whose first record is its header. */
export function csvTable(file: string): { readonly columns: Columns; readonly rows: Generator<CsvRecord> } {
  const rows = csvRecords(file);
  const header = rows.next();
  return { columns: columnsOf(header.done ? [] : header.value.cells, file), rows };
}
