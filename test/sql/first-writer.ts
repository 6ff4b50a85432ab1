import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';

/* Opens or makes a SQLite file, and holds a write of it for a while. Runs in a thread of its own: who waits for the lock blocks its
 * thread. */

const { file, holdMs } = workerData as { file: string; holdMs: number };
const database = new Database(file);
database.exec('BEGIN IMMEDIATE; CREATE TABLE made_first (value INTEGER); DROP TABLE made_first');
parentPort!.postMessage('holding');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
database.exec('COMMIT');
database.close();
