import { PassThrough } from 'node:stream';
import { systemClock } from '../clock.ts';
import type { JobFolders } from '../run/settings/settings.ts';
import { processOwner } from '../running-processes.ts';
import type { RunEvent } from './run-events.ts';
import type { RunHost } from './run-host.ts';

/**
 * A program as the host of runs: no environment but the one that was passed, and events in place of printed notices. Standard input and
 * output belong to the program: `-` is refused before it is read.
 */
export function libraryHost(folders: JobFolders, env: RunHost['env'], onEvent: (event: RunEvent) => void): RunHost {
  const notice = (message: string) => onEvent({ type: 'notice', message });
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough() };
  return { ...folders, env, clock: systemClock, random: Math.random, notice, streams, owner: processOwner() };
}
