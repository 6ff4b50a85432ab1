import { existsSync } from 'node:fs';
import { steadyTime } from '../../base/clock.ts';
import { PerilbookError } from '../../base/errors.ts';
import type { Job } from '../../job/settings.ts';
import {
  type LastMinute,
  MinuteMeter,
  minutesLeft,
  type PauseReason,
  pauseReason,
  type RunFacts,
  reachedCells,
  reachedCredits,
  reachedValue,
  runFacts,
  spentOf,
} from '../../run/estimate.ts';
import { newProgress, type Phase } from '../../run/frame/progress.ts';
import { openContext } from '../../run/frame/run-context.ts';
import { neededApproval } from '../../run/plan/approval.ts';
import type { Prepared } from '../../run/prepare.ts';
import { runJob } from '../../run/run-job.ts';
import type { RunSummary } from '../../run/summary-shapes.ts';
import type { FinalState, RunsPort } from '../../store/runs/port.ts';
import type { ChosenSource } from '../files/choice.ts';
import { pageEffects, type UiDependencies } from '../files/dependencies.ts';
import {
  type ErrorMessage,
  makeErrorMessage,
  RefusedRequest,
  withoutTerminal,
} from '../files/page-words.ts';

const MOST_NOTICES = 20;

const SHOWN_AGAIN = {
  spending: 'Start again.',
  price: () => 'Press Start again: the price with this refusal is shown before',
};

/** The runs of this process, one per file. They continue when the page is closed. */
export class Runs {
  readonly #dependencies: UiDependencies;
  readonly #runs = new Map<string, ActiveRun>();
  readonly #working = new Map<string, Promise<void>>();
  #isClosing = false;

  constructor(dependencies: UiDependencies) {
    this.#dependencies = dependencies;
  }

  isWorking(file: string): boolean {
    return this.#working.has(file);
  }

