import type { CompleteFields } from '../../columns/row.ts';
import type { Field } from '../../contract/answer.ts';
import { putFields } from '../../rows/placed-fields.ts';
import type { PlaceSink } from '../../rows/port.ts';
import type { CompleteCell, FieldUnpacker } from '../../store/answers/port.ts';
import { grown } from '../scan/cell-table.ts';

/** Most cells kept. A cell with 18 natural topics takes some 250 bytes here and 400 more in a writer of CSV. */
const MOST_CELLS = 250_000;

const BLOCK_BYTES = 2 ** 20;

/** The complete cells that the plan and the pass that counts have read, by number, for the pass that writes the rows. Cells beyond the
 * limit are read from the store again for each batch of rows (some 20 µs each).
 *
 * Their fields stay packed, in blocks of a mebibyte. Rejected: a buffer and a function for each cell, which took a fifth of a warm run for
 * garbage collection and twice the memory; a temporary file for what exceeds the blocks, which took 300 lines. */
export class CompleteCells {
  readonly #blocks: Buffer[] = [];
  #used = BLOCK_BYTES;
  /** The offset of each cell's packed fields over all blocks, plus one; 0 without packed fields. */
  #offsets = new Uint32Array(1024);
  #times = new Float64Array(1024);
  /** The cells whose notes name topics without data. */
  readonly #withNull = new Set<number>();
  /** What the service states of the data of each cell; few cells have other texts than the one before. */
  readonly #stated = new Map<number, string>();
  /** The form of the packed fields, one for all cells of a plan; null before the first cell. */
  #form: { readonly width: number; readonly packer: FieldUnpacker } | null = null;
  #size = 0;

  has(cell: number): boolean {
    return (this.#offsets[cell] ?? 0) > 0;
  }

  put(cell: number, { asOf, hasNull, packed, width, packer, stated }: CompleteCell): void {
    if (this.#size >= MOST_CELLS || packed.length > BLOCK_BYTES) return;
    this.#form ??= { width, packer };
    this.#size++;
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
    if (hasNull) this.#withNull.add(cell);
    if (stated !== '') this.#stated.set(cell, stated);
    this.#used += packed.length;
  }

  fields(cell: number, complete: CompleteFields): readonly Field[] {
    const { block, from, packer, width } = this.#place(cell);
    return complete.of(
      this.#times[cell]!,
      packer.unpack(block, from, width),
      this.#stated.get(cell),
    );
  }

  /** Puts the same fields into a sink, which takes half the time. */
  putFields(cell: number, complete: CompleteFields, sink: PlaceSink): void {
    // The note comes before the fields, but depends on them: it names the topics without data, zones that are near, and fields that have ended.
    if (complete.isOwn(this.#times[cell]!) || this.#withNull.has(cell))
      putFields(sink, this.fields(cell, complete));
    else {
      const { block, from, packer, width } = this.#place(cell);
      for (const field of complete.leading(this.#times[cell]!, this.#stated.get(cell)))
        sink.put(field);
      packer.put(block, from, width, sink);
    }
  }

  /** Frees the memory at once: 45 MB for 182,000 cells. Later reads go to the store. */
  release(): void {
    for (const { buffer } of this.#blocks.splice(0)) (buffer as ArrayBuffer).transfer(0);
    this.#used = BLOCK_BYTES;
    this.#size = 0;
    this.#offsets.fill(0);
    this.#withNull.clear();
    this.#stated.clear();
  }

  #place(cell: number) {
    const offset = this.#offsets[cell]! - 1;
    const { packer, width } = this.#form!;
    return {
      block: this.#blocks[Math.floor(offset / BLOCK_BYTES)]!,
      from: offset % BLOCK_BYTES,
      packer,
      width,
    };
  }
}
