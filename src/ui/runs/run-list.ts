import { existsSync } from 'node:fs';
import type { RunSummary } from '../../run/summary.ts';
import type { RunRecord } from '../../store/port.ts';
import { withoutTerminal } from '../files/page-words.ts';
import type { ChosenFile } from '../files/workspace.ts';

/** A run as the page lists it. */
export interface ListedRun {
  readonly run: number;
  readonly job: string;
  /** The id of its file on the page; null for a run of the command line. */
  readonly book: string | null;
  readonly state: RunRecord['state'];
  readonly started_at: number;
  readonly planned: number;
  readonly budget: number;
  /** Answered from public data on this machine: there are no credits. */
  readonly is_local: boolean;
  readonly charged: number;
  readonly unknown: number;
  readonly rows: number | null;
  readonly complete: number | null;
  /** Of the value; null in the order of the file. */
  readonly complete_value: number | null;
  /** Why it ended early. */
  readonly stopped: string | null;
  readonly resume_after: number | null;
  readonly output: string;
  readonly has_output: boolean;
  /** The latest run of its file: it can be resumed. */
  readonly is_latest: boolean;
}

const SHOWN = 50;

/** A file with the path of its output. */
export interface ListedFile extends ChosenFile {
  readonly output: string;
}

/** The runs of the store, newest first. A run of the page that the store calls running, but that this process does not run,
 * was cut off with its process. */
export function listRuns(
  runs: readonly RunRecord[],
  books: readonly ListedFile[],
  isWorking: (book: string) => boolean,
): ListedRun[] {
  const byOutput = new Map(books.map((book) => [book.output, book]));
  const seen = new Set<string>();
  return runs.slice(0, SHOWN).map((run) => {
    const book = byOutput.get(run.output) ?? null;
    const isLatest = !seen.has(run.output);
    seen.add(run.output);
    const isCutOff = run.state === 'running' && book !== null && !(isLatest && isWorking(book.id));
    const summary = run.summary as Partial<RunSummary> | null;
    return {
      run: run.run,
      job: book?.name ?? run.job,
      book: book?.id ?? null,
      state: isCutOff ? 'cut off' : run.state,
      started_at: run.startedAt,
      planned: run.plannedCredits,
      budget: run.budget,
      is_local: run.account === '',
      charged: run.charged,
      unknown: run.unknown + run.open,
      rows: summary?.rows ?? null,
      complete: summary?.complete?.rows ?? null,
      complete_value: summary?.complete?.value ?? null,
      stopped: summary?.stopped == null ? null : withoutTerminal(summary.stopped),
      resume_after: run.resumeAfter,
      output: run.output,
      has_output: existsSync(run.output),
      is_latest: isLatest,
    };
  });
}
