import type { InThread } from '../../threads/thread-messages.ts';
import { inOrder } from '../../threads/thread-pool.ts';
import { byteBuffer } from '../files/byte-buffer.ts';
import type { PlacedFields } from '../port.ts';
import { type ChunkFacts, encodedChunks } from './chunk.ts';
import { type BuiltColumns, columnsAt, forThreads } from './column-builder.ts';
import { reusableArrays } from './encode.ts';

/** Some columns of a row group, by the places of its rows. */
interface ColumnsToEncode {
  readonly places: Int32Array<ArrayBuffer>;
  /** The range of columns, without `to`. */
  readonly from: number;
  readonly to: number;
  /** Memory for the output, of columns that are written. */
  readonly memory: ArrayBuffer;
}

/** Columns of a row group, one after the other: the first `used` bytes of the memory. */
export interface EncodedColumns {
  readonly used: number;
  readonly memory: ArrayBuffer;
  readonly chunks: readonly ChunkFacts[];
}

/** Few enough that the threads end together and hold little (5 MB of DuckDB's row groups). Most columns share the levels of their nulls. */
const COLUMNS_A_TASK = 5;

/** Encodes the row groups of a file in threads and in this one. Yields their columns in order, with the number of the row group; each is
 * valid until the next. */
export async function* columnsInThreads(
  all: BuiltColumns,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedColumns & { readonly group: number }> {
  const { pool, pieces } = inThreads!;
  await using work = pool.begin(import.meta.url, forThreads(all), columnEncoder(all));
  const free: ArrayBuffer[] = [];
  function* tasks() {
    for (const [group, { rows }] of pieces.entries()) {
      const places = next(rows);
      for (let from = 0; from < all.columns.length; from += COLUMNS_A_TASK) {
        yield { group, places, from, to: Math.min(all.columns.length, from + COLUMNS_A_TASK) };
      }
    }
  }
  const encode = ({ places, from, to }: Omit<ColumnsToEncode, 'memory'>) => {
    const memory = free.pop() ?? new ArrayBuffer(0);
    return work.run({ places, from, to, memory }, [memory]);
  };
  for await (const [{ group }, encoded] of inOrder(tasks(), 2 * (pool.threads + 1), encode)) {
    signal?.throwIfAborted();
    yield { group, ...encoded };
    free.push(encoded.memory);
  }
}

function columnEncoder(all: BuiltColumns): (task: ColumnsToEncode) => Promise<EncodedColumns> {
  const arrays = reusableArrays();
  return async ({ places, from, to, memory }) => {
    const chunks: ChunkFacts[] = [];
    // It is never flushed: the columns are passed on as a whole.
    const gathered = byteBuffer(async () => {}, memory);
    const columns = all.columns.slice(from, to);
    for (const { facts, pieces } of encodedChunks(columnsAt({ ...all, columns }, places), arrays)) {
      chunks.push(facts);
      for (const piece of pieces) gathered.addBytes(piece, 0, piece.length);
    }
    return { used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer, chunks };
  };
}

/** @public: threads import it */
export const inThread: InThread<BuiltColumns, ColumnsToEncode, EncodedColumns> = (setup) => ({
  run: columnEncoder(setup),
  memoryOf: ({ memory }) => [memory],
});
