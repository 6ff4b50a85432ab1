import { PerilbookError } from '../base/errors.ts';
import type { Job } from '../job/settings.ts';
import { openRowFile } from '../rows/open/open-row-file.ts';
import { statusColumn } from './frame/earlier-output.ts';
import { findLayout, locationOf } from './scan/layout.ts';
import { locate } from './scan/read-row.ts';
import type { Scan } from './scan/scan-input.ts';

/** Counts the rows of the input whose place has an answer in an earlier output: a row that left the input or moved since loses nothing.
 * @returns null where a file does not say it: its rows cannot be read as an input */
export async function rowsAnsweredBefore(
  files: readonly string[],
  scan: Pick<Scan, 'cells' | 'layout'>,
  job: Job,
): Promise<number | null> {
  const { cells } = scan;
  const isAnswered = new Uint8Array(cells.size);
  try {
    for (const file of files) if (!(await markAnswered(file, isAnswered, scan, job))) return null;
  } catch (error) {
    if (error instanceof PerilbookError) return null;
    throw error;
  }
  let rows = 0;
  for (let cell = 0; cell < cells.size; cell++)
    if (isAnswered[cell] === 1) rows += cells.rows(cell);
  return rows;
}

/** Marks the cells of the input that one file answers. @returns whether its rows say it */
async function markAnswered(
  file: string,
  isAnswered: Uint8Array,
  { cells, layout }: Pick<Scan, 'cells' | 'layout'>,
  job: Job,
): Promise<boolean> {
  // In the format of the input an output is written as it was read.
  const rowFile = await openRowFile(file, layout.isConverted ? {} : job.reading);
  const status = statusColumn(rowFile.columns, job.prefix);
  if (status < 0) return false;
  const own = locationOf(await findLayout(rowFile, { ...job, input: file, output: file }));
  // The order of two numbers in one value was decided by all rows of the input.
  const pair = own.pair === null ? null : (layout.pair ?? own.pair);
  const at = own.columns.length;
  for await (const rows of rowFile.read([...own.columns, status])) {
    for (const row of rows) {
      if (row.fields[at] !== 'ok') continue;
      const located = locate(row, job, { ...own, pair });
      const cell = located.ok ? cells.numberOf(located.cell) : -1;
      if (cell >= 0) isAnswered[cell] = 1;
    }
  }
  return true;
}
