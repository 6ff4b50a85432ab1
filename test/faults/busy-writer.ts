import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { accountsFileFor, openAccounts } from '../../src/service/accounts/open-accounts.ts';

/* Writes to the accounts of a data file in transactions of some milliseconds until it is told to end. Runs in a thread of
 * its own: SQLite blocks the thread that waits for the lock. */

const { file, holdMs, pauseMs } = workerData as { file: string; holdMs: number; pauseMs: number };
const database = openAccounts(accountsFileFor(file));
database.exec('CREATE TABLE IF NOT EXISTS busy_writer (value INTEGER)');
let ended = false;
parentPort!.on('message', () => {
  ended = true;
});
let transactions = 0;
while (!ended) {
  database.exec('BEGIN IMMEDIATE; INSERT INTO busy_writer VALUES (1)');
  if (transactions === 0) parentPort!.postMessage('writing');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdMs);
  database.exec('COMMIT');
  transactions += 1;
  await sleep(pauseMs);
}
database.close();
parentPort!.postMessage(transactions);
parentPort!.close();
