import { steadyTime } from '../../base/clock.ts';
import {
  MinuteMeter,
  type RunFacts,
  reachedCells,
  reachedCredits,
  spentOf,
} from '../../run/estimate.ts';
import { newProgress, type Phase, type Progress } from '../../run/frame/progress.ts';
import { type CliContext, say } from '../frame/context.ts';
import type { Log } from '../frame/log-lines.ts';
import { isDumb } from '../messages/format.ts';
import { lineInPlace } from './line-in-place.ts';
import { changeLine, type ProgressView, progressLine, silenceText } from './progress-line.ts';

const ON_TERMINAL_MS = 200;
const ELSEWHERE_MS = 30_000;
const LOOK_MS = 1_000;

export interface ProgressShow extends Disposable {
  readonly progress: Progress;
  /** Prints a message above the progress. */
  readonly say: (text: string) => void;
  /** Hides the progress while the price is shown and approved. */
  pause(): void;
  /** Shows it again, with what the price told of the run. */
  resume(facts: RunFacts): void;
}

/** On a terminal a line that is redrawn; elsewhere one every 30 s and at each change of phase; nothing if quiet. */
export function showProgress(context: CliContext, isQuiet = false): ProgressShow {
  if (isQuiet) return periodicShow(context, () => false);
  if (context.log !== undefined) return logShow(context, context.log);
  return context.stderr.isTTY === true && !isDumb(context)
    ? terminalShow(context)
    : lineShow(context);
}

function viewer(context: CliContext) {
  const progress = newProgress();
  const meter = new MinuteMeter();
  let facts: RunFacts | null = null;
  return {
    progress,
    learn: (runFacts: RunFacts) => {
      facts = runFacts;
    },
    view: () => {
      const steady = steadyTime(context.clock);
      const last =
        progress.phase === 'buying' ? meter.add(steady, spentOf(progress)) : { credits: 0, ms: 0 };
      return { progress, facts, last, steady };
    },
  };
}

/** `slowed`: the service has asked to slow down. `time`: 30 s have passed without a message. */
type Occasion = 'phase' | 'slowed' | 'time';

/** Progress where no line can be redrawn. @param write returns whether it wrote something */
function periodicShow(
  context: CliContext,
  write: (occasion: Occasion, view: ProgressView) => boolean,
): ProgressShow {
  const { progress, learn, view } = viewer(context);
  const now = () => steadyTime(context.clock);
  let writtenAt = now();
  let phase: Phase | null = null;
  const tell = (occasion: Occasion, seen: ProgressView) => {
    if (write(occasion, seen)) writtenAt = now();
  };
  progress.onChange = () => {
    const occasion = progress.phase === phase ? 'slowed' : 'phase';
    phase = progress.phase;
    tell(occasion, view());
  };
  const timer = setInterval(() => {
    const seen = view();
    if (now() - writtenAt >= ELSEWHERE_MS) tell('time', seen);
  }, LOOK_MS);
  timer.unref();
  return {
    progress,
    say: (text) => say(context, text),
    pause: () => {},
    resume: learn,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function lineShow(context: CliContext): ProgressShow {
  let slowedAt = Number.NEGATIVE_INFINITY;
  const lineOn = (occasion: Occasion, view: ProgressView): string | null => {
    const { phase, rows, slowedUntil } = view.progress;
    switch (occasion) {
      case 'phase':
        return changeLine(view);
      case 'time':
        // Before the first row the program makes sample data or opens the file. "0 rows" would suggest an empty file.
        return phase === 'reading' && rows === 0 ? null : progressLine(view);
      case 'slowed':
        // Limits the messages: a service that refuses one call in ten would print thousands of lines.
        if (view.steady - slowedAt < ELSEWHERE_MS) return null;
        slowedAt = view.steady;
        return [
          `the service asks to slow down; resuming in ${Math.ceil((slowedUntil - view.steady) / 1_000)} s`,
          silenceText(view),
        ]
          .filter(Boolean)
          .join(' · ');
    }
  };
  return periodicShow(context, (occasion, view) => {
    const line = lineOn(occasion, view);
    if (line !== null) say(context, `perilbook: ${line}`);
    return line !== null;
  });
}

function logShow(context: CliContext, log: Log): ProgressShow {
  return periodicShow(context, (occasion, { progress, facts }) => {
    // May come too often for a line each.
    if (occasion === 'slowed') return false;
    log('info', 'progress', {
      phase: progress.phase,
      rows: progress.rows,
      places: facts === null ? null : reachedCells(progress, facts).of,
      places_done: progress.cellsDone,
      credits_planned: facts === null ? null : reachedCredits(progress, facts).of,
      credits_spent: progress.creditsSpent,
      credits_unknown: progress.creditsUnknown,
      calls: progress.calls,
      calls_in_flight: progress.callsInFlight,
      retries: progress.retries,
      slowed_down: progress.slowedDown,
      failures: progress.failuresByKind,
    });
    return true;
  });
}

function terminalShow(context: CliContext): ProgressShow {
  const { progress, learn, view } = viewer(context);
  const { draw, clear } = lineInPlace(context);
  let isPaused = false;
  const show = () => {
    if (!isPaused) draw((width) => progressLine(view(), width));
  };
  const pause = () => {
    isPaused = true;
    clear();
  };
  progress.onChange = show;
  // main.ts prints a message at an interrupt: clear the line first, then redraw it below.
  context.interrupt.addEventListener('abort', clear);
  const timer = setInterval(show, ON_TERMINAL_MS);
  timer.unref();
  return {
    progress,
    say(text) {
      clear();
      say(context, text);
      show();
    },
    pause,
    resume(facts) {
      learn(facts);
      isPaused = false;
      show();
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      context.interrupt.removeEventListener('abort', clear);
      progress.onChange = null;
      pause();
    },
  };
}
