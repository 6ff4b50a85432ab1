import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { errorOf, type PlainError } from './plain-error.ts';

/** What a thread sends back for a task. */
export type TaskReply<Result> = { readonly result: Result } | { readonly error: PlainError };

/** More threads than this gain nothing: one thread writes what the others make. */
const MOST_THREADS = 4;

/** How many threads work on a large file; 0 where there is one core. */
export function threadsOfMachine(): number {
  const cores = availableParallelism();
  return cores > 1 ? Math.min(cores, MOST_THREADS) : 0;
}

/** Rows die young. With the usual 48 MB each thread takes 40 MB more and is no faster. */
const YOUNG_MB = 6;

interface PoolThread<Result> {
  readonly worker: Worker;
  readonly waiting: PromiseWithResolvers<Result>[];
}

/** Threads that run tasks (`answer-tasks.ts`). A task goes to the thread with the fewest; a thread runs its own one after the other. */
export class ThreadPool<Task, Result> implements AsyncDisposable {
  readonly #threads: readonly PoolThread<Result>[];

  /** @param setup what each thread is started with */
  constructor(module: URL, setup: unknown, count: number) {
    this.#threads = Array.from({ length: count }, () => startThread<Result>(module, setup));
  }

  get size(): number {
    return this.#threads.length;
  }

  run(task: Task, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    const { worker, waiting } = this.#threads.reduce((a, b) => (b.waiting.length < a.waiting.length ? b : a));
    const ended = Promise.withResolvers<Result>();
    waiting.push(ended);
    worker.postMessage(task, [...transfer]);
    return ended.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread<Result>(module: URL, setup: unknown): PoolThread<Result> {
  const worker = new Worker(module, { workerData: setup, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
  const waiting: PromiseWithResolvers<Result>[] = [];
  const fail = (error: Error) => {
    for (const one of waiting.splice(0)) one.reject(error);
  };
  worker.on('message', (reply: TaskReply<Result>) => {
    const ended = waiting.shift()!;
    if ('result' in reply) ended.resolve(reply.result);
    else ended.reject(errorOf(reply.error));
  });
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`A thread that reads or writes rows ended with code ${code}`)));
  return { worker, waiting };
}

/** Runs tasks, so many at a time, and gives their results in the order of the tasks. What is in work when the reader stops is
 * left to end unheard. */
export async function* inOrder<Task, Result>(
  tasks: Iterable<Task>,
  atOnce: number,
  run: (task: Task) => Promise<Result>,
): AsyncGenerator<readonly [Task, Result]> {
  const inWork: [Task, Promise<Result>][] = [];
  for (const task of tasks) {
    const result = run(task);
    // It is reported when it is its turn; until then it must not count as unhandled.
    result.catch(() => {});
    inWork.push([task, result]);
    if (inWork.length < atOnce) continue;
    const [first, ended] = inWork.shift()!;
    yield [first, await ended];
  }
  for (const [task, ended] of inWork) yield [task, await ended];
}
