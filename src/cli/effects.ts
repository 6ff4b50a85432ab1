import type { Effects } from '../job/prepare.ts';
import { type CliContext, say } from './context.ts';
import { openAreas } from './open-areas.ts';

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
    openAreas: (job) => openAreas(context, job),
    ...(debug ? { trace: notice } : {}),
  };
}
