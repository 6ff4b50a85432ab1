import { steadyTime } from '../../base/clock.ts';
import { type RunFacts, reachedCells, reachedCredits } from '../../run/estimate.ts';
import { newProgress, type Phase, type Progress } from '../../run/progress.ts';
import { type CliContext, say } from '../context.ts';
import type { Log } from '../log-lines.ts';

const EVERY_MS = 30_000;
const LOOK_MS = 1_000;

/** Progress as events of `--log json`: at each change of phase, and every 30 s. */
export function logShow(context: CliContext, log: Log): ProgressShow {
  const progress = newProgress();
  let facts: RunFacts | null = null;
  let loggedAt = steadyTime(context.clock);
  let phase: Phase | null = null;
  const write = () => {
    loggedAt = steadyTime(context.clock);
    phase = progress.phase;
    const places = facts === null ? null : reachedCells(progress, facts);
    const credits = facts === null ? null : reachedCredits(progress, facts);
    log('info', 'progress', {
      phase,
      rows: progress.rows,
      places: places?.of ?? null,
      places_done: progress.cellsDone,
      credits_planned: credits?.of ?? null,
      credits_spent: progress.creditsSpent,
      credits_unknown: progress.creditsUnknown,
      calls: progress.calls,
      calls_in_flight: progress.callsInFlight,
      retries: progress.retries,
      slowed_down: progress.slowedDown,
      failures: progress.failuresByKind,
    });
  };
  progress.onChange = () => {
    // A request to slow down is a change of phase too, but may come too often for a line each.
    if (progress.phase !== phase) write();
  };
  const timer = setInterval(() => {
    if (steadyTime(context.clock) - loggedAt >= EVERY_MS) write();
  }, LOOK_MS);
  timer.unref();
  return {
    progress,
    say: (text) => say(context, text),
    pause: () => {},
    resume: (runFacts) => {
      facts = runFacts;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Shows the progress of a run on stderr, with messages in between. */
export interface ProgressShow extends Disposable {
  readonly progress: Progress;
  /** Prints a message above the progress. */
  readonly say: (text: string) => void;
  /** Hides the progress while the price is shown and approved. */
  pause(): void;
  /** Shows it again, with what the price told of the run. */
  resume(facts: RunFacts): void;
}
