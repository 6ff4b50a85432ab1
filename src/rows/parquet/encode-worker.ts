/** A thread that encodes the added columns of row groups (`encode-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { answerTasks } from '../threads/answer-tasks.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import { type BuiltColumns, columnsAt } from './column-builder.ts';
import { reusableArrays } from './encode.ts';
import type { EncodedGroup, GroupPlaces } from './encode-in-threads.ts';

const all = workerData as BuiltColumns;
const arrays = reusableArrays();

async function encodeGroup(places: GroupPlaces): Promise<EncodedGroup> {
  const chunks: ChunkFacts[] = [];
  const pieces: Buffer[] = [];
  for (const chunk of encodedChunks(columnsAt(all, places), arrays)) {
    chunks.push(chunk.facts);
    // Copied: the next column is encoded in the same memory.
    pieces.push(Buffer.concat(chunk.pieces));
  }
  const bytes = new Uint8Array(chunks.reduce((sum, { size }) => sum + size, 0));
  let used = 0;
  for (const piece of pieces) {
    bytes.set(piece, used);
    used += piece.length;
  }
  return { memory: bytes.buffer, chunks };
}

answerTasks(encodeGroup, ({ memory }) => [memory]);
