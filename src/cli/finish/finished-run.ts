import type { Progress } from '../../run/progress.ts';
import type { RunResult } from '../../run/run-job.ts';
import { isoTime, type RunSummary } from '../../run/summary.ts';
import { type ErrorReport, errorReport } from '../exit-codes.ts';

/** How a run ended, as `on_finish` gets it: stable names, snake case. */
export interface FinishedRun {
  readonly event: 'run.finished';
  readonly version: string;
  readonly job: string;
  /** The number of the run in its store; null where it ended before it got one. */
  readonly run: number | null;
  readonly exit_code: number;
  /** `complete`, `incomplete`, `paused`, `stopped`, `interrupted`; `failed` where an error ended it. */
  readonly state: RunResult['state'] | 'failed';
  readonly started_at: string;
  readonly ended_at: string;
  readonly error: ErrorReport | null;
  /** What `--json` prints; null where an error ended the run. */
  readonly summary: RunSummary | null;
}

/** What ended: a run, or an error before or in it. */
export type RunOutcome =
  | { readonly kind: 'ended'; readonly result: RunResult; readonly progress: Progress; readonly exitCode: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly exitCode: number };

interface RunFrame {
  readonly version: string;
  readonly job: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

export function finishedRun(outcome: RunOutcome, { version, job, startedAt, endedAt }: RunFrame): FinishedRun {
  const result = outcome.kind === 'ended' ? outcome.result : null;
  return {
    event: 'run.finished',
    version,
    job,
    run: result?.summary.run ?? null,
    exit_code: outcome.exitCode,
    state: result?.state ?? 'failed',
    started_at: isoTime(startedAt)!,
    ended_at: isoTime(endedAt)!,
    error: outcome.kind === 'error' ? errorReport(outcome.error) : null,
    summary: result?.summary ?? null,
  };
}
