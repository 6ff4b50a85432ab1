/** A thread that encodes the added columns of row groups (`encode-in-threads.ts`). */
import { workerData } from 'node:worker_threads';
import { byteBuffer } from '../files/byte-buffer.ts';
import { answerTasks } from '../threads/answer-tasks.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import { type BuiltColumns, columnsAt } from './column-builder.ts';
import { reusableArrays } from './encode.ts';
import type { EncodedGroup, GroupToEncode } from './encode-in-threads.ts';

const all = workerData as BuiltColumns;
const arrays = reusableArrays();

async function encodeGroup({ places, memory }: GroupToEncode): Promise<EncodedGroup> {
  const chunks: ChunkFacts[] = [];
  // It is never flushed: a row group is passed on as a whole.
  const gathered = byteBuffer(async () => {}, memory);
  for (const { facts, pieces } of encodedChunks(columnsAt(all, places), arrays)) {
    chunks.push(facts);
    for (const piece of pieces) gathered.addBytes(piece, 0, piece.length);
  }
  return { used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer, chunks };
}

answerTasks(encodeGroup, ({ memory }) => [memory]);
