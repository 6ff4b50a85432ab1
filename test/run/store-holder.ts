import { workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/* Holds a store's write lock for a while, once it is told to. In a thread of its own: the thread that tests may wait for the
 * lock, and no timer of its would end the wait. */

const { file, holdMs, steps } = workerData as { file: string; holdMs: number; steps: Int32Array<SharedArrayBuffer> };
const database = new Database(file);
Atomics.wait(steps, 0, 0);
database.exec('BEGIN IMMEDIATE');
Atomics.store(steps, 1, 1);
Atomics.notify(steps, 1);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
database.exec('COMMIT');
database.close();
