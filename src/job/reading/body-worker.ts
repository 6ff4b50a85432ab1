/** The worker's side of `body-readers.ts`: gets a body, returns what is stored of it. */
import { parentPort } from 'node:worker_threads';
import { memoryOf, parseAnswer, type ReadRequest } from './parsed-answer.ts';

const port = parentPort!;

port.on('message', ({ task, body, bytes }: { task: ReadRequest; body: ArrayBuffer; bytes: number }) => {
  const reading = parseAnswer(task, Buffer.from(body, 0, bytes));
  port.postMessage(reading, memoryOf(reading));
  port.postMessage(body, [body]);
});

// The body is transferred only now: with a worker that cannot start it would be lost.
port.postMessage('ready');
