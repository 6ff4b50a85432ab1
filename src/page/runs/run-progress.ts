import { shareOf } from '../../base/format-numbers.ts';
import {
  estimate,
  type LastMinute,
  type MinuteMeter,
  pauseReason,
  type RunFacts,
  reachedCells,
  reachedCredits,
  spentOf,
  type Timestamp,
} from '../../run/estimate.ts';
import type { Progress } from '../../run/progress.ts';
import type { RunResult } from '../../run/run-job.ts';
import type { ChosenSource } from '../files/choice.ts';
import { withoutTerminal } from '../files/page-words.ts';
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
  /** Null until it is connected. */
  source: ChosenSource | null;
  result: RunResult | null;
  error: ErrorMessage | null;
}

/** The state of a run as the page shows it, sent several times a second. */
export type RunUpdate = ReturnType<typeof runUpdateOf>;

export function runUpdateOf(run: ActiveRun, time: Timestamp) {
  const { progress, phase, meter, budget, available, facts } = run;
  const isBuying = phase === 'buying' && facts !== null;
  const last = isBuying ? meter.add(time.steady, spentOf(progress)) : null;
  const limit = facts?.creditsPerMinute ?? 0;
  const reached = facts && reachedCells(progress, facts);
  return {
    phase,
    source: run.source,
    /** The present phase: a run that buys or looks up also reads and writes. */
    activity: progress.phase,
    rows: progress.rows,
    rows_all: facts?.rows ?? null,
    /** Identifies the run: a short one may begin and end between two updates. */
    began_at: run.beganAt,
    /** The places that the run can buy within its budget, quota and time, and all that lack something. */
    cells: reached?.of ?? progress.cells,
    cells_all: progress.cells,
    cells_done: progress.cellsDone,
    /** The share of all value that is done; null in file order. */
    value_done: facts && shareOf(progress.valueDone, facts.value),
    credits_spent: progress.creditsSpent,
    credits_unknown: progress.creditsUnknown,
    /** The credits that the run is planned to spend, and the price of all places. */
    credits_planned: facts === null ? progress.creditsPlanned : reachedCredits(progress, facts).of,
    credits_all: progress.creditsPlanned,
    budget,
    budget_left: budget - spentOf(progress),
    /** Credits of the period that were left when the run began. */
    period_left: available,
    last_minute: Math.round(Math.min(last?.credits ?? 0, limit)),
    /** Null: the sample has no minute limit. */
    per_minute_limit: Number.isFinite(limit) ? limit : null,
    /** Why no call is sent now. */
    pause: isBuying ? pauseReason(progress, facts, last!, time.steady) : null,
    minutes_left: isBuying ? minutesLeft(run, facts, last!, time) : null,
    calls: progress.calls,
    in_flight: progress.callsInFlight,
    failures: progress.failures,
    slowed_down: progress.slowedDown,
    notices: run.notices,
    end: run.result && {
      state: run.result.state,
      stop: run.result.stop && { ...run.result.stop, message: withoutTerminal(run.result.stop.message) },
      summary: run.result.summary,
    },
    error: run.error,
  };
}

/** The time left of buying follows from the credits a minute; of a look-up, from its speed so far. */
function minutesLeft(
  { progress, source }: ActiveRun,
  facts: RunFacts,
  last: LastMinute,
  time: Timestamp,
): number | null {
  if (source !== 'local') return estimate(progress, facts, last, time).minutes;
  const { cells, cellsDone } = progress;
  return cellsDone === 0 ? null : ((time.steady - facts.startedAt) / 60_000 / cellsDone) * (cells - cellsDone);
}
