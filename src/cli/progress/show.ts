import { steadyTime } from '../../base/clock.ts';
import { MinuteMeter, type RunFacts, spentOf, timestampOf } from '../../run/estimate.ts';
import { newProgress, type Phase } from '../../run/progress.ts';
import { type CliContext, say } from '../context.ts';
import { isDumb } from '../messages/color.ts';
import { lineInPlace } from './line-in-place.ts';
import { logShow, type ProgressShow } from './log-show.ts';
import { changeLine, progressLine } from './progress-line.ts';

const ON_TERMINAL_MS = 200;
const ELSEWHERE_MS = 30_000;
const LOOK_MS = 1_000;

/** On a terminal a line that is redrawn; elsewhere one every 30 s and at each change of phase; nothing if quiet. */
export function showProgress(context: CliContext, isQuiet = false): ProgressShow {
  if (isQuiet) return quietShow(context);
  if (context.log !== undefined) return logShow(context, context.log);
  return context.stderr.isTTY === true && !isDumb(context) ? terminalShow(context) : lineShow(context);
}

function quietShow(context: CliContext): ProgressShow {
  const nothing = () => {};
  return {
    progress: newProgress(),
    say: (text) => say(context, text),
    pause: nothing,
    resume: nothing,
    [Symbol.dispose]: nothing,
  };
}

/** Collects what a progress view shows. */
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
      const time = timestampOf(context.clock);
      const last = progress.phase === 'buying' ? meter.add(time.steady, spentOf(progress)) : { credits: 0, ms: 0 };
      return { progress, facts, last, ...time };
    },
  };
}

function lineShow(context: CliContext): ProgressShow {
  const { progress, learn, view } = viewer(context);
  let printedAt = steadyTime(context.clock);
  const printLine = (line: string | null) => {
    if (line === null) return;
    printedAt = steadyTime(context.clock);
    say(context, `perilbook: ${line}`);
  };
  let slowPrintedAt = Number.NEGATIVE_INFINITY;
  let printedPhase: Phase = progress.phase;
  progress.onChange = () => {
    const { phase, slowedUntil } = progress;
    const now = steadyTime(context.clock);
    if (phase !== printedPhase) {
      printedPhase = phase;
      return printLine(changeLine(view()));
    }
    // Limits the messages: a service that refuses one call in ten would print thousands of lines.
    if (now - slowPrintedAt < ELSEWHERE_MS) return;
    slowPrintedAt = now;
    printLine(`the service asks to slow down; resuming in ${Math.ceil((slowedUntil - now) / 1_000)} s`);
  };
  const timer = setInterval(() => {
    const seen = view();
    // Before the first row the program makes sample data or opens the file. "0 rows" would suggest an empty file.
    if (progress.phase === 'reading' && progress.rows === 0) return;
    if (steadyTime(context.clock) - printedAt >= ELSEWHERE_MS) printLine(progressLine(seen));
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

/** One line, which is drawn again in its place. */
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
