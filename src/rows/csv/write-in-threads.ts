import type { InThread } from '../../threads/thread-messages.ts';
import { inOrder } from '../../threads/thread-pool.ts';
import { type ByteBuffer, byteBuffer } from '../files/byte-buffer.ts';
import { assertSameFile, type InputFile, openInput } from '../files/input-file.ts';
import type { PlacedFields, RowPiece, WriteRequest } from '../port.ts';
import type { Dialect } from './dialect.ts';
import { addBatch, type PlaceBytes, placeAdder } from './place-bytes.ts';
import { csvBatches } from './record-batches.ts';

interface WriteThreadSetup extends Pick<WriteRequest, 'dropFrom'> {
  readonly file: string;
  readonly dialect: Dialect;
  readonly separator: string;
  readonly made: PlaceBytes;
}

interface PieceToWrite {
  readonly piece: RowPiece;
  readonly places: Int32Array<ArrayBuffer>;
  /** The memory of a written piece, for reuse. */
  readonly memory: ArrayBuffer;
}

/** A piece with its added fields: the first `used` bytes of the memory. */
interface WrittenPiece {
  readonly rows: number;
  readonly used: number;
  readonly memory: ArrayBuffer;
}

/** The output of a piece with 18 topics takes 2.5 MB. Growing to that size by doubling left as much garbage. */
const PIECE_BYTES = 3 * 1024 * 1024;

/** Writes the pieces of the scan: threads and this thread make their bytes, and this thread writes them in order. Memory: the output of
 * two pieces per thread. */
export async function writeInThreads(
  gathered: ByteBuffer,
  input: InputFile,
  setup: Omit<WriteThreadSetup, 'file'>,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { pool, pieces } = inThreads!;
  await assertSameFile(input);
  await using work = pool.begin(import.meta.url, { ...setup, file: input.name }, pieceWriter(input, setup));
  const free: ArrayBuffer[] = [];
  const write = (piece: RowPiece) => {
    const memory = free.pop() ?? new ArrayBuffer(PIECE_BYTES);
    const places = next(piece.rows);
    return work.run({ piece, places, memory }, [places.buffer, memory]);
  };
  let rows = 0;
  for await (const [, written] of inOrder(pieces, 2 * (pool.threads + 1), write)) {
    signal?.throwIfAborted();
    await gathered.addBlock(Buffer.from(written.memory, 0, written.used));
    free.push(written.memory);
    rows += written.rows;
  }
  await assertSameFile(input);
  return rows;
}

function pieceWriter(
  input: InputFile,
  { dialect, dropFrom, separator, made }: Omit<WriteThreadSetup, 'file'>,
): (task: PieceToWrite) => Promise<WrittenPiece> {
  return async ({ piece, places, memory }) => {
    // Never flushed: a piece is passed on as a whole.
    const gathered = byteBuffer(async () => {}, memory);
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, { columns: null, dropFrom, piece })) {
      addBatch(gathered, batch, separator, placeAdder(made, places, rows));
      rows += batch.count;
    }
    return { rows, used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer };
  };
}

/** @public: threads import it */
export const inThread: InThread<WriteThreadSetup, PieceToWrite, WrittenPiece> = async (setup) => ({
  run: pieceWriter(await openInput(setup.file), setup),
  memoryOf: ({ memory }) => [memory],
});
