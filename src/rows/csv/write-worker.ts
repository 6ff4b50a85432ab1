/** A thread that makes the output of pieces of a CSV file (`write-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { byteBuffer } from '../files/byte-buffer.ts';
import { openInput } from '../files/input-file.ts';
import { answerTasks } from '../threads/answer-tasks.ts';
import { addBatch, placeAdder } from './add-fields.ts';
import { csvBatches } from './record-batches.ts';
import type { PieceToWrite, WriteThreadSetup, WrittenPiece } from './write-in-threads.ts';

const { file, dialect, dropFrom, separator, made } = workerData as WriteThreadSetup;
const opened = openInput(file);

async function writePiece({ piece, places, memory }: PieceToWrite): Promise<WrittenPiece> {
  const { from, to } = piece;
  // It is never flushed: a piece is passed on as a whole.
  const gathered = byteBuffer(async () => {}, memory);
  const segment = { from, to, isGuess: false, line: 0 };
  let rows = 0;
  for await (const batch of csvBatches(await opened, dialect, { columns: null, dropFrom, segment })) {
    addBatch(gathered, batch, separator, placeAdder(made, places, rows));
    rows += batch.count;
  }
  return { rows, used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer };
}

answerTasks(writePiece, ({ memory }) => [memory]);
