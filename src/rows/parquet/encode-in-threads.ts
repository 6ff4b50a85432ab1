import { byteBuffer } from '../files/byte-buffer.ts';
import type { PlacedFields, RowPiece } from '../port.ts';
import { inOrder, ThreadPool } from '../threads/thread-pool.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import { type BuiltColumns, columnsAt, forThreads } from './column-builder.ts';
import { reusableArrays } from './encode.ts';

/** A row group, by the places of its rows. */
export interface GroupToEncode {
  readonly places: Int32Array<ArrayBuffer>;
  /** Memory for the output, of a row group that is written. */
  readonly memory: ArrayBuffer;
}

/** The added columns of a row group, one behind the other: the first `used` bytes of the memory. */
export interface EncodedGroup {
  readonly used: number;
  readonly memory: ArrayBuffer;
  readonly chunks: readonly ChunkFacts[];
}

/** Compiled, the thread's module is a .js file next to this one; run from source, a .ts file. */
const MODULE = new URL(`./encode-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

/** Encodes the row groups of a file in threads and this one; gives them in their order, each valid until the next. Memory: the added columns of a row group and a half
 * a thread. */
export async function* groupsInThreads(
  all: BuiltColumns,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedGroup> {
  const { threads, pieces } = inThreads!;
  await using pool = new ThreadPool(MODULE, forThreads(all), threads, groupEncoder(all));
  const free: ArrayBuffer[] = [];
  const encode = ({ rows }: RowPiece) => {
    const places = next(rows);
    const memory = free.pop() ?? new ArrayBuffer(0);
    return pool.run({ places, memory }, [places.buffer, memory]);
  };
  for await (const [, group] of inOrder(pieces, threads + 2, encode)) {
    signal?.throwIfAborted();
    yield group;
    free.push(group.memory);
  }
}

/** Makes a function that encodes row groups. */
export function groupEncoder(all: BuiltColumns): (group: GroupToEncode) => Promise<EncodedGroup> {
  const arrays = reusableArrays();
  return async ({ places, memory }) => {
    const chunks: ChunkFacts[] = [];
    // It is never flushed: a row group is passed on as a whole.
    const gathered = byteBuffer(async () => {}, memory);
    for (const { facts, pieces } of encodedChunks(columnsAt(all, places), arrays)) {
      chunks.push(facts);
      for (const piece of pieces) gathered.addBytes(piece, 0, piece.length);
    }
    return { used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer, chunks };
  };
}
