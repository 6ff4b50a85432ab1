import type { Progress } from '../../run/progress.ts';
import type { RunResult } from '../../run/run-job.ts';
import { isoTime } from '../../run/summary.ts';
import { errorReport } from '../exit-codes.ts';

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

/** How a run ended, as `on_finish` gets it: stable names, snake case. */
export function finishedRun(outcome: RunOutcome, { version, job, startedAt, endedAt }: RunFrame) {
  const result = outcome.kind === 'ended' ? outcome.result : null;
  return {
    event: 'run.finished',
    version,
    job,
    /** The number of the run in its store; null where it ended before it got one. */
    run: result?.summary.run ?? null,
    exit_code: outcome.exitCode,
    /** `complete`, `incomplete`, `paused`, `stopped`, `interrupted`; `failed` where an error ended it. */
    state: result?.state ?? 'failed',
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
    error: outcome.kind === 'error' ? errorReport(outcome.error) : null,
    /** What `--json` prints; null where an error ended the run. */
    summary: result?.summary ?? null,
  };
}
