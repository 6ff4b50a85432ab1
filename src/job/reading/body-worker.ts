/** The worker's side of `body-readers.ts`: gets a body, returns what is stored of it. */
import { getPriority, platform, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { memoryOf, parseAnswer, type ReadRequest } from './parsed-answer.ts';

/** What a worker adds to the nice value of the process. With equal priorities and as many busy threads as cores, the event loop
 * waits long for a core: its longest turn was 36 ms by the clock, of which it worked for 10; with this it was 24. */
const NICE = 5;
const HIGHEST_NICE = 19;

const port = parentPort!;

// Only Linux has a priority for each thread; elsewhere this would slow the whole process.
if (platform() === 'linux') {
  try {
    setPriority(Math.min(getPriority() + NICE, HIGHEST_NICE));
  } catch {
    // A sandbox may refuse it; the answers are the same.
  }
}

port.on('message', ({ task, body, bytes }: { task: ReadRequest; body: ArrayBuffer; bytes: number }) => {
  const reading = parseAnswer(task, Buffer.from(body, 0, bytes));
  port.postMessage(reading, memoryOf(reading));
  port.postMessage(body, [body]);
});

// The body is transferred only now: with a worker that cannot start it would be lost.
port.postMessage('ready');
