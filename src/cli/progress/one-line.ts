import { steadyTime } from '../../base/clock.ts';
import { type CliContext, say, shownOn } from '../context.ts';

const SHOWN_EVERY_MS = 200;

/** A line that is overwritten in place, on terminals only. */
export function showLine(context: CliContext) {
  const { stderr, clock } = context;
  const isShown = !context.isQuiet && context.log === undefined && stderr.isTTY === true && context.env.TERM !== 'dumb';
  let shownAt: number | null = null;
  const end = () => {
    if (shownAt !== null) stderr.write('\r\u001b[K');
    shownAt = null;
  };
  return {
    line(text: () => string) {
      const now = steadyTime(clock);
      if (!isShown || (shownAt !== null && now - shownAt < SHOWN_EVERY_MS)) return;
      shownAt = now;
      stderr.write(`\r\u001b[K${shownOn(context, stderr, text())}`);
    },
    say(text: string) {
      end();
      say(context, text);
    },
    end,
  };
}
