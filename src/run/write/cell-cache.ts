import { type CompleteFields, completeFields } from '../../columns/row.ts';
import type { Field } from '../../contract/answer.ts';
import type { Job } from '../../job/settings.ts';
import { putFields } from '../../rows/placed-fields.ts';
import type { PlaceSink } from '../../rows/port.ts';
import type { CompleteCell, FieldUnpacker } from '../../store/answers/port.ts';
import type { OriginNotes, PlaceOrigin } from '../look-up/local-data.ts';
import { grown } from '../scan/cell-table.ts';

/** Makes the fields of complete cells, whose note states the origin of their answers. */
export function completeCellFields(
  { topics, counts }: Pick<Job, 'topics' | 'counts'>,
  isSample: (oldest: number) => boolean,
  origin: OriginNotes | null,
): (cell: number) => CompleteFields {
  if (origin === null) {
    const plain = completeFields(topics, counts, isSample);
    return () => plain;
  }
  const made = new Map<PlaceOrigin, CompleteFields>();
  return (cell) => {
    const of = origin.originOf(cell);
    let complete = made.get(of);
    if (complete === undefined) {
      complete = completeFields(topics, counts, isSample, origin.noteOf(topics, of));
      made.set(of, complete);
    }
    return complete;
  };
}

/** Makes a cell's fields from packed ones, which take a fraction of the memory. */
export type CellFields = () => readonly Field[];

/** Most cells kept. A cell with 18 natural topics takes some 250 bytes here and 400 more in a writer of CSV. */
const MOST_CELLS = 250_000;

const BLOCK_BYTES = 2 ** 20;

/**
 * Keeps the cells that the plan has read for the pass that writes the rows, by number. Cells beyond the limit are read
 * from the store again for each batch of rows (some 20 µs each).
 *
 * The fields of complete cells stay packed, in blocks of a mebibyte. Rejected: a buffer and a function for each cell, which took a
 * fifth of a warm run for garbage collection and twice the memory; a temporary file for what exceeds the blocks, which took 300 lines.
 */
export class CellCache {
  readonly #completeOf: (cell: number) => CompleteFields;
  readonly #mostCells: number;
  readonly #made = new Map<number, CellFields>();
  readonly #blocks: Buffer[] = [];
  /** How much of the last block is used. */
  #used = BLOCK_BYTES;
  /** The offset of each cell's packed fields over all blocks, plus one; 0 without packed fields. */
  #offsets = new Uint32Array(1024);
  #times = new Float64Array(1024);
  /** The form of the packed fields; null before the first cell. */
  #form: { readonly width: number; readonly packer: FieldUnpacker } | null = null;
  #size = 0;

  constructor(completeOf: (cell: number) => CompleteFields, mostCells = MOST_CELLS) {
    this.#completeOf = completeOf;
    this.#mostCells = mostCells;
  }

  has(cell: number): boolean {
    return (this.#offsets[cell] ?? 0) > 0 || this.#made.has(cell);
  }

  /** The fields of a cell in the cache. */
  fields(cell: number): readonly Field[] {
    const offset = (this.#offsets[cell] ?? 0) - 1;
    if (offset < 0) return this.#made.get(cell)!();
    const block = this.#blocks[Math.floor(offset / BLOCK_BYTES)]!;
    const { packer, width } = this.#form!;
    return this.#completeOf(cell).of(this.#times[cell]!, packer.unpack(block, offset % BLOCK_BYTES, width));
  }

  /** Puts the same fields into a sink, which takes half the time. */
  putFields(cell: number, sink: PlaceSink): void {
    const complete = this.#completeOf(cell);
    const offset = (this.#offsets[cell] ?? 0) - 1;
    const block = this.#blocks[Math.floor(offset / BLOCK_BYTES)];
    const from = offset % BLOCK_BYTES;
    // The note comes before the fields, but depends on them: it names the topics without data.
    if (!block || this.#form!.packer.hasNull(block, from, complete.firsts)) {
      putFields(sink, this.fields(cell));
      return;
    }
    for (const field of complete.leading(this.#times[cell]!)) sink.put(field);
    this.#form!.packer.put(block, from, this.#form!.width, sink);
  }

  /** Frees the cache; later reads go to the store. */
  release(): void {
    // Detaching frees the memory at once: 45 MB for 182,000 cells.
    for (const { buffer } of this.#blocks.splice(0)) (buffer as ArrayBuffer).transfer(0);
    this.#used = BLOCK_BYTES;
    this.#size = 0;
    this.#made.clear();
    this.#offsets.fill(0);
  }

  /** Keeps a cell while there is room. */
  put(cell: number, fields: CellFields): void {
    if (this.#size++ < this.#mostCells) this.#made.set(cell, fields);
  }

  /** Keeps a complete cell while there is room. */
  putComplete(cell: number, { asOf, fields, packed, width, packer }: CompleteCell): void {
    this.#form ??= { width, packer };
    if (packed.length > BLOCK_BYTES || packer !== this.#form.packer || width !== this.#form.width) {
      this.put(cell, () => this.#completeOf(cell).of(asOf, fields()));
      return;
    }
    if (this.#size++ >= this.#mostCells) return;
    if (this.#used + packed.length > BLOCK_BYTES) {
      this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
      this.#used = 0;
    }
    this.#blocks.at(-1)!.set(packed, this.#used);
    while (cell >= this.#offsets.length) {
      this.#offsets = grown(this.#offsets, new Uint32Array(this.#offsets.length * 2));
      this.#times = grown(this.#times, new Float64Array(this.#times.length * 2));
    }
    this.#offsets[cell] = (this.#blocks.length - 1) * BLOCK_BYTES + this.#used + 1;
    this.#times[cell] = asOf;
    this.#used += packed.length;
  }
}
