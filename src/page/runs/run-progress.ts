import { existsSync } from 'node:fs';
import {
  type LastMinute,
  MinuteMeter,
  minutesLeft,
  pauseReason,
  type RunFacts,
  reachedCells,
  reachedCredits,
  reachedValue,
  spentOf,
} from '../../run/estimate.ts';
import { newProgress } from '../../run/progress.ts';
import type { RunSummary } from '../../run/summary.ts';
import type { RunsPort } from '../../store/runs/port.ts';
import type { ChosenSource } from '../files/choice.ts';
import { withoutTerminal } from '../files/page-words.ts';
import type { ErrorMessage } from '../web/error-replies.ts';

export class ActiveRun {
  /** `stopping`: calls in flight finish, then the output is written. `failed`: ended by an error. */
  phase: 'reading' | 'buying' | 'stopping' | 'ended' | 'failed' = 'reading';
  readonly beganAt: number;
  readonly budget: number;
  readonly progress = newProgress();
  readonly meter = new MinuteMeter();
  readonly interruption = new AbortController();
  readonly notices: string[] = [];
  /** Credits that the accounts had left when it began. */
  available = 0;
  /** Null until the input is priced. */
  facts: RunFacts | null = null;
  /** Null until it is connected. */
  source: ChosenSource | null = null;
  /** Null until it has ended. */
  end: EndedRun | null = null;
  error: ErrorMessage | null = null;

  constructor(beganAt: number, budget: number) {
    this.beganAt = beganAt;
    this.budget = budget;
  }
}

/** The state of a run as the page shows it, sent several times a second. */
export type RunUpdate = ReturnType<typeof makeRunUpdate>;

/** A run that has ended, as the store has it. */
export type EndedRun = NonNullable<Awaited<ReturnType<typeof latestRun>>>;

/** The latest run with an output; null before the first. It is not running in this process: one that the store calls running was cut off when
 * its process died. */
export async function latestRun(store: RunsPort, output: string) {
  const run = (await store.runs()).find((record) => record.output === output);
  if (run === undefined) return null;
  const summary = run.summary as Partial<RunSummary> | null;
  return {
    state: run.state === 'running' ? 'cut off' : run.state,
    budget: run.budget,
    /** Unknown credits count as spent, here as in the ledger. */
    budget_left: run.budget - run.charged - run.unknown - run.open,
    /** Answered from public data on this machine: there are no credits. */
    is_local: run.account === '',
    /** The sample charges nothing: `charged` is the price at a paid service. */
    is_sample: summary?.source?.kind === 'sample',
    charged: run.charged,
    unknown: run.unknown + run.open,
    rows: summary?.rows ?? null,
    status: summary?.status ?? null,
    complete: summary?.complete?.rows ?? null,
    /** By value; null in file order. */
    complete_value: summary?.complete?.value ?? null,
    /** Why it ended early. */
    stopped: summary?.stopped == null ? null : withoutTerminal(summary.stopped),
    resume_after: run.resumeAfter,
    has_output: existsSync(output),
  };
}

/** @param steady the time on the monotonic clock */
export function makeRunUpdate(run: ActiveRun, steady: number) {
  const { progress, phase, meter, budget, available, facts } = run;
  const isBuying = phase === 'buying' && facts !== null;
  const last = isBuying ? meter.add(steady, spentOf(progress)) : null;
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
    /** The share of all value that is complete; null in file order. */
    value_done: facts && reachedValue(progress, facts),
    credits_spent: progress.creditsSpent,
    credits_unknown: progress.creditsUnknown,
    /** The credits that the run is planned to spend, and the price of all places. */
    credits_planned: facts === null ? progress.creditsPlanned : reachedCredits(progress, facts).of,
    credits_all: progress.creditsPlanned,
    budget,
    /** Credits of the period that were left when the run began. */
    period_left: available,
    last_minute: Math.round(Math.min(last?.credits ?? 0, limit)),
    /** Null: the sample has no minute limit. */
    per_minute_limit: Number.isFinite(limit) ? limit : null,
    /** Why no call is sent now. */
    pause: isBuying ? pauseReason(progress, facts, last!, steady) : null,
    minutes_left: isBuying ? timeLeft(run, facts, last!, steady) : null,
    in_flight: progress.callsInFlight,
    failures: progress.callsFailed,
    slowed_down: progress.slowedDown,
    notices: run.notices,
    end: run.end,
    error: run.error,
  };
}

/** The time left of buying follows from the credits a minute; of a look-up, from its speed so far. */
function timeLeft({ progress, source }: ActiveRun, facts: RunFacts, last: LastMinute, steady: number): number | null {
  if (source !== 'local') return minutesLeft(progress, facts, last, steady);
  const { cells, cellsDone } = progress;
  return cellsDone === 0 ? null : ((steady - facts.startedAt) / 60_000 / cellsDone) * (cells - cellsDone);
}
