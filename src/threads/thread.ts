/** The module of all threads: begins works for the main thread (`thread-pool.ts`), and runs their tasks. */
import { parentPort } from 'node:worker_threads';
import {
  type InThread,
  plainError,
  type TaskRunner,
  type ThreadReply,
  type ThreadRequest,
} from './thread-messages.ts';

type AnyRunner = TaskRunner<unknown, unknown>;

const port = parentPort!;
const works = new Map<number, Promise<AnyRunner>>();
let last: Promise<void> = Promise.resolve();

port.on('message', (request: ThreadRequest) => {
  last = last.then(() => answer(request));
});

async function begin(module: string, setup: unknown): Promise<AnyRunner> {
  const { inThread } = (await import(module)) as {
    readonly inThread: InThread<unknown, unknown, unknown>;
  };
  return await inThread(setup);
}

async function answer(request: ThreadRequest): Promise<void> {
  let reply: ThreadReply;
  let memory: readonly ArrayBuffer[] = [];
  try {
    if (request.kind === 'begin') {
      const begun = begin(request.module, request.setup);
      works.set(request.work, begun);
      // The first task reports what failed.
      await begun.catch(() => {});
      return void port.postMessage({ result: null });
    }
    const runner = await works.get(request.work)!;
    if (request.kind === 'end') {
      works.delete(request.work);
      await runner.end?.();
      reply = { result: null };
    } else {
      const result = await runner.run(request.task);
      memory = runner.memoryOf?.(result) ?? [];
      reply = { result };
    }
  } catch (error) {
    reply = { error: plainError(error) };
  }
  port.postMessage(reply, [...memory]);
}
