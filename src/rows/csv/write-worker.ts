/** A thread that makes the output of pieces of a CSV file (`write-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { openInput } from '../files/input-file.ts';
import { answerTasks } from '../threads/answer-tasks.ts';
import { type PieceToWrite, pieceWriter, type WriteThreadSetup } from './write-in-threads.ts';

const setup = workerData as WriteThreadSetup;
const writing = openInput(setup.file).then((input) => pieceWriter(input, setup));

answerTasks(
  async (task: PieceToWrite) => (await writing)(task),
  ({ memory }) => [memory],
);
