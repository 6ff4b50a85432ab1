import type { Effects } from '../job/prepare.ts';
import { say, type World } from './world.ts';

/** What the world lends to a run. */
export function effectsOf(world: World, notice: (message: string) => void = (message) => say(world, message)): Effects {
  return {
    clock: world.clock,
    random: world.random,
    streams: { stdin: world.stdin, stdout: world.stdout },
    notice,
  };
}
