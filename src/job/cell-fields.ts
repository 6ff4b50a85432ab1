import { closeSync, readSync, writeSync } from 'node:fs';
import { ROW_STATUSES, type RowStatus } from '../columns/row-status.ts';
import type { Field } from '../contract/answer.ts';
import { FieldPacker, textsInMemory } from '../store/packed-fields.ts';
import type { PackedFields } from '../store/port.ts';
import { openUnnamed } from './unnamed-file.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;

/** What is held in memory; the rest lies in a temporary file. 64 MB are some 300,000 cells of 18 natural topics. */
const BYTES_IN_MEMORY = 64 * 1024 * 1024;

/** Lengths are held in 16 bits; a longer one is read from the store instead. */
const LONGEST = 65_535;

const OK = ROW_STATUSES.indexOf('ok');
/** Beside the status of a cell: its fields are as the store packed them. */
const FROM_STORE = 0x80;

/** Makes the fields of a cell that lacks nothing from what the store packed, which begins at a place in some bytes. */
export type Finish = (asOf: number, bytes: Buffer, from: number) => Field[];

/**
 * The finished fields of cells, by the cell's number, between the plan that reads them and the pass that writes the rows:
 * each cell is read from the store once, not once for the plan and again for each batch of rows.
 *
 * Layouts that were tried, a million rows at 180,000 cells, 18 natural topics (the whole write, on two cores; the packed one
 * on a busier machine than the first; memory is reckoned from the fields, not measured):
 * - arrays of the last 20,000 cells, the others read from the store for each batch: 23 s, 20 MB and up
 * - arrays of all cells: not timed; some 160 MB in the heap and 10 times that at two million cells
 * - packed fields: 5.5 s, some 40 MB, and 64 MB at most
 * - packed fields as the store has packed them, never unpacked until they are written, as here: 1.8 s less
 */
export class CellFields {
  readonly #width: number;
  readonly #finish: Finish;
  readonly #chunksInMemory: number;
  readonly #packer = new FieldPacker(textsInMemory());
  readonly #chunks: Buffer[] = [];
  /** The place of a cell plus one, 0 for none; as a double, because 4 GB are 20 million cells only. */
  readonly #places: Float64Array;
  readonly #lengths: Uint16Array;
  readonly #statuses: Uint8Array;
  /** When the oldest answer was said, of cells that the store has packed. */
  readonly #times: Float64Array;
  readonly #read = Buffer.allocUnsafe(LONGEST);
  /** The chunk that is being filled, and how far. */
  #chunk: Buffer = Buffer.alloc(0);
  #chunkNumber = -1;
  #used = CHUNK_BYTES;
  #file: number | null = null;
  #isFull = false;

  constructor(cells: number, width: number, finish: Finish, bytesInMemory = BYTES_IN_MEMORY) {
    this.#width = width;
    this.#finish = finish;
    this.#chunksInMemory = Math.floor(bytesInMemory / CHUNK_BYTES);
    this.#places = new Float64Array(cells);
    this.#lengths = new Uint16Array(cells);
    this.#statuses = new Uint8Array(cells);
    this.#times = new Float64Array(cells);
  }

  has(cell: number): boolean {
    return this.#places[cell]! > 0;
  }

  /** Keeps the fields of a cell; where there is no room for them, `has` stays false. */
  put(cell: number, fields: readonly Field[]): void {
    const packed = this.#packer.pack(fields);
    if (!this.#makeRoom(packed.length)) return;
    packed.copy(this.#chunk, this.#used);
    this.#took(cell, packed.length, ROW_STATUSES.indexOf(fields[0] as RowStatus));
  }

  /** The same for a cell that has all that is wanted, as the store has packed it. */
  putPacked(cell: number, { asOf, bytes }: PackedFields): void {
    if (!this.#makeRoom(bytes.length)) return;
    bytes.copy(this.#chunk, this.#used);
    this.#times[cell] = asOf;
    this.#took(cell, bytes.length, OK | FROM_STORE);
  }

  /** The status of a cell that it has, which is the first of its fields. */
  status(cell: number): RowStatus {
    return ROW_STATUSES[this.#statuses[cell]! & ~FROM_STORE]!;
  }

  /** The fields of a cell that it has. */
  get(cell: number): Field[] {
    const place = this.#places[cell]! - 1;
    const number = Math.floor(place / CHUNK_BYTES);
    const at = place - number * CHUNK_BYTES;
    const unpack = (bytes: Buffer, from: number) =>
      this.#statuses[cell]! >= FROM_STORE
        ? this.#finish(this.#times[cell]!, bytes, from)
        : this.#packer.unpack(bytes, from, this.#width);
    if (number === this.#chunkNumber) return unpack(this.#chunk, at);
    if (number < this.#chunksInMemory) return unpack(this.#chunks[number]!, at);
    readSync(this.#file!, this.#read, 0, this.#lengths[cell]!, place - this.#chunksInMemory * CHUNK_BYTES);
    return unpack(this.#read, 0);
  }

  /** Forgets all. */
  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#chunks.length = 0;
    this.#places.fill(0);
  }

  #makeRoom(length: number): boolean {
    return length <= LONGEST && (this.#used + length <= CHUNK_BYTES || this.#nextChunk());
  }

  #took(cell: number, length: number, status: number): void {
    this.#places[cell] = this.#chunkNumber * CHUNK_BYTES + this.#used + 1;
    this.#lengths[cell] = length;
    this.#statuses[cell] = status;
    this.#used += length;
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
