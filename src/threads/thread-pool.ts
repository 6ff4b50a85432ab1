import { getCompileCacheDir } from 'node:module';
import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { PerilbookError } from '../base/errors.ts';
import { rebuildError, type ThreadReply, type ThreadRequest } from './thread-messages.ts';

/** More threads than this gain nothing: one thread writes the results of the others. */
const MOST_THREADS = 3;

/** How many threads work on large files beside this one; 0 where there is one core. */
export function threadsOfMachine(): number {
  return Math.min(availableParallelism() - 1, MOST_THREADS);
}

export interface PoolOptions {
  readonly threads: number;
  /** The work of the threads, for the error if one dies: `looked up locations`. */
  readonly purpose: string;
}

/** Memory for short-lived objects. With more, threads use more and are no faster. */
const YOUNG_MB = 6;

export interface Lane<Task, Result> {
  /** @param transfer memory of the task that is moved and not copied */
  run(task: Task, transfer?: readonly ArrayBuffer[]): Promise<Result>;
}

/** Threads that do works, one work or several at a time. They start with the first work. */
export class ThreadPool implements AsyncDisposable, Disposable {
  readonly #options: PoolOptions;
  #threads: readonly PoolThread[] | null = null;
  #works = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get threads(): number {
    return this.#options.threads;
  }

  /** Begins a work in all threads.
   * @param module `import.meta.url` of the module that exports it as `inThread`
   * @param setup the start data of each thread
   * @param here runs tasks in this thread too: one more thread took 75 MB more
   * @param weight how many tasks of a thread take the time of one here: this thread does other work as well */
  begin<Setup, Task, Result>(
    module: string,
    setup: Setup,
    here?: (task: Task) => Promise<Result>,
    weight = 2,
  ): PoolWork<Task, Result> {
    this.#threads ??= Array.from(
      { length: this.#options.threads },
      () => new PoolThread(this.#options),
    );
    const work = this.#works++;
    const ready = new Set<PoolThread>();
    for (const thread of this.#threads) {
      const begun = () => void ready.add(thread);
      thread.ask({ kind: 'begin', work, module, setup }).then(begun, begun);
    }
    return makeWork(work, this.#threads, ready, here && makeOwnLane(here, weight));
  }

  /** Ends the threads, at once where nothing waits for it. */
  [Symbol.dispose](): void {
    for (const thread of this.#threads ?? []) thread.stop().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all((this.#threads ?? []).map((thread) => thread.stop()));
  }
}

/** A work of a pool: it runs tasks. */
interface PoolWork<Task, Result> extends Lane<Task, Result>, AsyncDisposable {
  /** Where the next task runs, for tasks that belong together. */
  choose(): Lane<Task, Result>;
}

/** A work of a pool. Disposing of it waits for the tasks that were begun.
 * @param ready the threads that have loaded the work's module and setup, or could not */
function makeWork<Task, Result>(
  work: number,
  threads: readonly PoolThread[],
  ready: ReadonlySet<PoolThread>,
  own: OwnLane<Task, Result> | undefined,
): PoolWork<Task, Result> {
  const runIn = (thread: PoolThread, task: Task, transfer: readonly ArrayBuffer[]) =>
    thread.ask({ kind: 'task', work, task }, transfer) as Promise<Result>;
  const laneOf = (thread: PoolThread): Lane<Task, Result> => ({
    run: (task, transfer = []) => runIn(thread, task, transfer),
  });
  /** The thread with the fewest waiting tasks. While a thread loads its modules, this one does the work: results are used in the order of
   * the tasks, so waiting for the first took 0.3 s at the start of each phase. */
  const choose = (): Lane<Task, Result> => {
    const able = own === undefined ? threads : threads.filter((thread) => ready.has(thread));
    const least = able.reduce<PoolThread | null>(
      (a, b) => (a && a.waiting <= b.waiting ? a : b),
      null,
    );
    const isHere = own !== undefined && (least === null || own.waiting() < least.waiting);
    return isHere ? own : laneOf(least!);
  };
  return {
    run: (task: Task, transfer: readonly ArrayBuffer[] = []): Promise<Result> =>
      choose().run(task, transfer),

    choose,
    async [Symbol.asyncDispose](): Promise<void> {
      const ended = own?.end();
      const ends = threads.map((thread) => thread.ask({ kind: 'end', work }));
      // If a work could not begin or a thread died, a task has already thrown the error.
      await Promise.allSettled([...ends, ended]);
    },
  };
}

/** This thread, as one that runs tasks. */
interface OwnLane<Task, Result> extends Lane<Task, Result> {
  /** How many tasks are not ended, in those of a thread. */
  waiting(): number;
  end(): Promise<unknown>;
}

function makeOwnLane<Task, Result>(
  here: (task: Task) => Promise<Result>,
  weight: number,
): OwnLane<Task, Result> {
  /** Resolves when all tasks so far have ended. */
  let idle: Promise<unknown> = Promise.resolve();
  let tasks = 0;
  let isEnded = false;
  return {
    waiting: () => weight * tasks,

    run(task): Promise<Result> {
      tasks++;
      const result = idle.then(async () => {
        // A task may run without waiting. Process the threads' answers first, so that they get their next tasks.
        await nextTurn();
        if (isEnded) throw new Error('The work has ended');
        return await here(task);
      });
      const ended = () => tasks--;
      idle = result.then(ended, ended);
      return result;
    },

    end() {
      isEnded = true;
      return idle;
    },
  };
}

/** The address of a module beside another, which does not load it.
 * @param name of the file without its extension: compiled it is a .js file, run from source a .ts file
 * @param beside `import.meta.url` of the other */
export function moduleBeside(name: string, beside: string): string {
  return new URL(`./${name}${beside.slice(beside.lastIndexOf('.'))}`, beside).href;
}

const MODULE = new URL(moduleBeside('thread', import.meta.url));

class PoolThread {
  readonly #worker: Worker;
  readonly #asked: PromiseWithResolvers<unknown>[] = [];
  /** Why it runs no more tasks; the first reason counts. */
  #lost: Error | null = null;

  constructor({ purpose }: PoolOptions) {
    const cache = getCompileCacheDir();
    this.#worker = new Worker(MODULE, {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
      // A thread does not inherit the cache of compiled code: without it each takes 0.15 s and 20 MB more.
      ...(cache === undefined ? {} : { env: { NODE_COMPILE_CACHE: cache } }),
    });
    this.#worker.on('message', (reply: ThreadReply) => {
      const asked = this.#asked.shift()!;
      if ('result' in reply) asked.resolve(reply.result);
      else asked.reject(rebuildError(reply.error));
    });
    this.#worker.on('error', (error: Error & { code?: string }) =>
      this.#lose(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? deathError(purpose, 'ran out of memory', error)
          : error,
      ),
    );
    this.#worker.on('exit', (code) => this.#lose(deathError(purpose, `ended with code ${code}`)));
  }

  /** How many tasks are not ended. */
  get waiting(): number {
    return this.#asked.length;
  }

  async ask(request: ThreadRequest, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.#lost !== null) throw this.#lost;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.push(asked);
    this.#worker.postMessage(request, [...transfer]);
    return await asked.promise;
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    for (const asked of this.#asked.splice(0)) asked.reject(this.#lost);
  }
}

function deathError(purpose: string, how: string, cause?: Error): PerilbookError {
  const hint = 'Run again: the answers that are stored are kept.';
  return new PerilbookError('THREAD_FAILED', `A thread that ${purpose} ${how}`, hint, {}, cause);
}

/** Runs up to `atOnce` tasks at a time, and yields their results in the order of the tasks. When the reader stops, the results of unfinished
 * tasks are ignored. */
export async function* inOrder<Task, Result>(
  tasks: Iterable<Task>,
  atOnce: number,
  run: (task: Task) => Promise<Result>,
): AsyncGenerator<readonly [Task, Result]> {
  const inWork: [Task, Promise<Result>][] = [];
  for (const task of tasks) {
    const result = run(task);
    // The error is thrown in the task's turn; until then it must not count as unhandled.
    result.catch(() => {});
    inWork.push([task, result]);
    if (inWork.length < atOnce) continue;
    const [first, ended] = inWork.shift()!;
    yield [first, await ended];
  }
  for (const [task, ended] of inWork) yield [task, await ended];
}
