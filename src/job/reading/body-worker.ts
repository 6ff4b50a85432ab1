/** The worker's side of `body-readers.ts`: gets a body, returns what is stored of it. */
import { parentPort } from 'node:worker_threads';
import { memoryOf, parseAnswer, type ReadRequest } from './parsed-answer.ts';

const port = parentPort!;

port.on('message', ({ task, body }: { task: ReadRequest; body: ArrayBuffer }) => {
  const reading = parseAnswer(task, Buffer.from(body));
  port.postMessage(reading, memoryOf(reading));
});

// The body is transferred only now: with a worker that cannot start it would be lost.
port.postMessage('ready');
