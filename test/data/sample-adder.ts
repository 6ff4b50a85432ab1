import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { addSample } from '../../src/sample/add-sample.ts';

/* Adds sample data to a file when it is told to. Runs in a thread of its own: who waits for the lock blocks its thread. */

const { file, topics } = workerData;
const database = openDataDatabase(file);
parentPort!.postMessage('open');
parentPort!.once('message', () => {
  addSample(database, topics, systemClock);
  const { datasets } = describeData(database);
  database.close();
  parentPort!.postMessage(datasets);
});
