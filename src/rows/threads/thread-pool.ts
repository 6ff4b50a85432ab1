import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startThread } from '../../start-thread.ts';
import { errorOf, type PlainError } from './plain-error.ts';

/** What a thread sends back for a task. */
export type TaskReply<Result> = { readonly result: Result } | { readonly error: PlainError };

/** More threads than this gain nothing: one thread writes what the others make. */
const MOST_THREADS = 3;

/** How many threads work on a large file beside this one; 0 where there is one core. */
export function threadsOfMachine(): number {
  return Math.min(availableParallelism() - 1, MOST_THREADS);
}

/** Runs tasks one after the other. */
interface Lane<Task, Result> {
  /** How many tasks are not ended. */
  waiting(): number;
  run(task: Task, transfer: readonly ArrayBuffer[]): Promise<Result>;
  end(): Promise<unknown>;
}

/** Threads that run tasks (`answer-tasks.ts`), and this thread, which does its share: another thread in its place took 75 MB more. A
 * task goes to the one that has the fewest. */
export class ThreadPool<Task, Result> implements AsyncDisposable {
  readonly #lanes: readonly Lane<Task, Result>[];

  /**
   * @param setup what each thread is started with
   * @param here runs a task in this thread
   */
  constructor(module: URL, setup: unknown, count: number, here: (task: Task) => Promise<Result>) {
    const threads = Array.from({ length: count }, () => threadLane<Task, Result>(module, setup));
    this.#lanes = [...threads, ownLane(here)];
  }

  /** @param transfer memory of the task that is moved to a thread and not copied */
  run(task: Task, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    const lane = this.#lanes.reduce((a, b) => (b.waiting() < a.waiting() ? b : a));
    return lane.run(task, transfer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.end()));
  }
}

function ownLane<Task, Result>(here: (task: Task) => Promise<Result>): Lane<Task, Result> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let isEnded = false;
  return {
    // This thread does other work as well: it takes a third of what a thread does.
    waiting: () => 2 * waiting,
    run(task) {
      waiting++;
      const result = last.then(async () => {
        // A task may wait for nothing: the answers of the threads come before it, so that they get their next tasks.
        await nextTurn();
        if (isEnded) throw new Error('The threads have ended');
        return await here(task);
      });
      last = result.then(
        () => waiting--,
        () => waiting--,
      );
      return result;
    },
    end() {
      isEnded = true;
      return last;
    },
  };
}

function threadLane<Task, Result>(module: URL, setup: unknown): Lane<Task, Result> {
  const worker = startThread(module, setup);
  const waiting: PromiseWithResolvers<Result>[] = [];
  /** Why it runs no more tasks; the first reason counts. */
  let lost: Error | null = null;
  const fail = (error: Error) => {
    lost ??= error;
    for (const one of waiting.splice(0)) one.reject(lost);
  };
  worker.on('message', (reply: TaskReply<Result>) => {
    const ended = waiting.shift()!;
    if ('result' in reply) ended.resolve(reply.result);
    else ended.reject(errorOf(reply.error));
  });
  worker.on('error', fail);
  worker.on('exit', (code) => fail(new Error(`A thread that reads or writes rows ended with code ${code}`)));
  return {
    waiting: () => waiting.length,
    async run(task, transfer) {
      if (lost !== null) throw lost;
      const ended = Promise.withResolvers<Result>();
      waiting.push(ended);
      worker.postMessage(task, [...transfer]);
      return await ended.promise;
    },
    end: () => worker.terminate(),
  };
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
