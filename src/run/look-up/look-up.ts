import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { knownCounties } from '../../geo/us-counties.ts';
import { knownCoverage } from '../../geo/us-coverage.ts';
import type { WrittenPlaces } from '../../store/answers/port.ts';
import { type ReadonlyTopicSets, TopicSets } from '../../store/answers/topic-set.ts';
import { makeTurn } from '../../threads/shared-turn.ts';
import { inOrder, moduleBeside, ThreadPool } from '../../threads/thread-pool.ts';
import type { LocalData } from '../frame/local-data.ts';
import { addTo, enterPhase } from '../frame/progress.ts';
import type { RunContext } from '../frame/run-context.ts';
import { onEnd, type Stop } from '../frame/stop.ts';
import type { LookUpPlan, Plan } from '../plan/planning.ts';
import type { CellNumbers } from '../plan/reach.ts';
import type { SourceFields } from '../plan/source-fields.ts';
import { type CellTable, inMapOrder } from '../scan/cell-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { LookupSetup, LookupTask, LookupThread, SharedCells } from './lookup-task.ts';

export interface LookUpOptions {
  /** How many threads look up beside this one, in a pool of their own; default: those of the other cores. */
  readonly threads?: number;
  /** The module that the threads run; only tests name another one. */
  readonly module?: string;
}

/** Cells of one transaction: some 50 ms of work, so that an interrupt takes effect at once and a kill loses little. */
export const CELLS_PER_BATCH = 1_000;

/** A thread takes some 300 ms to start: fewer batches are not worth another one. */
const BATCHES_PER_THREAD = 4;

const MODULE = moduleBeside('lookup-task', import.meta.url);
const LOSS_MODULE = moduleBeside('loss-task', import.meta.url);

/** Looks up the missing topics of the plan's cells in the local data, on all cores. After an interrupt the batches in progress end; the
 * next run does not look up stored answers again.
 * @returns why it ended early; null when everything was looked up
 * @throws LOCAL_DATA where the data was replaced since the plan, THREAD_FAILED where a thread ended unexpectedly */
export async function lookUp(
  context: RunContext,
  { order, missing, scan, fields }: LookUpPlan,
  data: LocalData,
  options: LookUpOptions = {},
): Promise<Stop | null> {
  const asked = { order, scan, missing, fields };
  const from = { data, source: context.source };
  return await lookUpCells(context, asked, from, { module: MODULE, ...options });
}

/** Looks up the loss rates that the store lacks, as `lookUp` does topics. They cost nothing. */
export async function lookUpLossRates(
  context: RunContext,
  { scan, fields: { rates } }: Pick<Plan, 'scan' | 'fields'>,
): Promise<void> {
  if (rates?.source == null) return;
  const order = await rates.lacking();
  if (order.length === 0) return;
  const asked = { order, scan, missing: new TopicSets(scan.cells.size), fields: null };
  await lookUpCells(context, asked, context.losses!, { module: LOSS_MODULE });
  rates.mayHave(order);
}

/** The data that is looked up, and the number of its source in the store. */
interface DataOfLookUp {
  readonly data: LocalData;
  readonly source: number;
}

interface AskedCells {
  readonly order: CellNumbers;
  readonly scan: Pick<Scan, 'cells' | 'inThreads'>;
  readonly missing: ReadonlyTopicSets;
  /** Get what was looked up; null where nothing does. */
  readonly fields: SourceFields | null;
}

async function lookUpCells(
  context: RunContext,
  { order, scan, missing, fields }: AskedCells,
  { data, source }: DataOfLookUp,
  { threads: most, module = MODULE }: LookUpOptions,
): Promise<Stop | null> {
  if (order.length === 0) return null;
  const { job, effects, progress } = context;
  let stop = null as Stop | null;
  using _ = onEnd(context, effects.clock, (why) => {
    stop ??= why;
  });
  if (stop !== null) return stop;
  // After the listener is set, because the progress display may abort.
  enterPhase(progress, 'looking_up', { cells: order.length, cellsDone: 0 });
  const setup: LookupSetup = {
    dataFile: data.file,
    version: data.version,
    counts: job.counts,
    store: job.store,
    source,
    asOf: data.asOf,
    now: Math.max(data.asOf, effects.clock.now()),
    cells: sortedCells(order, scan.cells, missing),
    fields: fields?.beginWritten() ?? null,
    turn: makeTurn(),
    known: null,
  };
  using _young = allYoung();
  const { inThread } = (await import(module)) as { readonly inThread: LookupThread };
  await using here = endingLast(await inThread(setup));
  await using own = threadsFor(order.length, most, scan);
  const pool = own ?? scan.inThreads!.pool;
  const known =
    pool.threads === 0 ? null : { coverage: knownCoverage(), counties: knownCounties() };
  await using work = pool.begin<LookupSetup, LookupTask, WrittenPlaces | null>(
    module,
    { ...setup, known },
    here.run,
  );
  const tasks = batchesOf(order.length, () => stop === null);
  // A thread has its next batch before it has told of the last one.
  const atOnce = 2 * pool.threads + 1;
  const looked = inOrder(tasks, atOnce, (task) => work.run(task));
  for await (const [{ from, to }, written] of looked) {
    if (written !== null) await fields!.takeWritten(written);
    addTo(progress, { cellsDone: to - from });
  }
  return progress.cellsDone < order.length ? stop : null;
}

function* batchesOf(count: number, mayGoOn: () => boolean): Generator<LookupTask> {
  for (let from = 0; from < count && mayGoOn(); from += CELLS_PER_BATCH)
    yield { from, to: Math.min(count, from + CELLS_PER_BATCH) };
}

/** What runs tasks in this thread, to be ended after the work that gives it some. */
function endingLast({ run, end }: Awaited<ReturnType<LookupThread>>) {
  return { run, [Symbol.asyncDispose]: async () => await end?.() };
}

/** A pool for so many cells; null where the threads that scanned are enough. A thread of its own takes 0.3 s and 90 MB, and V8 keeps its
 * memory for eight seconds after its end. */
function threadsFor(
  cells: number,
  most = availableParallelism() - 1,
  { inThreads }: Pick<Scan, 'inThreads'>,
): ThreadPool | null {
  const enough = Math.floor(cells / (CELLS_PER_BATCH * BATCHES_PER_THREAD));
  const threads = Math.min(most, enough);
  return inThreads !== null && inThreads.pool.threads >= threads
    ? null
    : new ThreadPool({ threads, purpose: 'looked up locations' });
}

/** V8 puts all objects that a line of code makes into the memory of old ones, once most of the first ones stayed: a thread's memory grew by
 * 80 MB of answers that were gone at once. While this is held, all begin among the young. */
function allYoung(): Disposable {
  setFlagsFromString('--no-allocation-site-pretenuring');
  return { [Symbol.dispose]: () => setFlagsFromString('--allocation-site-pretenuring') };
}

/** Puts cells into the order of the map. */
export function sortedCells(
  order: CellNumbers,
  cells: CellTable,
  missing: ReadonlyTopicSets,
): SharedCells {
  const shared = {
    lat7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    lng7: new Int32Array(new SharedArrayBuffer(order.length * 4)),
    missing: new Float64Array(new SharedArrayBuffer(order.length * 8)),
  };
  for (const [index, number] of inMapOrder(order, cells).entries()) {
    const { lat7, lng7 } = cells.cell(number);
    shared.lat7[index] = lat7;
    shared.lng7[index] = lng7;
    shared.missing[index] = missing.get(number);
  }
  return shared;
}
