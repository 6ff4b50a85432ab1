import type { InThread } from '../../threads/thread-messages.ts';
import { inOrder } from '../../threads/thread-pool.ts';
import { type ByteBuffer, byteBuffer } from '../files/byte-buffer.ts';
import { assertSameFile, type InputFile, openInput } from '../files/input-file.ts';
import { assertPlaceCount, placeEntries } from '../placed-fields.ts';
import {
  type AllPlaces,
  assertFieldCount,
  type PlacedFields,
  type RowPiece,
  type WriteRequest,
} from '../port.ts';
import type { Dialect } from './dialect.ts';
import { FieldEncoder, type FieldFormat } from './field-bytes.ts';
import { type CsvBatch, CUT_WIDTH, csvBatches } from './record-batches.ts';

/** The bytes that each place adds to its rows, by number, in shared memory for threads. */
export interface PlaceBytes {
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** The text of 18 natural topics takes some 400 bytes. Beyond this, places whose rows have come are dropped. */
const MOST_BYTES = 128 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;
const FIRST_PLACES = 1024;

/** The bytes of all places. */
export async function bytesOfPlaces(
  { count, give, release }: AllPlaces,
  request: WriteRequest,
  format: FieldFormat,
  leads: boolean,
): Promise<PlaceBytes> {
  // Unwritten pages take no memory.
  const store = placeStore(request, format, leads, MOST_BYTES);
  await give(store.sink);
  assertPlaceCount(count, store.places());
  release?.();
  return store.bytes();
}

/** Makes a function that encodes the places of the next rows, for files with too many places to encode all first. */
export function bytesOfNextRows(request: WriteRequest, format: FieldFormat, leads: boolean) {
  const store = placeStore(request, format, leads, FIRST_BYTES);
  const entries = placeEntries(request, store.sink, store.places);
  return async (count: number) => {
    if (store.bytes().bytes.length > MOST_BYTES) {
      store.clear();
      entries.clear();
    }
    const rows = await entries.next(count);
    return placeAdder(store.bytes(), rows);
  };
}

/** Takes the fields of places as bytes, one place after the other. */
function placeStore(request: WriteRequest, format: FieldFormat, leads: boolean, room: number) {
  let ends = new Uint32Array(new SharedArrayBuffer(4 * FIRST_PLACES));
  let bytes = Buffer.from(new SharedArrayBuffer(room));
  let count = 0;
  let used = 0;
  const sink = new FieldEncoder(format, request.added, leads, (added, length, fields) => {
    assertFieldCount(request, fields);
    if (count === ends.length)
      ends = grown(ends, new Uint32Array(new SharedArrayBuffer(8 * count)));
    if (used + length > bytes.length)
      bytes = grown(bytes, Buffer.from(new SharedArrayBuffer(2 * (used + length))));
    used += added.copy(bytes, used, 0, length);
    ends[count++] = used;
  });
  return {
    sink,
    places: () => count,
    bytes: (): PlaceBytes => ({ ends, bytes: bytes.subarray(0, used) }),
    clear() {
      count = 0;
      used = 0;
    },
  };
}

function grown<A extends Uint8Array | Uint32Array>(old: A, next: A): A {
  next.set(old);
  return next;
}

/** Adds the fields of a row of a batch, with the separator before them. */
type AddFields = (gathered: ByteBuffer, row: number) => void;

/** Makes a function that copies the bytes of places to their rows.
 * @param places the places of the rows, which begin at the index `first` */
export function placeAdder(
  { ends, bytes: shared }: PlaceBytes,
  places: Int32Array,
  first = 0,
): AddFields {
  // A message between threads turns a Buffer into a Uint8Array.
  const bytes = Buffer.from(shared.buffer, shared.byteOffset, shared.length);
  return (gathered, row) => {
    const place = places[first + row]!;
    gathered.addBytes(bytes, place === 0 ? 0 : ends[place - 1]!, ends[place]!);
  };
}

/** The bytes of a batch, with the added fields at the end of each record; line ends and blank lines are copied too. */
export function addBatch(
  gathered: ByteBuffer,
  { count, bytes, from, to, cuts }: CsvBatch,
  separator: string,
  addFields: AddFields,
): void {
  let copied = from;
  for (let row = 0; row < count; row++) {
    const at = row * CUT_WIDTH;
    gathered.addBytes(bytes, copied, cuts[at]!);
    for (let missing = cuts[at + 1]!; missing > 0; missing--) gathered.addText(separator);
    addFields(gathered, row);
    copied = cuts[at + 2]!;
  }
  gathered.addBytes(bytes, copied, to);
}

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

/** Writes the pieces of the scan: all threads make their bytes, and this one writes them in order. Memory: two pieces' output a thread. */
export async function writeInThreads(
  gathered: ByteBuffer,
  input: InputFile,
  setup: Omit<WriteThreadSetup, 'file'>,
  { inThreads, next }: PlacedFields,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { pool, pieces } = inThreads!;
  await assertSameFile(input);
  await using work = pool.begin(
    import.meta.url,
    { ...setup, file: input.name },
    pieceWriter(input, setup),
  );
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
) {
  return async ({ piece, places, memory }: PieceToWrite): Promise<WrittenPiece> => {
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
