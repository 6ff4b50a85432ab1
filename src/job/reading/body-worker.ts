/** The worker's side of `body-readers.ts`: a body comes in, and what is kept of it goes back. */
import { parentPort } from 'node:worker_threads';
import { memoryOf, type ReadRequest, take } from './parsed-answer.ts';

const port = parentPort!;

port.on('message', ({ task, body }: { task: ReadRequest; body: ArrayBuffer }) => {
  const reading = take(task, Buffer.from(body));
  port.postMessage(reading, memoryOf(reading));
});

// Only now is a body handed over: one that was given to a worker that cannot even start would be lost.
port.postMessage('ready');
