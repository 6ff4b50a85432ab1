import { steadyTime } from '../../base/clock.ts';
import { MinuteMeter, type RunFacts, spentOf, timestampOf } from '../../run/estimate.ts';
import { newProgress, type Phase } from '../../run/progress.ts';
import { type CliContext, say, shownOn } from '../context.ts';
import { colorFor, isDumb, isUnicode } from '../messages/color.ts';
import { changeLine, progressBlock, progressLine, rowsTaken } from './block.ts';
import { logShow, type ProgressShow } from './log-show.ts';

const ON_TERMINAL_MS = 200;
const ELSEWHERE_MS = 30_000;
const LOOK_MS = 1_000;

/** On a terminal a block that is redrawn; elsewhere a line every 30 s and at each change of phase; nothing if quiet. */
export async function showProgress(context: CliContext, isQuiet = false): Promise<ProgressShow> {
  if (isQuiet) return quietShow(context);
  if (context.log !== undefined) return logShow(context, context.log);
  return context.stderr.isTTY === true && !isDumb(context) ? blockShow(context) : lineShow(context);
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

async function blockShow(context: CliContext): Promise<ProgressShow> {
  const { createLogUpdate } = await import('log-update');
  const { stderr } = context;
  const { progress, learn, view } = viewer(context);
  // A hidden cursor would stay hidden after a kill.
  const render = createLogUpdate(stderr, { showCursor: true });
  const color = colorFor(context, stderr);
  const unicode = isUnicode(context);
  const columns = () => Math.max(20, stderr.columns || 80);
  let shown: readonly string[] = [];
  let shownWidth = 0;
  let isPaused = false;
  const clear = () => {
    if (shown.length === 0) return;
    if (columns() < shownWidth) {
      // A narrower terminal has wrapped the lines: log-update does not know how many rows to erase.
      stderr.write(`\r\u001b[${rowsTaken(shown, columns())}A\u001b[J`);
      render.done();
    } else render.clear();
    shown = [];
  };
  const show = () => {
    if (isPaused) return;
    if (columns() !== shownWidth) clear();
    shownWidth = columns();
    // Some terminals wrap a line that fills the last column.
    const rows = (stderr as { readonly rows?: number }).rows ?? 24;
    shown = progressBlock(view(), { width: shownWidth - 1, color, unicode }).slice(-Math.max(1, rows - 2));
    if (shown.length > 0) render(shownOn(context, stderr, shown.join('\n')));
  };
  const pause = () => {
    isPaused = true;
    clear();
  };
  progress.onChange = show;
  // main.ts prints a message at an interrupt: clear the block first, then redraw it below.
  context.interrupt.addEventListener('abort', clear);
  stderr.on('resize', show);
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
      stderr.off('resize', show);
      progress.onChange = null;
      pause();
    },
  };
}
