import type { Effects } from '../job/prepare.ts';
import { say, type World } from './world.ts';

/** What the world lends to a run; with `debug` each request and each answer is a line on stderr. */
export function effectsOf(world: World, debug = false): Effects {
  return {
    clock: world.clock,
    random: world.random,
    streams: { stdin: world.stdin, stdout: world.stdout },
    notice: (message) => say(world, message),
    ...(debug ? { trace: (line: string) => say(world, line) } : {}),
  };
}