  /** Starts a run, which spends at most the job's budget. @throws RefusedRequest if one is already running
   * @param acceptedPrice the price that the user was shown with the refusal that made it dearer; null where none was */
  start(file: string, job: Job, acceptedPrice: number | null): void {
    if (this.#isClosing)
      throw new RefusedRequest(
        503,
        'CLOSING',
        'Perilbook is stopping',
        'Start perilbook ui again.',
      );
    // Registered before the first await, so that a second click sees the first run.
    if (this.isWorking(file)) {
      const message = 'A run of this file is already in progress';
      throw new RefusedRequest(409, 'RUNNING', message, 'Stop it or wait until it ends.');
    }
    if (job.budget === null)
      throw new PerilbookError('NEEDS_APPROVAL', 'Missing budget', 'Set a budget.');
    const active = new ActiveRun(this.#dependencies.clock.now(), job.budget);
    this.#runs.set(file, active);
    const work = this.#work(active, job, acceptedPrice).finally(() => this.#working.delete(file));
    this.#working.set(file, work);
  }

  /** Makes no new calls, finishes the calls in flight, and writes the output. */
  stop(file: string): void {
    const active = this.#runs.get(file);
    if (!active || !this.isWorking(file)) {
      throw new RefusedRequest(
        409,
        'NOT_RUNNING',
        'No run of this file is in progress',
        'Reload the page.',
      );
    }
    active.phase = 'stopping';
    active.interruption.abort();
  }

  /** The state of a file's run; null if this process has not run it. */
  update(file: string): RunUpdate | null {
    const active = this.#runs.get(file);
    return active ? makeRunUpdate(active, steadyTime(this.#dependencies.clock)) : null;
  }

  /** Stops all runs and waits for their outputs; resolves to their number. */
  async close(): Promise<number> {
    this.#isClosing = true;
    const working = [...this.#working];
    for (const [file] of working) this.stop(file);
    await Promise.all(working.map(([, work]) => work));
    return working.length;
  }

  async #work(active: ActiveRun, job: Job, acceptedPrice: number | null): Promise<void> {
    const { store, connectionOf } = this.#dependencies;
    const effects = pageEffects(this.#dependencies, (message) => {
      if (active.notices.length < MOST_NOTICES) active.notices.push(withoutTerminal(message));
    });
    try {
      const connection = await connectionOf(job);
      active.source =
        connection.kind === 'local' || !connection.sample ? connection.kind : 'sample';
      const { progress, interruption } = active;
      const ports = { connection, store, effects, progress, interrupt: interruption.signal };
      // The user has approved the budget, which is in the job; a price that a refusal made dearer only where the dialog said so.
      const approve = (prepared: Prepared) => {
        const given = { isApproved: true, acceptedPrice };
        const needed = neededApproval(prepared, given, 'run', SHOWN_AGAIN);
        if (needed.kind !== 'none')
          throw new PerilbookError('NEEDS_APPROVAL', needed.unapproved, needed.approve);
        active.available = prepared.plan.bounds.quota;
        active.facts = runFacts(prepared);
        if (active.phase === 'reading') active.phase = 'buying';
      };
      const renew = async () =>
        await openContext(job, { ...ports, connection: await connectionOf(job) });
      using _ = await runJob(await openContext(job, ports), { approve, renew });
      active.end = await latestRun(store, job.output);
      active.phase = 'ended';
    } catch (error) {
      active.error = makeErrorMessage(error);
      active.phase = 'failed';
      if (active.error.code === 'BUG') this.#dependencies.onBug(error);
    }
  }
}

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
  end: EndedRun | null = null;
  error: ErrorMessage | null = null;

  constructor(beganAt: number, budget: number) {
    this.beganAt = beganAt;
    this.budget = budget;
  }
}

/** The state of a run as the page shows it, sent several times a second. */
export interface RunUpdate {
  readonly phase: ActiveRun['phase'];
  /** Null until it is connected. */
  readonly source: ChosenSource | null;
  /** The present phase: a run that buys or looks up also reads and writes. */
  readonly activity: Phase;
  /** Rows of this phase, and all; null until they are counted. */
  readonly rows: number;
  readonly rows_all: number | null;
  /** Identifies the run: a short one may begin and end between two updates. In milliseconds since the epoch. */
  readonly began_at: number;
  /** The places that the run can buy within its budget, quota and time, and all that lack something. */
  readonly cells: number;
  readonly cells_all: number;
  readonly cells_done: number;
  /** The share of all value that is complete; null in file order. */
  readonly value_done: number | null;
  /** Credits that were charged, and those of calls without an outcome. */
  readonly credits_spent: number;
  readonly credits_unknown: number;
  /** The credits that the run is planned to spend, and the price of all places. */
  readonly credits_planned: number;
  readonly credits_all: number;
  /** In credits. */
  readonly budget: number;
  /** Credits of the period that were left when the run began. */
  readonly period_left: number;
  /** Credits. */
  readonly last_minute: number;
  /** Credits; null: the sample has no minute limit. */
  readonly per_minute_limit: number | null;
  /** Why nothing is bought now; null where it is. */
  readonly pause: PauseReason | null;
  /** Null where it is not known. */
  readonly minutes_left: number | null;
  /** Calls whose answer is awaited, and calls that failed. */
  readonly in_flight: number;
  readonly failures: number;
  /** How often the service asked to slow down. */
  readonly slowed_down: number;
  readonly notices: readonly string[];
  /** How it ended; null while it goes on. */
  readonly end: EndedRun | null;
  readonly error: ErrorMessage | null;
}

/** A run that has ended, as the store has it. */
export interface EndedRun {
  readonly state: 'cut off' | FinalState;
  readonly budget: number;
  /** Unknown credits count as spent, here as in the ledger. */
  readonly budget_left: number;
  /** Answered from public data on this machine: there are no credits. */
  readonly is_local: boolean;
  /** The sample charges nothing: `charged` is the price at a paid service. */
  readonly is_sample: boolean;
  readonly charged: number;
  readonly unknown: number;
  readonly rows: number | null;
  readonly status: RunSummary['status'] | null;
  readonly complete: number | null;
  /** By value; null in file order. */
  readonly complete_value: number | null;
  readonly stopped: string | null;
  /** In milliseconds since the epoch. */
  readonly resume_after: number | null;
  readonly has_output: boolean;
}

/** The latest run with an output; null before the first. One that the store calls running was cut off when its process died. */
export async function latestRun(store: RunsPort, output: string): Promise<EndedRun | null> {
  const run = (await store.runs()).find((record) => record.output === output);
  if (run === undefined) return null;
  const summary = run.summary as Partial<RunSummary> | null;
  return {
    state: run.state === 'running' ? 'cut off' : run.state,
    budget: run.budget,
    budget_left: run.budget - run.charged - run.unknown - run.open,
    is_local: run.account === '',
    is_sample: summary?.source?.kind === 'sample',
    charged: run.charged,
    unknown: run.unknown + run.open,
    rows: summary?.rows ?? null,
    status: summary?.status ?? null,
    complete: summary?.complete?.rows ?? null,
    complete_value: summary?.complete?.value ?? null,
    stopped: summary?.stopped == null ? null : withoutTerminal(summary.stopped),
    resume_after: run.resumeAfter,
    has_output: existsSync(output),
  };
}

/** @param steady the time on the monotonic clock */
export function makeRunUpdate(run: ActiveRun, steady: number): RunUpdate {
  const { progress, phase, meter, budget, available, facts } = run;
  const isBuying = phase === 'buying' && facts !== null;
  const last = isBuying ? meter.add(steady, spentOf(progress)) : null;
  const limit = facts?.creditsPerMinute ?? 0;
  const reached = facts && reachedCells(progress, facts);
  return {
    phase,
    source: run.source,
    activity: progress.phase,
    rows: progress.rows,
    rows_all: facts?.rows ?? null,
    began_at: run.beganAt,
    cells: reached?.of ?? progress.cells,
    cells_all: progress.cells,
    cells_done: progress.cellsDone,
    value_done: facts && reachedValue(progress, facts),
    credits_spent: progress.creditsSpent,
    credits_unknown: progress.creditsUnknown,
    credits_planned: facts === null ? progress.creditsPlanned : reachedCredits(progress, facts).of,
    credits_all: progress.creditsPlanned,
    budget,
    period_left: available,
    last_minute: Math.round(Math.min(last?.credits ?? 0, limit)),
    per_minute_limit: Number.isFinite(limit) ? limit : null,
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
function timeLeft(
  { progress, source }: ActiveRun,
  facts: RunFacts,
  last: LastMinute,
  steady: number,
): number | null {
  if (source !== 'local') return minutesLeft(progress, facts, last, steady);
  const { cells, cellsDone } = progress;
  return cellsDone === 0
    ? null
    : ((steady - facts.startedAt) / 60_000 / cellsDone) * (cells - cellsDone);
}
