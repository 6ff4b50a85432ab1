import { PassThrough } from 'node:stream';
import { systemClock } from '../clock.ts';
import type { Effects } from '../run/run-context.ts';
import type { Surroundings } from '../run/settings/settings.ts';
import type { ConnectionContext } from './connection.ts';
import { openAreas } from './open-areas.ts';
import type { RunEvent } from './run-events.ts';

/** What connections get in a program: no environment but the one that was passed, and events in place of printed notices. */
export function libraryContext(
  folders: Surroundings,
  env: ConnectionContext['env'],
  onEvent: (event: RunEvent) => void,
): ConnectionContext {
  const notice = (message: string) => onEvent({ type: 'notice', message });
  return { ...folders, env, clock: systemClock, random: Math.random, notice };
}

/** What runs get. Standard input and output belong to the program: `-` is refused before it is read. */
export function libraryEffects(context: ConnectionContext): Effects {
  const { clock, random, notice } = context;
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough() };
  return { clock, random, notice, streams, openAreas: (job) => openAreas(context, job) };
}
