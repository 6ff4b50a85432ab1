import { steadyTime } from '../../base/clock.ts';
import { textWidth } from '../../base/printable.ts';
import { type CliContext, escapeFor, say } from '../frame/context.ts';
import { isDumb } from '../messages/format.ts';

/** One line of the terminal that is drawn again in its place. `draw` gets the width that the text may have, in columns. */
/** A line that is drawn again in its place. */
interface LineInPlace {
  clear(): void;
  /** @param text gets the width that it may have, in columns */
  draw(text: (width: number) => string): void;
}

/** A line for what happens now, between lines that stay. */
interface ShownLine {
  line(text: () => string): void;
  say(text: string): void;
  end(): void;
}

/** A line on the terminal that the next one replaces, also where it was wrapped. */
export function lineInPlace(context: CliContext): LineInPlace {
  const { stderr } = context;
  const columns = () => Math.max(20, stderr.columns || 80);
  let shown = '';
  const clear = () => {
    if (shown === '') return;
    // A terminal that became narrower has wrapped the line.
    const above = Math.ceil(textWidth(shown) / columns()) - 1;
    stderr.write(`\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`);
    shown = '';
  };
  return {
    clear,
    draw(text: (width: number) => string) {
      clear();
      // Some terminals wrap a line that fills the last column.
      shown = escapeFor(context, stderr, text(columns() - 1));
      stderr.write(shown);
    },
  };
}

const SHOWN_EVERY_MS = 200;

/** A line that is drawn again in its place, on terminals only. */
export function showLine(context: CliContext): ShownLine {
  const { stderr, clock } = context;
  const isShown =
    !context.isQuiet && context.log === undefined && stderr.isTTY === true && !isDumb(context);
  const { draw, clear } = lineInPlace(context);
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    line(text: () => string) {
      const now = steadyTime(clock);
      if (!isShown || now - shownAt < SHOWN_EVERY_MS) return;
      shownAt = now;
      draw(text);
    },
    say(text: string) {
      clear();
      say(context, text);
    },
    end: clear,
  };
}
