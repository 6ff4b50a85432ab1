import type { Cell } from '../../geo/coordinates.ts';
import type { LocationFinding } from '../../geo/parse-location.ts';
import type { ReadSegment, Row, RowSegments, Segment } from '../../rows/port.ts';
import { type ColumnType, ColumnTypes } from './column-types.ts';
import { FIRST_VALUE, type Layout } from './layout.ts';
import { type LocateSettings, locate } from './locate.ts';
import { parseValue } from './value.ts';

/** What a scan notes of a row, by the row alone. */
export interface ScannedRow {
  readonly place:
    | { readonly ok: true; readonly cell: Cell; readonly isLenient: boolean }
    | { readonly ok: false; readonly finding: LocationFinding | 'unreadable'; readonly note: string };
  readonly value: number;
  /** False where a value is not a number. */
  readonly readable: boolean;
}

export function scannedRow(row: Row, settings: LocateSettings, layout: Layout): ScannedRow {
  return { place: locate(row, settings, layout), ...rowValue(row, layout) };
}

/** The value of a row: the sum of its value columns. A text that is no number counts as 0 and is reported. */
export function rowValue(row: Row, layout: Layout): { readonly value: number; readonly readable: boolean } {
  let value = 0;
  let readable = true;
  for (let index = FIRST_VALUE; index < FIRST_VALUE + layout.values; index++) {
    const part = parseValue(row.fields[index] ?? '');
    if (part === null) readable = false;
    else value += part;
  }
  return { value, readable };
}

/** The rows of a segment as a message carries them. Most rows have a cell and nothing else: these are in `cells` alone. */
export interface ScannedSegment extends ReadSegment {
  /** Latitude and longitude of each row's cell; 0 for a row without one. */
  readonly cells: Int32Array<ArrayBuffer>;
  /** The value of each row; null where the job has no value columns. */
  readonly values: Float64Array<ArrayBuffer> | null;
  /** The rows with a finding, in their order. */
  readonly others: readonly (ScannedRow & { readonly index: number; readonly line: number })[];
  readonly types: readonly ColumnType[];
}

/** What threads scan the segments of a file with. */
export interface SegmentScan {
  readonly settings: LocateSettings;
  readonly layout: Layout;
}

export async function scanSegment(
  file: RowSegments,
  segment: Segment,
  { settings, layout }: SegmentScan,
): Promise<ScannedSegment> {
  const types = new ColumnTypes(layout);
  let cells = new Int32Array(16_384);
  let values = new Float64Array(layout.values > 0 ? cells.length / 2 : 0);
  const others: ScannedSegment['others'][number][] = [];
  let rows = 0;
  const batches = file.read(segment, types.columns, FIRST_VALUE);
  for (;;) {
    const { done, value: batch } = await batches.next();
    if (done) {
      const kept = layout.values > 0 ? values.slice(0, rows) : null;
      return { ...batch, cells: cells.slice(0, 2 * rows), values: kept, others, types: types.types };
    }
    if (2 * (rows + batch.length) > cells.length) {
      const room = Math.max(2 * cells.length, 2 * (rows + batch.length));
      cells = grown(cells, new Int32Array(room));
      if (layout.values > 0) values = grown(values, new Float64Array(room / 2));
    }
    for (const row of batch) {
      types.note(row.fields);
      const scanned = scannedRow(row, settings, layout);
      const { place, value, readable } = scanned;
      if (place.ok) {
        cells[2 * rows] = place.cell.lat7;
        cells[2 * rows + 1] = place.cell.lng7;
      }
      if (layout.values > 0) values[rows] = value;
      if (!place.ok || place.isLenient || !readable) others.push({ ...scanned, index: rows, line: row.line });
      rows++;
    }
  }
}

function grown<A extends Int32Array | Float64Array>(old: A, next: A): A {
  next.set(old);
  return next;
}
