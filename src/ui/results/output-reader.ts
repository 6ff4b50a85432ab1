import { stat } from 'node:fs/promises';
import type { Job } from '../../job/settings/settings.ts';
import { RefusedRequest } from '../web/error-replies.ts';
import { countOutput, type OutputCounts } from './output-counts.ts';
import { filteredRows, linesOf, type OutputPage, type RowFilter, shownRow } from './output-page.ts';
import { openOutput } from './output-table.ts';

/** Reads the outputs of the page's runs. The counts of the output that was read last are kept, and how many rows passed the last
 * filter: the other pages of the same rows come sooner. */
export class OutputReader {
  #kept: { readonly key: string; readonly counts: Promise<OutputCounts> } | null = null;
  #last: { readonly key: string; readonly total: number } | null = null;

  async counts(job: Job): Promise<OutputCounts> {
    const key = await versionOf(job);
    if (this.#kept?.key !== key) {
      const counts = openOutput(job.output, job).then(countOutput);
      this.#kept = { key, counts };
      // A failure is not kept: the output may be readable the next time.
      counts.catch(() => {
        if (this.#kept?.key === key) this.#kept = null;
      });
    }
    return await this.#kept.counts;
  }

  async page(job: Job, filter: RowFilter, signal: AbortSignal): Promise<OutputPage> {
    const key = JSON.stringify([await versionOf(job), { ...filter, from: 0 }]);
    const table = await openOutput(job.output, job);
    const known = this.#last?.key === key ? this.#last.total : await this.#rowsIfAll(job, filter);
    const { total, rows } = await filteredRows(table, filter, signal, known);
    this.#last = { key, total };
    const lines = await linesOf(job.input, job.reading, rows, table.identifying);
    return { total, rows: rows.map((row, index) => shownRow(table, row, filter, lines[index]!)) };
  }

  /** How many rows pass a filter that all pass; null for others. */
  async #rowsIfAll(job: Job, { from: _, ...filter }: RowFilter): Promise<number | null> {
    return Object.keys(filter).length === 0 ? (await this.counts(job)).rows : null;
  }
}

/** Changes when the output is written again. */
async function versionOf({ output, topics }: Job): Promise<string> {
  const found = await stat(output).catch(() => null);
  if (found === null) throw new RefusedRequest(404, 'NO_RESULT', 'There is no output yet', 'Run the file first.');
  const { size, mtimeMs, ino } = found;
  return JSON.stringify([output, size, mtimeMs, ino, topics]);
}
