import type { Effects } from '../job/prepare.ts';
import { type CliContext, say } from './context.ts';

/** What the context lends to a run; with `debug` each request and each answer is a line on stderr. */
export function runEffects(
  context: CliContext,
  notice: (message: string) => void = (message) => say(context, message),
  debug = false,
): Effects {
  return {
    clock: context.clock,
    random: context.random,
    streams: { stdin: context.stdin, stdout: context.stdout },
    notice,
    ...(debug ? { trace: notice } : {}),
  };
}
