import { closeSync, readSync, writeSync } from 'node:fs';
import { isRoomUsedUp, PerilbookError } from '../../base/errors.ts';
import { openUnnamed } from '../../rows/files/temporary-files.ts';

type Numbers = Int32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

const ROWS_A_CHUNK = 256 * 1024;
/** Four million rows, 16 MiB of numbers of 32 bits; the rest is in a temporary file. */
const CHUNKS_IN_MEMORY = 16;

/** A number for each row of the input, in order. */
export class NumbersOfRows<Kind extends Numbers> implements Disposable {
  readonly #make: (length: number) => Kind;
  readonly #chunksInMemory: number;
  readonly #chunks: Kind[] = [];
  #chunk: Kind;
  #used = 0;
  #rows = 0;
  #file: number | null = null;

  /** @param make makes an array of zeros */
  constructor(make: (length: number) => Kind, chunksInMemory = CHUNKS_IN_MEMORY) {
    this.#make = make;
    this.#chunksInMemory = chunksInMemory;
    this.#chunk = make(0);
  }

  get rows(): number {
    return this.#rows;
  }

  add(number: number): void {
    if (this.#used === this.#chunk.length) this.#nextChunk();
    this.#chunk[this.#used++] = number;
    this.#rows++;
  }

  /** Returns a reader that begins at `row` and gives the numbers of the next `count` rows.
   * @throws INPUT_UNREADABLE for more rows than were added */
  numbersFrom(row = 0): (count: number) => Kind {
    let next = row;
    let chunk = this.#make(0);
    let held = -1;
    return (count) => {
      if (next + count > this.#rows) throw moreRows('The input', this.#rows);
      const numbers = this.#make(count);
      for (let i = 0; i < count; i++, next++) {
        const number = Math.floor(next / ROWS_A_CHUNK);
        if (number !== held) {
          chunk = this.#chunkAt(number);
          held = number;
        }
        numbers[i] = chunk[next - number * ROWS_A_CHUNK]!;
      }
      return numbers;
    };
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#chunks.length = 0;
    this.#rows = 0;
  }

  #nextChunk(): void {
    const full = Math.floor(this.#rows / ROWS_A_CHUNK);
    if (full > this.#chunksInMemory) this.#spill(full - 1);
    if (full <= this.#chunksInMemory) {
      this.#chunk = this.#make(ROWS_A_CHUNK);
      if (full < this.#chunksInMemory) this.#chunks.push(this.#chunk);
    }
    this.#used = 0;
  }

  #spill(number: number): void {
    try {
      this.#file ??= openUnnamed();
      const bytes = bytesOf(this.#chunk);
      const start = (number - this.#chunksInMemory) * bytes.length;
      for (let at = 0; at < bytes.length; )
        at += writeSync(this.#file, bytes, at, bytes.length - at, start + at);
    } catch (error) {
      throw asDiskFull(error);
    }
  }

  #chunkAt(number: number): Kind {
    if (number < this.#chunks.length) return this.#chunks[number]!;
    // The last chunk is still in memory.
    if (number === Math.floor((this.#rows - 1) / ROWS_A_CHUNK)) return this.#chunk;
    const chunk = this.#make(ROWS_A_CHUNK);
    const bytes = bytesOf(chunk);
    const start = (number - this.#chunksInMemory) * bytes.length;
    for (let at = 0; at < bytes.length; )
      at += readSync(this.#file!, bytes, at, bytes.length - at, start + at);
    return chunk;
  }
}

const bytesOf = (chunk: Numbers): Buffer =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** An error of the temporary file, with what to do if there is no room for it. */
export function asDiskFull(error: unknown): unknown {
  if (!isRoomUsedUp(error)) return error;
  const message = 'The temporary folder is full: the scan needs up to 12 bytes a row';
  return new PerilbookError(
    'INPUT_UNREADABLE',
    message,
    'Set TMPDIR to a folder with more space.',
    {},
    error,
  );
}

/** The error of a file that has grown since the scan. */
export function moreRows(file: string, scanned: number): PerilbookError {
  const message = `${file} has changed: it has more than the ${scanned} rows that were scanned`;
  return new PerilbookError(
    'INPUT_UNREADABLE',
    message,
    'Run again when no other program writes to it.',
  );
}

/** The error of a file that has another number of rows than the scan counted. */
export function otherRows(file: string, rows: number, scanned: number): PerilbookError {
  const message = `${file} has ${rows} rows now, where ${scanned} were scanned`;
  return new PerilbookError(
    'INPUT_UNREADABLE',
    message,
    'Run again when no other program writes to it.',
    { file },
  );
}
