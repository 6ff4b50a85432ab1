import type { ByteBuffer } from '../files/byte-buffer.ts';
import type { PlaceBytes } from './place-bytes.ts';
import { type CsvBatch, CUT_WIDTH } from './record-batches.ts';

/** Adds the fields of a row of a batch, with the separator before them. */
export type AddFields = (gathered: ByteBuffer, row: number) => void;

/** The bytes of a batch with the added fields where each record ends; line ends and blank lines are copied with the rest. */
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

/** Copies the bytes of rows at places.
 * @param places of the rows of a batch, from the index `first` on */
export function placeAdder({ ends, bytes: shared }: PlaceBytes, places: Int32Array, first = 0): AddFields {
  // A message makes a Uint8Array of a Buffer.
  const bytes = Buffer.from(shared.buffer, shared.byteOffset, shared.length);
  return (gathered, row) => {
    const place = places[first + row]!;
    gathered.addBytes(bytes, place === 0 ? 0 : ends[place - 1]!, ends[place]!);
  };
}
