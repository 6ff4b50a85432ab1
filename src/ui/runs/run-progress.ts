import type { Progress } from '../../job/buying/progress.ts';
import {
  estimate,
  type MinuteMeter,
  measuredRate,
  type RunFacts,
  spentOf,
  type Timestamp,
} from '../../job/estimate.ts';
import type { RunEnded } from '../../job/run-job.ts';
import type { ErrorMessage } from '../web/error-replies.ts';

/** `stopping`: calls in flight finish, then the output is written. `failed`: ended by an error. */
type ActiveRunState = 'reading' | 'buying' | 'stopping' | 'ended' | 'failed';

/** A run of this process. */
export interface ActiveRun {
  phase: ActiveRunState;
  readonly beganAt: number;
  readonly progress: Progress;
  readonly meter: MinuteMeter;
  readonly interruption: AbortController;
  readonly notices: string[];
  readonly budget: number;
  /** Credits that the accounts had left when it began. */
  available: number;
  /** Null until the input is priced. */
  facts: RunFacts | null;
  ended: RunEnded | null;
  error: ErrorMessage | null;
}

/** The state of a run as the page shows it, sent several times a second. */
export interface RunUpdate {
  readonly phase: ActiveRunState;
  /** Identifies the run: a short one may begin and end between two updates. */
  readonly began_at: number;
  readonly cells: number;
  readonly cells_done: number;
  readonly credits_spent: number;
  readonly credits_unknown: number;
  readonly credits_planned: number;
  readonly budget: number;
  /** Credits of the period that were left when the run began. */
  readonly period_left: number;
  readonly per_minute: number | null;
  readonly per_minute_limit: number;
  readonly minutes_left: number | null;
  readonly calls: number;
  readonly in_flight: number;
  readonly failures: number;
  readonly retries: number;
  readonly slowed_down: number;
  readonly notices: readonly string[];
  readonly end: {
    readonly state: RunEnded['state'];
    readonly stop: RunEnded['stop'];
    readonly summary: RunEnded['summary'];
  } | null;
  readonly error: ErrorMessage | null;
}

export function runUpdateOf(run: ActiveRun, time: Timestamp): RunUpdate {
  const { progress, phase, meter, budget, available, facts } = run;
  const isBuying = phase === 'buying' && facts !== null;
  const last = isBuying ? meter.add(time.steady, spentOf(progress)) : null;
  const rate = last && measuredRate(last);
  return {
    phase,
    began_at: run.beganAt,
    cells: progress.cells,
    cells_done: progress.cellsDone,
    credits_spent: progress.creditsSpent,
    credits_unknown: progress.creditsUnknown,
    credits_planned: progress.creditsPlanned,
    budget,
    period_left: available,
    per_minute: rate === null ? null : Math.round(rate),
    per_minute_limit: facts?.creditsPerMinute ?? 0,
    minutes_left: isBuying ? estimate(progress, facts, last!, time).minutes : null,
    calls: progress.calls,
    in_flight: progress.callsInFlight,
    failures: progress.failures,
    retries: progress.retries,
    slowed_down: progress.slowedDown,
    notices: run.notices,
    end: run.ended && { state: run.ended.state, stop: run.ended.stop, summary: run.ended.summary },
    error: run.error,
  };
}
