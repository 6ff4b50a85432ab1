import { parentPort } from 'node:worker_threads';
import { plainError } from './plain-error.ts';
import type { TaskReply } from './thread-pool.ts';

/** The thread's side of `ThreadPool`: runs the tasks that come, one after the other.
 * @param memoryOf the memory of a result that is moved and not copied */
export function answerTasks<Task, Result>(
  run: (task: Task) => Promise<Result>,
  memoryOf: (result: Result) => readonly ArrayBuffer[],
): void {
  let last: Promise<void> = Promise.resolve();
  parentPort!.on('message', (task: Task) => {
    last = last.then(async () => {
      let reply: TaskReply<Result>;
      let memory: readonly ArrayBuffer[] = [];
      try {
        const result = await run(task);
        memory = memoryOf(result);
        reply = { result };
      } catch (error) {
        reply = { error: plainError(error) };
      }
      parentPort!.postMessage(reply, [...memory]);
    });
  });
}
