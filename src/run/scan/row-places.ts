import { closeSync, readSync, writeSync } from 'node:fs';
import { hasSystemCode, PerilbookError } from '../../base/errors.ts';
import { LOCATION_NOTES, type LocationFinding } from '../../geo/parse-location.ts';
import { openUnnamed } from '../../rows/files/temporary-files.ts';
import type { NoLocation } from '../../rows/no-locations.ts';

export type RowFinding = LocationFinding | NoLocation | 'unreadable' | 'too_many_fields';

/** The `hazard_status` of a finding: a real place elsewhere is not an error of the row. */
export function statusOfFinding(finding: RowFinding): 'invalid' | 'outside_us' {
  return finding === 'outside_us' ? 'outside_us' : 'invalid';
}

/** Rows without a usable location, of one kind: they get the same fields. */
export interface Unlocated {
  readonly finding: RowFinding;
  readonly note: string;
  rows: number;
}

const ROWS_A_CHUNK = 256 * 1024;
/** 16 MiB, four million rows; the rest is in a temporary file. */
const CHUNKS_IN_MEMORY = 16;

/** Notes of unreadable rows contain counts, so their number is unbounded. Further ones get a general note. */
const MOST_NOTES = 16_384;

/** For each row of the input, the number of its cell or of its finding: 4 bytes a row. Reading, parsing and looking up locations again
 * took a third of the last pass (1.0 s of 3.0 s for a million rows of CSV, 1.2 s of Parquet). */
export class RowPlaces implements Disposable {
  readonly #chunksInMemory: number;
  readonly #chunks: Int32Array<ArrayBuffer>[] = [];
  readonly #unlocated: Unlocated[] = [];
  readonly #numbers = new Map<string, number>();
  #chunk = new Int32Array(0);
  #used = 0;
  #rows = 0;
  #file: number | null = null;

  constructor(chunksInMemory = CHUNKS_IN_MEMORY) {
    this.#chunksInMemory = chunksInMemory;
  }

  get rows(): number {
    return this.#rows;
  }

  /** The findings, by the number that `placesFrom` gives above those of the cells. */
  get unlocated(): readonly Unlocated[] {
    return this.#unlocated;
  }

  /** Gives rows with one finding another, as the whole file decides. */
  replaceFinding(finding: LocationFinding, by: LocationFinding): void {
    const number = this.#unlocated.findIndex((unlocated) => unlocated.finding === finding);
    if (number >= 0)
      this.#unlocated[number] = {
        ...this.#unlocated[number]!,
        finding: by,
        note: LOCATION_NOTES[by],
      };
  }

  addCell(cell: number): void {
    this.#add(cell);
  }

  addUnlocated(finding: Unlocated['finding'], note: string): void {
    const number = this.#numberOf(finding, note);
    this.#unlocated[number]!.rows++;
    this.#add(~number);
  }

  /** Returns a reader that begins at `row` and reads `count` rows per call: the number of a cell, or `cells` plus the number of a finding.
   * @throws INPUT_UNREADABLE for more rows than were added */
  placesFrom(cells: number, row = 0): (count: number) => Int32Array<ArrayBuffer> {
    let next = row;
    let chunk = new Int32Array(0);
    let held = -1;
    return (count) => {
      if (next + count > this.#rows) throw moreRows('The input', this.#rows);
      const places = new Int32Array(count);
      for (let i = 0; i < count; i++, next++) {
        const number = Math.floor(next / ROWS_A_CHUNK);
        if (number !== held) {
          chunk = this.#chunkAt(number);
          held = number;
        }
        const place = chunk[next - number * ROWS_A_CHUNK]!;
        places[i] = place >= 0 ? place : cells + ~place;
      }
      return places;
    };
  }

  [Symbol.dispose](): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
    this.#chunks.length = 0;
    this.#rows = 0;
  }

  #numberOf(finding: Unlocated['finding'], note: string): number {
    const number = this.#numbers.get(note);
    if (number !== undefined) return number;
    const isFull = this.#numbers.size >= MOST_NOTES;
    const kept = isFull ? 'The row cannot be read.' : note;
    const general = isFull ? this.#numbers.get(kept) : undefined;
    if (general !== undefined) return general;
    this.#numbers.set(kept, this.#unlocated.length);
    return this.#unlocated.push({ finding, note: kept, rows: 0 }) - 1;
  }

  #add(place: number): void {
    if (this.#used === this.#chunk.length) this.#nextChunk();
    this.#chunk[this.#used++] = place;
    this.#rows++;
  }

  #nextChunk(): void {
    const full = Math.floor(this.#rows / ROWS_A_CHUNK);
    if (full > this.#chunksInMemory) this.#spill(full - 1);
    if (full <= this.#chunksInMemory) {
      this.#chunk = new Int32Array(ROWS_A_CHUNK);
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

  #chunkAt(number: number): Int32Array<ArrayBuffer> {
    if (number < this.#chunks.length) return this.#chunks[number]!;
    // The last chunk is still in memory.
    if (number === Math.floor((this.#rows - 1) / ROWS_A_CHUNK)) return this.#chunk;
    const chunk = new Int32Array(ROWS_A_CHUNK);
    const bytes = bytesOf(chunk);
    const start = (number - this.#chunksInMemory) * bytes.length;
    for (let at = 0; at < bytes.length; )
      at += readSync(this.#file!, bytes, at, bytes.length - at, start + at);
    return chunk;
  }
}

const bytesOf = (chunk: Int32Array<ArrayBuffer>): Buffer =>
  Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** An error of the temporary file, with what to do if there is no room for it. */
export function asDiskFull(error: unknown): unknown {
  if (!['ENOSPC', 'EFBIG', 'EDQUOT'].some((code) => hasSystemCode(error, code))) return error;
  const message = 'The temporary folder is full: the scan needs 4 bytes a row';
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
