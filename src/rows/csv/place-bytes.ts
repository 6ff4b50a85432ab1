import type { ByteBuffer } from '../files/byte-buffer.ts';
import { assertPlaceCount, placeEntries } from '../placed-fields.ts';
import { type AllPlaces, assertFieldCount, type WriteRequest } from '../port.ts';
import { FieldEncoder } from './field-bytes.ts';
import type { FieldFormat } from './format-fields.ts';
import { type CsvBatch, CUT_WIDTH } from './record-batches.ts';

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
export function bytesOfNextRows(
  request: WriteRequest,
  format: FieldFormat,
  leads: boolean,
): (count: number) => Promise<AddFields> {
  const store = placeStore(request, format, leads, FIRST_BYTES);
  const entries = placeEntries(request, store.sink);
  return async (count) => {
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
    if (count === ends.length) ends = grown(ends, new Uint32Array(new SharedArrayBuffer(8 * count)));
    if (used + length > bytes.length) bytes = grown(bytes, Buffer.from(new SharedArrayBuffer(2 * (used + length))));
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
export function placeAdder({ ends, bytes: shared }: PlaceBytes, places: Int32Array, first = 0): AddFields {
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
