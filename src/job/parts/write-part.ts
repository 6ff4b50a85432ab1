import type { OpenOptions } from '../../rows/file-formats.ts';
import type { PartPlace } from '../../rows/parts/list-parts.ts';
import { openPart } from '../../rows/parts/part-files.ts';
import type { PlaceSink, WriteRequest, WriteResult } from '../../rows/port.ts';
import { otherRows } from '../scan/row-places.ts';

/** A part to write, as plain data, which can be sent to a thread. */
export interface PartTask {
  readonly part: PartPlace;
  readonly output: string;
  readonly reading: OpenOptions;
  readonly columns: Pick<WriteRequest, 'dropFrom' | 'kept' | 'numbers' | 'added'>;
  /** The number of each row's cell or finding. */
  readonly places: Int32Array<ArrayBuffer>;
}

/** Gives the fields of cells and findings to a sink, by number; `ahead` are those of the rows behind. */
export type GiveFields = (sink: PlaceSink, places: readonly number[], ahead: Int32Array<ArrayBuffer>) => Promise<void>;

/** Writes a part whole or not at all. @throws INPUT_UNREADABLE where it has changed since the scan */
export async function writePart(
  { part, output, reading, columns, places }: PartTask,
  giveFields: GiveFields,
  onRows: (rows: number) => void,
  signal: AbortSignal,
): Promise<WriteResult> {
  const rowFile = await openPart(part, reading);
  let rows = 0;
  const result = await rowFile.write({
    ...{ output, signal, ...columns },
    placed: {
      // A part has rows of few of the places of all parts: only these are encoded.
      count: Number.POSITIVE_INFINITY,
      next: (count) => {
        const from = rows;
        rows += count;
        if (rows > places.length) throw otherRows(part.path, rows, places.length);
        onRows(count);
        return places.slice(from, rows);
      },
      give: (sink, wanted = []) => giveFields(sink, wanted, places.subarray(rows)),
      inThreads: null,
    },
  });
  if (result.rows !== places.length) throw otherRows(part.path, result.rows, places.length);
  return result;
}
