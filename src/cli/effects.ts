import type { Effects } from '../job/prepare.ts';
import { say, type World } from './world.ts';

/** What the world lends to a run. */
export function effectsOf(world: World): Effects {
  return {
    clock: world.clock,
    random: world.random,
    streams: { stdin: world.stdin, stdout: world.stdout },
    notice: (message) => say(world, message),
  };
}
