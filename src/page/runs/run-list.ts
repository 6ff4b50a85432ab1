import { existsSync } from 'node:fs';
import type { RunSummary } from '../../run/summary.ts';
import type { RunRecord } from '../../store/runs/port.ts';
import { withoutTerminal } from '../files/page-words.ts';
import type { ChosenFile } from '../files/workspace.ts';

const SHOWN = 50;

/** The runs of the store, newest first. A run of the page that the store calls running, but that is not in this process,
 * was cut off when its process died. */
export function listRuns(
  runs: readonly RunRecord[],
  books: readonly (ChosenFile & { readonly output: string })[],
  isWorking: (file: string) => boolean,
) {
  const byOutput = new Map(books.map((file) => [file.output, file]));
  const seen = new Set<string>();
  return runs.slice(0, SHOWN).map((run) => {
    const file = byOutput.get(run.output) ?? null;
    const isLatest = !seen.has(run.output);
    seen.add(run.output);
    const isCutOff = run.state === 'running' && file !== null && !(isLatest && isWorking(file.id));
    const summary = run.summary as Partial<RunSummary> | null;
    return {
      /** The id of its file on the page; null for a run of the command line. */
      book: file?.id ?? null,
      state: isCutOff ? 'cut off' : run.state,
      budget: run.budget,
      /** Unknown credits count as spent, here as in the ledger. */
      budget_left: run.budget - run.charged - run.unknown - run.open,
      /** Answered from public data on this machine: there are no credits. */
      is_local: run.account === '',
      charged: run.charged,
      unknown: run.unknown + run.open,
      rows: summary?.rows ?? null,
      /** The rows of each status. */
      status: summary?.status ?? null,
      complete: summary?.complete?.rows ?? null,
      /** By value; null in file order. */
      complete_value: summary?.complete?.value ?? null,
      /** Why it ended early. */
      stopped: summary?.stopped == null ? null : withoutTerminal(summary.stopped),
      resume_after: run.resumeAfter,
      has_output: existsSync(run.output),
      /** The latest run of its file: it can be resumed. */
      is_latest: isLatest,
    };
  });
}
