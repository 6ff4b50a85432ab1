import { createHash, hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { fieldEncoder } from '../../rows/csv/field-bytes.ts';
import type { ListedPart } from '../../rows/parts/list-parts.ts';
import type { AddedColumn, PlaceSink, WriteRequest } from '../../rows/port.ts';
import type { PartRecord, WrittenPart } from '../../store/part-store.ts';

/** Increase this after a change of the output's form, so that every part is written again. */
const FORM = 1;

/** Identifies a file's content, as in `make` and rsync. */
export type FileState = Pick<WrittenPart, 'size' | 'mtimeMs'>;

/** The target state of a part, apart from the file's size and time. */
export type PartTarget = Pick<WrittenPart, 'basis' | 'fields' | 'reading'>;

/**
 * - `current`: the output is what this run would write, or comes from a run that had at least the same answers
 * - `held`: another process is writing it
 * - `write`: it is missing, or made from another input, other settings or other answers
 */
export type PartVerdict = 'current' | 'held' | 'write';

/** @param output the file that is there now, null for none */
export function judgePart(record: PartRecord | null, target: PartTarget, output: FileState | null): PartVerdict {
  if (record?.isHeld) return 'held';
  const written = record?.written;
  if (!written || output?.size !== written.size || output.mtimeMs !== written.mtimeMs) return 'write';
  if (written.basis !== target.basis) return 'write';
  return written.fields === target.fields || written.reading > target.reading ? 'current' : 'write';
}

export async function fileState(path: string): Promise<FileState | null> {
  const stats = await stat(path).catch(() => null);
  return stats?.isFile() ? { size: stats.size, mtimeMs: Math.floor(stats.mtimeMs) } : null;
}

/** Identifies the basis of an output: everything except the fields of its rows. */
export function basisOf(
  { size, mtimeMs }: ListedPart,
  {
    dropFrom,
    kept,
    numbers,
    decimal,
    added,
  }: Pick<WriteRequest, 'dropFrom' | 'kept' | 'numbers' | 'decimal' | 'added'>,
  reading: object,
): string {
  const comma = decimal === 'comma' ? { decimal } : {};
  const all = { FORM, size, mtimeMs, dropFrom, kept, numbers: [...(numbers ?? [])], added, reading, ...comma };
  return hash('sha256', JSON.stringify(all));
}

/** Digests of the fields of cells, and of the rows of a part from them. */
export class FieldDigests {
  /** Two numbers of 32 bits for each cell. */
  readonly #cells: Uint32Array;

  constructor(cells: number) {
    this.#cells = new Uint32Array(2 * cells);
  }

  /** Digests the fields of all cells as CSV text: JSON took a third of the time of a warm run of parts. */
  sink(added: readonly AddedColumn[]): PlaceSink {
    let cell = 0;
    return fieldEncoder({ delimiter: ',', encoding: 'utf-8' }, added, false, (bytes, length) => {
      const digest = hash('sha1', bytes.subarray(0, length), 'buffer');
      this.#cells[2 * cell] = digest.readUInt32LE(0);
      this.#cells[2 * cell + 1] = digest.readUInt32LE(4);
      cell++;
    });
  }

  /** @param cells of the rows, in order */
  ofRows(cells: Int32Array): string {
    const digest = createHash('sha256');
    for (let from = 0; from < cells.length; from += ROWS_A_CHUNK) {
      const rows = cells.subarray(from, from + ROWS_A_CHUNK);
      const all = new Uint32Array(2 * rows.length);
      for (let row = 0; row < rows.length; row++) {
        all[2 * row] = this.#cells[2 * rows[row]!]!;
        all[2 * row + 1] = this.#cells[2 * rows[row]! + 1]!;
      }
      digest.update(all);
    }
    return digest.digest('hex');
  }
}

const ROWS_A_CHUNK = 65_536;
