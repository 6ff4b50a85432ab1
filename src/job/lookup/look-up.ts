import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { sleepUntilSteady } from '../../clock.ts';
import { PerilbookError } from '../../errors.ts';
import { threadModule } from '../../start-thread.ts';
import { type Progress, record } from '../buying/progress.ts';
import { deadlineOf, type Stop, stopFor, timeIsOver } from '../buying/stop.ts';
import type { Effects, Prepared } from '../prepare.ts';
import type { LocalData } from './local-data.ts';
import { CELLS_PER_BATCH, endWriting, type LookupMessage, type LookupTask, STOPPED } from './lookup-task.ts';
import { sortedCells } from './sorted-cells.ts';

export interface LookUpOptions {
  readonly effects: Effects;
  readonly progress: Progress;
  readonly interrupt: AbortSignal;
  /** The most workers; default: one per core. */
  readonly workers?: number;
  /** The worker's module; only tests name another. */
  readonly module?: URL;
}

/** A worker takes some 300 ms to start: fewer batches are not worth another one. */
const BATCHES_PER_WORKER = 4;

/** The answers of a batch die together: a young generation that holds them copies fewer. */
const YOUNG_MB = 64;

const MODULE = threadModule('lookup-worker', import.meta.url);

/**
 * Looks up what the plan's cells lack in the local data, on all cores. Each worker reads the data file and writes its batches
 * into the store by connections of its own: answers are never copied between threads. An interrupt lets the batches in work
 * end; what is stored then is not looked up again.
 *
 * @returns why it ended early; null when everything was looked up
 * @throws LOCAL_DATA where the data was replaced since the plan, LOOKUP_FAILED where a worker ended unexpectedly
 */
export async function lookUp(
  { job, plan, source, freshness }: Pick<Prepared, 'job' | 'plan' | 'source' | 'freshness'>,
  data: LocalData,
  { effects, progress, interrupt, workers: most = availableParallelism(), module = MODULE }: LookUpOptions,
): Promise<Stop | null> {
  const { order, missing, scan } = plan;
  if (order.length === 0) return null;
  if (interrupt.aborted) return INTERRUPTED;
  const control = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  const task: Omit<LookupTask, 'worker'> = {
    ...{ dataFile: data.file, version: data.version, counts: job.counts },
    ...{ asOf: data.asOf, now: Math.max(data.asOf, effects.clock.now()) },
    ...{ store: job.store, source, control },
    cells: sortedCells(order, scan.cells, missing),
  };
  let stop: Stop | null = null;
  const stopBy = (why: Stop | null) => {
    stop ??= why;
    Atomics.store(control, STOPPED, 1);
  };
  const onInterrupt = () => stopBy(INTERRUPTED);
  interrupt.addEventListener('abort', onInterrupt);
  // After the listener: what shows the progress may abort.
  record(progress, 'lookingUp', order.length);
  const over = new AbortController();
  const deadline = deadlineOf(job, freshness.startedAt, effects.clock);
  if (deadline !== null) {
    void sleepUntilSteady(effects.clock, deadline, over.signal).then(
      () => over.signal.aborted || stopBy(timeIsOver(job)),
    );
  }
  const count = Math.max(1, Math.min(most, Math.ceil(order.length / (CELLS_PER_BATCH * BATCHES_PER_WORKER))));
  const onDone = (cells: number) => record(progress, 'lookedUp', cells);
  try {
    const works = Array.from({ length: count }, (_, index) => {
      const ofWorker: LookupTask = { ...task, worker: index + 1 };
      return runWorker(module, ofWorker, onDone).catch((error) => {
        stopBy(null);
        // A worker that died while it wrote would keep the others waiting.
        endWriting(ofWorker);
        throw error;
      });
    });
    // All of them: a worker that is still writing must not outlive the run.
    const failed = (await Promise.allSettled(works)).find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  } finally {
    over.abort();
    interrupt.removeEventListener('abort', onInterrupt);
  }
  return progress.cellsDone < order.length ? stop : null;
}

const INTERRUPTED = stopFor('interrupted', 'Interrupted.');

/** Resolves when the worker has ended as it should. */
function runWorker(module: URL, task: LookupTask, onDone: (cells: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(module, { workerData: task, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
    let hasEnded = false;
    worker.on('message', (message: LookupMessage) => {
      if (message.kind === 'done') onDone(message.cells);
      else if (message.kind === 'ended') hasEnded = true;
      else reject(new PerilbookError(message.code, message.message, message.hint, message.context));
    });
    worker.on('error', (error: Error & { code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? lost('ran out of memory', error) : error),
    );
    // The last event. After an error this changes nothing: the promise is settled.
    worker.on('exit', (code) => (hasEnded ? resolve() : reject(lost(`ended with code ${code}`))));
  });
}

function lost(how: string, cause?: Error): PerilbookError {
  return new PerilbookError(
    'LOOKUP_FAILED',
    `A worker that looked up locations ${how}`,
    'Run again: what was looked up is kept.',
    {},
    cause,
  );
}
