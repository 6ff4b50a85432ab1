import { type ErrorCode, PerilbookError } from '../../base/errors.ts';
import { NO_LOCATION_NOTES } from '../../rows/no-locations.ts';
import { STOPS } from '../../run/frame/stop.ts';
import type { RunResult } from '../../run/run-job.ts';
import type { PlanSummary } from '../../run/summary-shapes.ts';

export const EXIT = {
  complete: 0,
  bug: 1,
  usage: 2,
  someFailed: 3,
  paused: 4,
  keyRefused: 5,
  serviceDown: 6,
  interrupted: 130,
} as const;

/** Their meanings, for help and documents. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.complete, 'complete'],
  [EXIT.bug, 'a bug in Perilbook'],
  [EXIT.usage, 'wrong usage, job file or input'],
  [
    EXIT.someFailed,
    'complete, but some rows failed, too many have no usable location, or the input has no rows',
  ],
  [EXIT.paused, 'paused at a quota, budget or time limit, resumable'],
  [EXIT.keyRefused, 'key or access refused'],
  [EXIT.serviceDown, 'service or store down, resumable'],
  [EXIT.interrupted, 'interrupted, resumable'],
];

const OF_CODE: Readonly<Partial<Record<ErrorCode, number>>> = {
  BUG: EXIT.bug,
  QUOTA_EXCEEDED: EXIT.paused,
  BUDGET_REACHED: EXIT.paused,
  KEY_MISSING: EXIT.keyRefused,
  KEY_REFUSED: EXIT.keyRefused,
  SCOPE_MISSING: EXIT.keyRefused,
  SERVICE_DOWN: EXIT.serviceDown,
  DOWNLOAD_FAILED: EXIT.serviceDown,
  THREAD_FAILED: EXIT.serviceDown,
  STORE_UNREACHABLE: EXIT.serviceDown,
  ACCOUNTS_UNAVAILABLE: EXIT.serviceDown,
  INTERRUPTED: EXIT.interrupted,
};

/** The exit code of an error. One that has no code of ours is a bug. */
export function exitCodeOfError(error: unknown): number {
  return error instanceof PerilbookError ? exitCodeOf(error.code) : EXIT.bug;
}

function exitCodeOf(code: ErrorCode): number {
  return OF_CODE[code] ?? EXIT.usage;
}

/** The exit code of a run, by its stop; without one by its rows. */
export function exitCodeOfRun({ state, stop, summary }: RunResult): number {
  if (stop === null)
    return state === 'complete' && !hasTooManyInvalid(summary) ? EXIT.complete : EXIT.someFailed;
  const row = STOPS[stop.reason];
  switch (row.state) {
    case 'paused':
      return row.isFailure ? EXIT.serviceDown : EXIT.paused;
    case 'interrupted':
      return EXIT.interrupted;
    case 'stopped':
      return exitCodeOf(row.code);
  }
}

/** An error as `--json` prints it. */
export interface ErrorReport {
  /** Stable; `BUG` for what Perilbook did wrong. */
  readonly code: ErrorCode;
  /** What happened. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** The file where it happened; absent where that is not known. */
  readonly file?: string | undefined;
  /** The line, from 1; absent where that is not known. */
  readonly line?: number | undefined;
  /** The row, from 1; absent where that is not known. */
  readonly row?: number | undefined;
  /** The name of the column, in a job file its number; absent where that is not known. */
  readonly column?: string | undefined;
}

/** An error as `--json` prints it, with the place where it happened. */
export function errorReport(error: unknown): ErrorReport {
  if (!(error instanceof PerilbookError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { code: 'BUG', message, hint: 'This is a bug in Perilbook. Please report it.' };
  }
  const { code, message, hint, context } = error;
  const { file, line, row, column } = context;
  return { code, message, hint, file, line, row, column };
}

/** Whether so many rows have no usable location that the columns are probably wrong or exchanged. Rows outside the US are real
 * places; they count only if no row is inside the US. */
export function hasTooManyInvalid(summary: PlanSummary): boolean {
  return summary.rows > 0 && unusableRows(summary) / countedRows(summary) > summary.max_invalid;
}

/** The rows of the file without empty ones, totals and lines: these are no locations. */
export function countedRows({ rows, located, findings }: PlanSummary): number {
  const none = findings
    .filter(({ finding }) => finding in NO_LOCATION_NOTES)
    .reduce((sum, { rows: ofKind }) => sum + ofKind, 0);
  return located === 0 ? rows : rows - none;
}

/** The rows that `hasTooManyInvalid` counts. */
export function unusableRows(summary: PlanSummary): number {
  const { rows, located, invalid } = summary;
  return located === 0 ? rows : invalid - (rows - countedRows(summary));
}
