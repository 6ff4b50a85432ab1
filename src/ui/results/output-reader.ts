import { stat } from 'node:fs/promises';
import type { Job } from '../../run/settings/settings.ts';
import { RefusedRequest } from '../web/error-replies.ts';
import { inputLines } from './input-lines.ts';
import { OutputCounter, type OutputCounts } from './output-counts.ts';
import { OutputIndex } from './output-index.ts';
import type { OutputPage, RowFilter } from './output-page.ts';
import { openOutput } from './output-table.ts';

interface ReadOutput {
  readonly counts: OutputCounts;
  readonly index: OutputIndex;
}

/** Reads the outputs of the page's runs: each once. The counts and the index of the one that was read last are kept. */
export class OutputReader implements Disposable {
  #kept: { readonly key: string; readonly read: Promise<ReadOutput> } | null = null;

  async counts(job: Job): Promise<OutputCounts> {
    return (await this.#read(job)).counts;
  }

  async page(job: Job, filter: RowFilter, signal: AbortSignal): Promise<OutputPage> {
    const { index } = await this.#read(job);
    // A search for another text may end at the same time.
    while (index.isOpen && !index.isReadyFor(filter)) await index.search(filter.text!, signal);
    // Another output, or a new version of this one, may have been read meanwhile.
    return index.isOpen ? index.page(filter) : await this.page(job, filter, signal);
  }

  [Symbol.dispose](): void {
    this.#kept?.read.then(
      ({ index }) => index[Symbol.dispose](),
      () => {},
    );
    this.#kept = null;
  }

  async #read(job: Job): Promise<ReadOutput> {
    const key = await versionOf(job);
    if (this.#kept?.key === key) return await this.#kept.read;
    this[Symbol.dispose]();
    const read = readOutput(job);
    this.#kept = { key, read };
    // A failure is not kept: the output may be readable the next time.
    read.catch(() => {
      if (this.#kept?.key === key) this.#kept = null;
    });
    return await read;
  }
}

async function readOutput(job: Job): Promise<ReadOutput> {
  const table = await openOutput(job.output, job);
  const counter = new OutputCounter(table);
  const index = new OutputIndex(table);
  try {
    const linesOf = await inputLines(job.input, job.reading, table.identifying);
    for await (const rows of table.read()) {
      const lines = await linesOf(rows);
      for (const [at, row] of rows.entries()) {
        counter.add(row);
        index.add(row, lines[at]!);
      }
    }
    index.finish();
    return { counts: counter.counts(), index };
  } catch (error) {
    index[Symbol.dispose]();
    throw error;
  }
}

/** Changes when the output or the input is written again. */
async function versionOf({ input, output, topics }: Job): Promise<string> {
  const [written, own] = await Promise.all([output, input].map((file) => stat(file).catch(() => null)));
  if (!written) throw new RefusedRequest(404, 'NO_RESULT', 'There is no output yet', 'Run the file first.');
  return JSON.stringify([
    output,
    topics,
    ...[written, own].map((found) => found && [found.size, found.mtimeMs, found.ino]),
  ]);
}
