import type { Effects } from '../job/prepare.ts';
import { say, type World } from './world.ts';

/** What the world lends to a run; with `debug` each request and each answer is a line on stderr. */
export function effectsOf(
  world: World,
  notice: (message: string) => void = (message) => say(world, message),
  debug = false,
): Effects {
  return {
    clock: world.clock,
    random: world.random,
    streams: { stdin: world.stdin, stdout: world.stdout },
    notice,
    ...(debug ? { trace: notice } : {}),
  };
}
