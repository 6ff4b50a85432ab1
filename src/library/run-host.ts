import type { Streams } from '../rows/open-row-file.ts';
import { openStoreAt } from '../run/open-store-at.ts';
import { type Effects, openContext, type RunContext, type RunOptions } from '../run/run-context.ts';
import type { Job } from '../run/settings/settings.ts';
import type { Owner, Store } from '../store/port.ts';
import { type ConnectionContext, connect, unopenedConnection } from './connection.ts';
import { openAreas } from './open-areas.ts';

/** The program or process that runs jobs. */
export interface RunHost extends ConnectionContext {
  readonly owner: Owner;
  readonly streams: Streams;
}

/** What the stages of a run get of their host. */
export function effectsOf(host: RunHost): Effects {
  const { clock, random, notice, streams } = host;
  return { clock, random, notice, streams, openAreas: (job) => openAreas(host, job) };
}

export interface OpenRunOptions extends Pick<RunOptions, 'progress' | 'interrupt' | 'approved'> {
  /** Only a price is asked for: no service is started, and a missing key is no error. */
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
  const store = opened.use(await openStoreAt(job.store, host.clock, host.owner));
  await check?.(store);
  const connection = isPlan ? unopenedConnection(host, job) : opened.use(await connect(host, job, announce)).connection;
  const effects = { ...effectsOf(host), ...(trace && { trace }) };
  const context = await openContext(job, { ...options, connection, store, effects });
  const owned = opened.move();
  return { context, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
