/** A thread that encodes added columns of row groups (`encode-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { answerTasks } from '../threads/answer-tasks.ts';
import type { BuiltColumns } from './column-builder.ts';
import { columnEncoder } from './encode-in-threads.ts';

answerTasks(columnEncoder(workerData as BuiltColumns), ({ memory }) => [memory]);
