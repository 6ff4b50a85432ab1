import type { PlacedFields, RowPiece } from '../port.ts';
import { inOrder, ThreadPool } from '../threads/thread-pool.ts';
import type { ChunkFacts } from './chunk.ts';
import { type BuiltColumns, forThreads } from './column-builder.ts';

/** The places of the rows of a row group. */
export type GroupPlaces = Int32Array<ArrayBuffer>;

/** The added columns of a row group, one behind the other. */
export interface EncodedGroup {
  readonly memory: ArrayBuffer;
  readonly chunks: readonly ChunkFacts[];
}

/** Compiled, the thread's module is a .js file next to this one; run from source, a .ts file. */
const MODULE = new URL(`./encode-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);

/** Encodes the row groups of a file in threads; gives them in their order. Memory: the added columns of a row group and a half
 * a thread. */
export async function* groupsInThreads(
  all: BuiltColumns,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedGroup> {
  const { threads, pieces } = inThreads!;
  await using pool = new ThreadPool<GroupPlaces, EncodedGroup>(MODULE, forThreads(all), threads);
  const encode = ({ rows }: RowPiece) => {
    const places = next(rows);
    return pool.run(places, [places.buffer]);
  };
  for await (const [, group] of inOrder(pieces, threads + 1, encode)) {
    signal?.throwIfAborted();
    yield group;
  }
}
