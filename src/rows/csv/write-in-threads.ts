import { threadModule } from '../../start-thread.ts';
import { type ByteBuffer, byteBuffer } from '../files/byte-buffer.ts';
import { assertSameFile, type InputFile } from '../files/input-file.ts';
import type { PlacedFields, RowPiece, WriteRequest } from '../port.ts';
import { inOrder, ThreadPool } from '../threads/thread-pool.ts';
import type { Dialect } from './dialect.ts';
import { addBatch, type PlaceBytes, placeAdder } from './place-bytes.ts';
import { csvBatches } from './record-batches.ts';

/** What each thread that writes is started with. */
export interface WriteThreadSetup extends Pick<WriteRequest, 'dropFrom'> {
  readonly file: string;
  readonly dialect: Dialect;
  readonly separator: string;
  readonly made: PlaceBytes;
}

export interface PieceToWrite {
  readonly piece: RowPiece;
  readonly places: Int32Array<ArrayBuffer>;
  /** Memory for the output, of a piece that is written. */
  readonly memory: ArrayBuffer;
}

/** A piece with its added fields: the first `used` bytes of the memory. */
export interface WrittenPiece {
  readonly rows: number;
  readonly used: number;
  readonly memory: ArrayBuffer;
}

const MODULE = threadModule('write-worker', import.meta.url);

/** The output of a piece with the fields of 18 topics takes 2.5 MB. To double the memory up to there left as much behind. */
const PIECE_BYTES = 3 * 1024 * 1024;

/** Writes the pieces that the scan has found: threads make their bytes, and this one makes its share and writes all in order. Memory:
 * the output of two pieces a thread. */
export async function writeInThreads(
  gathered: ByteBuffer,
  input: InputFile,
  setup: Omit<WriteThreadSetup, 'file'>,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { threads, pieces } = inThreads!;
  await assertSameFile(input);
  const here = pieceWriter(input, setup);
  await using pool = new ThreadPool(MODULE, { ...setup, file: input.name }, threads, here);
  const free: ArrayBuffer[] = [];
  const write = (piece: RowPiece) => {
    const memory = free.pop() ?? new ArrayBuffer(PIECE_BYTES);
    const places = next(piece.rows);
    return pool.run({ piece, places, memory }, [places.buffer, memory]);
  };
  let rows = 0;
  for await (const [, written] of inOrder(pieces, 2 * (threads + 1), write)) {
    signal?.throwIfAborted();
    await gathered.addBlock(Buffer.from(written.memory, 0, written.used));
    free.push(written.memory);
    rows += written.rows;
  }
  await assertSameFile(input);
  return rows;
}

/** Makes a function that makes the output of pieces. */
export function pieceWriter(
  input: InputFile,
  { dialect, dropFrom, separator, made }: Omit<WriteThreadSetup, 'file'>,
): (task: PieceToWrite) => Promise<WrittenPiece> {
  return async ({ piece: { from, to }, places, memory }) => {
    // It is never flushed: a piece is passed on as a whole.
    const gathered = byteBuffer(async () => {}, memory);
    const segment = { from, to, isGuess: false, line: 0 };
    let rows = 0;
    for await (const batch of csvBatches(input, dialect, { columns: null, dropFrom, segment })) {
      addBatch(gathered, batch, separator, placeAdder(made, places, rows));
      rows += batch.count;
    }
    return { rows, used: gathered.used, memory: gathered.bytes.buffer as ArrayBuffer };
  };
}
