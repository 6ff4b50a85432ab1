import { existsSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { systemClock } from '../base/clock.ts';
import { PerilbookError } from '../base/errors.ts';
import { processOwner } from '../base/running-processes.ts';
import { createCellAreaFinder } from '../data/tables/cell-area-finder.ts';
import { type DataDatabase, openDataReadOnly, readingData } from '../data/tables/data-database.ts';
import { describeData } from '../data/tables/describe-data.ts';
import type { Job, JobFolders } from '../job/settings.ts';
import { requireFile } from '../rows/files/input-file.ts';
import type { Streams } from '../rows/open/open-row-file.ts';
import { type Connection, lossSourceOf } from '../run/frame/connection-kinds.ts';
import { openStoreAt } from '../run/frame/open-store-at.ts';
import type { RenewContext } from '../run/frame/present-data.ts';
import {
  type Effects,
  type OpenedAreas,
  openContext,
  type RunContext,
  type RunOptions,
} from '../run/frame/run-context.ts';
import type { RunEvent } from '../run/frame/run-events.ts';
import type { Owner, Store } from '../store/port.ts';
import {
  type ConnectionContext,
  connect,
  getBoundariesCommand,
  getLossRatesCommand,
  unopenedConnection,
  withNewData,
} from './connection.ts';

/** The program or process that runs jobs. */
export interface RunHost extends ConnectionContext {
  readonly owner: Owner;
  readonly streams: Streams;
}

/** A program as the host of runs: no environment but the one that was passed, and events in place of printed notices. Standard input and
 * output belong to the program: `-` is refused before it is read. */
export function libraryHost(
  folders: JobFolders,
  env: RunHost['env'],
  onEvent: (event: RunEvent) => void,
): RunHost {
  const notice = (message: string) => onEvent({ type: 'notice', message });
  const streams = { stdin: new PassThrough().end(), stdout: new PassThrough() };
  return {
    ...folders,
    env,
    clock: systemClock,
    random: Math.random,
    notice,
    streams,
    owner: processOwner(),
  };
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

export interface OpenRun extends AsyncDisposable {
  readonly context: RunContext;
  readonly renew: RenewContext;
}

/** Opens the store and the connection of a job and makes its context; disposing closes both. @throws STORE_*, KEY_*, LOCAL_DATA */
export async function openRun(
  host: RunHost,
  job: Job,
  { isPlan = false, trace, announce, check, ...options }: OpenRunOptions,
): Promise<OpenRun> {
  await using opened = new AsyncDisposableStack();
  // A mistyped name is reported before missing data.
  if (job.parts === null && job.input !== '-') requireFile(job.input);
  const store = opened.use(await openStoreAt(job.store, host.clock, host.owner));
  await check?.(store);
  const connection = isPlan
    ? await unopenedConnection(host, job)
    : opened.use(await connect(host, job, announce)).connection;
  tellLosses(host, job, connection);
  const effects = { ...makeEffects(host), ...(trace && { trace }) };
  const contextWith = (given: Connection) =>
    openContext(job, { ...options, connection: given, store, effects });
  const context = await contextWith(connection);
  const owned = opened.move();
  return {
    context,
    renew: async () => await contextWith(withNewData(host, job, connection)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Says of a job with losses why its rates stay unknown, and what gets them. */
function tellLosses(host: RunHost, job: Job, connection: Connection): void {
  if (!job.losses || (connection.kind === 'service' && connection.sample)) return;
  const data = lossSourceOf(connection, job)?.data;
  if (data?.hasLossRates) return;
  const loaded = data?.datasets.some(({ name }) => name === 'nri') === true;
  const why = loaded
    ? 'The loaded index has no loss rates of buildings: an earlier version loaded it, or its file lacks them'
    : 'No index with loss rates of buildings is on this machine';
  host.notice(
    `${why}. Expected annual losses stay empty. Get them: ${getLossRatesCommand(job.input, host.workingFolder)}`,
  );
}

/** Opens the boundaries for a job with `areas`, in one read transaction, so that a `data update` meanwhile has no effect. Sample
 * boundaries are made up and must not decide what is bought.
 * @throws PerilbookError SERVICE_DATA when the boundaries are not here */
export function openAreas(context: ConnectionContext, job: Job): OpenedAreas {
  using opened = new DisposableStack();
  const { dataFile: file } = job;
  const database = opened.use(openWithAreas(context, job));
  const finder = readingData(file, () => {
    database.exec('BEGIN');
    return createCellAreaFinder(database, job.areas!, job.precision);
  });
  const find: typeof finder = (...asked) => readingData(file, () => finder(...asked));
  const owned = opened.move();
  return { find, [Symbol.dispose]: () => owned.dispose() };
}

/** Checks that the boundaries are here, without reading them: they may be of 85,000 tracts. @throws PerilbookError SERVICE_DATA */
export function requireAreas(context: ConnectionContext, job: Job): void {
  openWithAreas(context, job)[Symbol.dispose]();
}

function openWithAreas(context: ConnectionContext, job: Job): DataDatabase {
  const level = job.areas!;
  const { dataFile: file } = job;
  const hint = `Run: ${getBoundariesCommand(level, job.input, context.workingFolder)}`;
  const none = `There are no ${NAMES[level]} boundaries on this machine`;
  if (!existsSync(file)) throw new PerilbookError('SERVICE_DATA', none, hint, { file });
  using opened = new DisposableStack();
  const database = opened.use(openDataReadOnly(file));
  const levels = readingData(file, () => describeData(database)).datasets.filter(
    ({ name, sample }) => name === 'areas' && !(sample && job.service.kind === 'remote'),
  );
  if (!levels.some((dataset) => dataset.level === level)) {
    const [other] = levels;
    if (other === undefined) throw new PerilbookError('SERVICE_DATA', none, hint, { file });
    const message = `There are ${NAMES[other.level as 'tract']} boundaries on this machine, but no ${NAMES[level]} boundaries`;
    throw new PerilbookError('SERVICE_DATA', message, `${hint}, or set areas: ${other.level}.`, {
      file,
    });
  }
  opened.move();
  return database;
}

const NAMES = { tract: 'census tract', county: 'county' } as const;
