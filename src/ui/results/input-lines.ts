import type { OpenOptions } from '../../rows/file-formats.ts';
import { openRowFile } from '../../rows/open-row-file.ts';
import type { Row } from '../../rows/port.ts';
import type { OutputRow } from './output-table.ts';

/**
 * Finds the lines of an output's rows in its input, which is read beside it. Rows are compared by some fields: where these differ,
 * or the file is gone, it has changed since the run, and no line is given.
 *
 * @returns takes the rows of the output in their order
 */
export async function inputLines(
  input: string,
  reading: OpenOptions,
  identifying: readonly number[],
): Promise<(rows: readonly OutputRow[]) => Promise<(number | null)[]>> {
  const rowFile = await openRowFile(input, reading).catch(() => null);
  const batches = rowFile?.read(identifying, 0)[Symbol.asyncIterator]();
  let batch: readonly Row[] = [];
  let next = 0;

  async function rowNumber(number: number): Promise<Row | null> {
    while (batches !== undefined && next >= batch.length) {
      const read = await batches.next();
      if (read.done) return null;
      batch = read.value;
      next = 0;
    }
    const row = batch[next];
    if (row?.number !== number) return null;
    next++;
    return row;
  }

  return async (rows) => {
    const lines: (number | null)[] = [];
    for (const { number, identifying: fields } of rows) {
      const row = next < batch.length && batch[next]!.number === number ? batch[next++]! : await rowNumber(number);
      lines.push(row?.fields.every((field, index) => field === fields[index]) ? row.line : null);
    }
    return lines;
  };
}
