import type { Progress } from '../../job/buying/progress.ts';
import type { RunEnded } from '../../job/run-job.ts';
import type { ErrorWords } from '../web/error-replies.ts';
import { minutesLeft, type Pace } from './pace.ts';

/** Where a run is: looking at the file, buying, letting the calls in flight land, at its end, or broken off by an error. */
type RunState = 'reading' | 'buying' | 'stopping' | 'ended' | 'failed';

/** A run of this process. */
export interface ActiveRun {
  phase: RunState;
  readonly beganAt: number;
  readonly progress: Progress;
  readonly pace: Pace;
  readonly interruption: AbortController;
  readonly notices: string[];
  readonly budget: number;
  /** Credits that the accounts had left when it began, and what they allow in a minute. */
  available: number;
  perMinute: number;
  ended: RunEnded | null;
  error: ErrorWords | null;
}

/** What the page is told while it watches, several times a second. */
export interface Live {
  readonly phase: RunState;
  /** Tells one run of a book from the next: a short one may end between two looks. */
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
  readonly error: ErrorWords | null;
}

/** @param now the steady time: setting the clock is no pace */
export function liveOf(run: ActiveRun, now: number): Live {
  const { progress, phase, pace, budget, available, perMinute: limit } = run;
  const spent = progress.creditsSpent + progress.creditsUnknown;
  if (phase === 'buying') pace.add({ at: now, credits: spent });
  const reach = Math.min(progress.creditsPlanned, budget, available);
  const perMinute = pace.perMinute();
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
    per_minute: perMinute === null ? null : Math.round(perMinute),
    per_minute_limit: limit,
    minutes_left: phase === 'buying' && limit > 0 ? minutesLeft(reach - spent, perMinute, limit) : null,
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
