import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { knownCounties } from '../../geo/us-counties.ts';
import { knownCoverage } from '../../geo/us-coverage.ts';
import { type ReadonlyTopicSets, TopicSets } from '../../store/answers/topic-set.ts';
import { type Lane, moduleBeside, ThreadPool } from '../../threads/thread-pool.ts';
import type { LocalData } from '../frame/local-data.ts';
import { addTo, enterPhase } from '../frame/progress.ts';
import type { RunContext } from '../frame/run-context.ts';
import { onEnd, type Stop } from '../frame/stop.ts';
import type { LookUpPlan, Plan } from '../plan/planning.ts';
import type { CellNumbers } from '../plan/reach.ts';
import { type CellTable, inMapOrder } from '../scan/cell-table.ts';
import type { LookupSetup, LookupTask, LookupThread, SharedCells } from './lookup-task.ts';

export interface LookUpOptions {
  /** The most threads; default: one per core. */
  readonly threads?: number;
  /** The module that the threads run; only tests name another one. */
  readonly module?: string;
}

/** Cells of one transaction: some 50 ms of work, so that an interrupt takes effect at once and a kill loses little. */
export const CELLS_PER_BATCH = 1_000;

/** A thread takes some 300 ms to start: fewer batches are not worth another one. */
const BATCHES_PER_THREAD = 4;

/** So few are looked up in this thread, before another one would have started. */
const FEW_CELLS = 100;

const MODULE = moduleBeside('lookup-task', import.meta.url);
const LOSS_MODULE = moduleBeside('loss-task', import.meta.url);

/** Looks up the missing topics of the plan's cells in the local data, on all cores. After an interrupt the batches in progress end; the
 * next run does not look up stored answers again.
 *
 * The threads take turns writing into the store: SQLite's writers poll for each other's transactions in steps of up to 100 ms, and here
 * the next thread is notified at once.
 * @returns why it ended early; null when everything was looked up
 * @throws LOCAL_DATA where the data was replaced since the plan, THREAD_FAILED where a thread ended unexpectedly */
export async function lookUp(
  context: RunContext,
  { order, missing, scan }: LookUpPlan,
  data: LocalData,
  options: LookUpOptions = {},
): Promise<Stop | null> {
  const asked = { order, cells: scan.cells, missing };
  const from = { data, source: context.source };
  return await lookUpCells(context, asked, from, { module: MODULE, ...options });
}

/** Looks up the loss rates that the store lacks, as `lookUp` does topics. They cost nothing. */
export async function lookUpLossRates(
  context: RunContext,
  { scan: { cells }, fields: { rates } }: Pick<Plan, 'scan' | 'fields'>,
): Promise<void> {
  if (rates?.source == null) return;
  const order = await rates.lacking();
  if (order.length === 0) return;
  const asked = { order, cells, missing: new TopicSets(cells.size) };
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
  readonly cells: CellTable;
  readonly missing: ReadonlyTopicSets;
}

async function lookUpCells(
  context: RunContext,
  { order, cells, missing }: AskedCells,
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
  const isHere = most === undefined && order.length <= FEW_CELLS;
  const setup: LookupSetup = {
    dataFile: data.file,
    version: data.version,
    counts: job.counts,
    store: job.store,
    source,
    asOf: data.asOf,
    now: Math.max(data.asOf, effects.clock.now()),
    cells: sortedCells(order, cells, missing),
    known: isHere ? null : { coverage: knownCoverage(), counties: knownCounties() },
  };
  const lookUpIn = (lanes: readonly Lane<LookupTask, null>[]) =>
    lookUpInThreads(
      lanes,
      order.length,
      () => stop === null,
      (done) => addTo(progress, { cellsDone: done }),
    );
  if (isHere) {
    const { inThread } = (await import(module)) as { readonly inThread: LookupThread };
    const runner = await inThread(setup);
    try {
      await lookUpIn([runner]);
    } finally {
      await runner.end?.();
    }
  } else {
    const enough = Math.ceil(order.length / (CELLS_PER_BATCH * BATCHES_PER_THREAD));
    const threads = Math.max(1, Math.min(most ?? availableParallelism(), enough));
    using _young = allYoung();
    await using pool = new ThreadPool({ threads, purpose: 'looked up locations' });
    await using work = pool.begin<LookupSetup, LookupTask, null>(module, setup);
    await lookUpIn(work.lanes());
  }
  return progress.cellsDone < order.length ? stop : null;
}

/** V8 puts all objects that a line of code makes into the memory of old ones, once most of the first ones stayed: a thread's memory grew by
 * 80 MB of answers that were gone at once. While this is held, all begin among the young. */
function allYoung(): Disposable {
  setFlagsFromString('--no-allocation-site-pretenuring');
  return { [Symbol.dispose]: () => setFlagsFromString('--allocation-site-pretenuring') };
}

/** Looks up cells batch by batch in all threads. Waits for all even if one fails: a thread that still writes must not outlive the run. */
async function lookUpInThreads(
  threads: readonly Lane<LookupTask, null>[],
  count: number,
  mayGoOn: () => boolean,
  onCells: (cells: number) => void,
): Promise<void> {
  let next = 0;
  let hasFailed = false;
  let stored: Promise<unknown> = Promise.resolve();
  async function lookUpIn(thread: Lane<LookupTask, null>): Promise<void> {
    while (mayGoOn() && !hasFailed && next < count) {
      const from = next;
      next = Math.min(count, from + CELLS_PER_BATCH);
      const cells = next - from;
      await thread.run({ kind: 'look_up', from, to: next });
      const turn = stored.then(() => thread.run({ kind: 'store' }));
      // The next thread may write even if this one fails.
      stored = turn.catch(() => {});
      await turn;
      onCells(cells);
    }
  }
  const lanes = threads.map((thread) =>
    lookUpIn(thread).catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  const failed = (await Promise.allSettled(lanes)).find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
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
