import { steadyTime } from '../../base/clock.ts';
import { type CliContext, say } from '../context.ts';
import { isDumb } from '../messages/color.ts';
import { lineInPlace } from './line-in-place.ts';

const SHOWN_EVERY_MS = 200;

/** A line that is drawn again in its place, on terminals only. */
export function showLine(context: CliContext) {
  const { stderr, clock } = context;
  const isShown = !context.isQuiet && context.log === undefined && stderr.isTTY === true && !isDumb(context);
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
