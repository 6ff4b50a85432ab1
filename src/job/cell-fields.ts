import { closeSync, readSync, writeSync } from 'node:fs';
import { FieldPacker } from '../columns/packed-fields.ts';
import { ROW_STATUSES, type RowStatus } from '../columns/status.ts';
import type { Field } from '../contract/answer.ts';
import { openUnnamed } from './unnamed-file.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** What is held in memory; the rest lies in a temporary file. 64 MB are some 300,000 cells of 18 natural topics. */
const BYTES_IN_MEMORY = 64 * 1024 * 1024;

/** Lengths are held in 16 bits; a longer one is read from the store instead. */
const LONGEST = 65_535;

/**
 * The finished fields of cells, by the cell's number, between the plan that reads them and the pass that writes the rows:
 * each cell is read from the store once, not once for the plan and again for each batch of rows.
 *
 * Layouts that were tried, a million rows at 180,000 cells, 18 natural topics (the whole write, on two cores; the packed one
 * on a busier machine than the first; memory is reckoned from the fields, not measured):
 * - arrays of the last 20,000 cells, the others read from the store for each batch: 23 s, 20 MB and up
 * - arrays of all cells: not timed; some 160 MB in the heap and 10 times that at two million cells
 * - packed fields, as here: 5.5 s, some 40 MB, and 64 MB at most
 */
export class CellFields {
  readonly #width: number;
  readonly #chunksInMemory: number;
  readonly #packer = new FieldPacker();
  readonly #chunks: Buffer[] = [];
  /** The place of a cell plus one, 0 for none; as a double, because 4 GB are 20 million cells only. */
  readonly #places: Float64Array;
  readonly #lengths: Uint16Array;
  readonly #statuses: Uint8Array;
  readonly #read = Buffer.allocUnsafe(LONGEST);
  /** The chunk that is being filled, and how far. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkNumber = -1;
  #used = CHUNK_BYTES;
  #file: number | null = null;
  #isFull = false;

  constructor(cells: number, width: number, bytesInMemory = BYTES_IN_MEMORY) {
    this.#width = width;
    this.#chunksInMemory = Math.floor(bytesInMemory / CHUNK_BYTES);
    this.#places = new Float64Array(cells);
    this.#lengths = new Uint16Array(cells);
    this.#statuses = new Uint8Array(cells);
  }

  has(cell: number): boolean {
    return this.#places[cell]! > 0;
  }

  /** Keeps the fields of a cell; where there is no room for them, `has` stays false. */
  put(cell: number, fields: readonly Field[]): void {
    const packed = this.#packer.pack(fields);
    if (packed.length > LONGEST) return;
    if (this.#used + packed.length > CHUNK_BYTES && !this.#nextChunk()) return;
    packed.copy(this.#chunk, this.#used);
    this.#places[cell] = this.#chunkNumber * CHUNK_BYTES + this.#used + 1;
    this.#lengths[cell] = packed.length;
    this.#statuses[cell] = ROW_STATUSES.indexOf(fields[0] as RowStatus);
    this.#used += packed.length;
  }

  /** The status of a cell that it has, which is the first of its fields. */
  status(cell: number): RowStatus {
    return ROW_STATUSES[this.#statuses[cell]!]!;
  }

  /** The fields of a cell that it has. */
  get(cell: number): Field[] {
    const place = this.#places[cell]! - 1;
    const number = Math.floor(place / CHUNK_BYTES);
    const at = place - number * CHUNK_BYTES;
    if (number === this.#chunkNumber) return this.#packer.unpack(this.#chunk, at, this.#width);
    if (number < this.#chunksInMemory) return this.#packer.unpack(this.#chunks[number]!, at, this.#width);
    readSync(this.#file!, this.#read, 0, this.#lengths[cell]!, place - this.#chunksInMemory * CHUNK_BYTES);
    return this.#packer.unpack(this.#read, 0, this.#width);
  }

  /** Forgets all. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#chunks.length = 0;
    this.#places.fill(0);
  }

  #nextChunk(): boolean {
    if (this.#chunkNumber >= this.#chunksInMemory) {
      if (!this.#spill()) return false;
    } else {
      this.#chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
      if (this.#chunkNumber + 1 < this.#chunksInMemory) this.#chunks.push(this.#chunk);
    }
    this.#chunkNumber++;
    this.#used = 0;
    return true;
  }

  /** Writes the chunk that is full to the file. A disk without room is no reason to fail: the store has the cells too. */
  #spill(): boolean {
    if (this.#isFull) return false;
    try {
      this.#file ??= openUnnamed();
      const start = (this.#chunkNumber - this.#chunksInMemory) * CHUNK_BYTES;
      for (let at = 0; at < CHUNK_BYTES; ) {
        at += writeSync(this.#file, this.#chunk, at, CHUNK_BYTES - at, start + at);
      }
      return true;
    } catch {
      this.#isFull = true;
      return false;
    }
  }
}
