/** A thread that encodes the added columns of row groups (`encode-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { answerTasks } from '../threads/answer-tasks.ts';
import type { BuiltColumns } from './column-builder.ts';
import { groupEncoder } from './encode-in-threads.ts';

answerTasks(groupEncoder(workerData as BuiltColumns), ({ memory }) => [memory]);
