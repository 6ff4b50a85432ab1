/** Stands in for the worker of a look-up: dies without a word while it writes, and the others wait for it. */
import { workerData } from 'node:worker_threads';
import { beginWriting, type LookupTask } from '../../src/job/lookup/lookup-task.ts';

beginWriting(workerData as LookupTask);
process.exit(7);
