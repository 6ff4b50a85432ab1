/** Stands in for the workers of a look-up: the first writes, the second dies, the third writes when it may. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  beginWriting,
  endWriting,
  type LookupMessage,
  type LookupTask,
  NEXT,
  STOPPED,
} from '../../src/job/lookup/lookup-task.ts';

const task = workerData as LookupTask;
const { control } = task;
const tell = (message: LookupMessage) => parentPort!.postMessage(message);

/** What is added to `control[NEXT]` when the first worker begins to write, and again when it has written. */
const WRITES = 100;

function waitFor(isSo: () => boolean): void {
  while (!isSo()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
}

const isStopped = () => Atomics.load(control, STOPPED) === 1;
const isWriting = () => Math.floor(Atomics.load(control, NEXT) / WRITES) === 1;

switch (Atomics.add(control, NEXT, 1) % WRITES) {
  case 0: {
    beginWriting(task);
    Atomics.add(control, NEXT, WRITES);
    waitFor(isStopped);
    // Time for the third to write beside it, if it may.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    Atomics.add(control, NEXT, WRITES);
    endWriting(task);
    break;
  }
  case 1:
    waitFor(isWriting);
    process.exit(7);
    break;
  default:
    waitFor(isStopped);
    beginWriting(task);
    if (isWriting()) tell({ kind: 'done', cells: 1 });
    endWriting(task);
}
tell({ kind: 'ended' });
