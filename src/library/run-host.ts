import { PassThrough } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { processOwner } from '../base/running-processes.ts';
import type { Job, JobFolders } from '../job/settings.ts';
import { requireFile } from '../rows/files/input-file.ts';
import type { Streams } from '../rows/open-row-file.ts';
import { openStoreAt } from '../run/open-store-at.ts';
import { type Effects, openContext, type RunContext, type RunOptions } from '../run/run-context.ts';
import type { Owner, Store } from '../store/port.ts';
import { type ConnectionContext, connect, unopenedConnection } from './connection.ts';
import { openAreas } from './open-areas.ts';
import type { RunEvent } from './run-events.ts';

/** The program or process that runs jobs. */
export interface RunHost extends ConnectionContext {
  readonly owner: Owner;
  readonly streams: Streams;
}

/** A program as the host of runs: no environment but the one that was passed, and events in place of printed notices. Standard input and
 * output belong to the program: `-` is refused before it is read. */
export function libraryHost(folders: JobFolders, env: RunHost['env'], onEvent: (event: RunEvent) => void): RunHost {
  const notice = (message: string) => onEvent({ type: 'notice', message });
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough() };
  return { ...folders, env, clock: systemClock, random: Math.random, notice, streams, owner: processOwner() };
}

/** What the stages of a run get of their host. */
export function makeEffects(host: RunHost): Effects {
  const { clock, random, notice, streams } = host;
  return { clock, random, notice, streams, openAreas: (job) => openAreas(host, job) };
}

export interface OpenRunOptions extends Pick<RunOptions, 'progress' | 'interrupt'> {
  /** For a price alone: no service is started, and a missing key is no error. */
  readonly isPlan?: boolean;
  readonly trace?: Effects['trace'];
  /** Gets a message before a step that takes seconds; default: the host's `notice`. */
  readonly announce?: (line: string) => void;
  /** Called with the open store: what must not be replaced is refused before a service is started. */
  readonly check?: (store: Store) => Promise<void>;
}

/** Opens the store and the connection of a job and makes its context; disposing closes both. @throws STORE_*, KEY_*, LOCAL_DATA */
export async function openRun(
  host: RunHost,
  job: Job,
  { isPlan = false, trace, announce, check, ...options }: OpenRunOptions,
): Promise<{ readonly context: RunContext } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  // A mistyped name is reported before missing data.
  if (job.parts === null && job.input !== '-') requireFile(job.input);
  const store = opened.use(await openStoreAt(job.store, host.clock, host.owner));
  await check?.(store);
  const connection = isPlan
    ? await unopenedConnection(host, job)
    : opened.use(await connect(host, job, announce)).connection;
  const effects = { ...makeEffects(host), ...(trace && { trace }) };
  const context = await openContext(job, { ...options, connection, store, effects });
  const owned = opened.move();
  return { context, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
