import { openAreas } from '../library/open-areas.ts';
import type { Effects } from '../run/run-context.ts';
import { type CliContext, connectionContext, say } from './context.ts';

/** What a run needs of the process. With `debug` each request and each answer is logged on stderr. */
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
    openAreas: (job) => openAreas(connectionContext(context), job),
    ...(debug ? { trace: notice } : {}),
  };
}
