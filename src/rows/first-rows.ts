import type { Row, RowSource } from './port.ts';

/** The first rows of a file, with the fields of some columns in that order. Reads no more than a batch. */
export async function firstRows(
  rowFile: Pick<RowSource, 'read'>,
  columns: readonly number[],
  count: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of rowFile.read(columns, 0)) {
    rows.push(...batch.slice(0, count - rows.length));
    if (rows.length === count) break;
  }
  return rows;
}
