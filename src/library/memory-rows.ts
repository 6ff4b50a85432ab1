import type { Field } from '../contract/answer.ts';
import { rowFields } from '../rows/placed-fields.ts';
import type { RowFile } from '../rows/port.ts';

/** A coordinate in decimal degrees: a number, or the text of one. Text in other notations needs `coordinates: 'lenient'`. */
export type Coordinate = number | string | null | undefined;

/** Rows of a program as a row file: scanned, priced and joined by the same code as the rows of a file. */
export interface MemoryRows extends RowFile {
  /** The fields of each row, once they were written. */
  readonly written: () => readonly (readonly Field[])[];
}

/** @param first the number of the first row, counted from 1 */
export function memoryRows(locations: readonly (readonly [Coordinate, Coordinate])[], first: number): MemoryRows {
  let written: readonly (readonly Field[])[] = [];
  return {
    format: 'memory',
    columns: ['lat', 'lng'],
    unit: 'row',
    async *read(columns) {
      yield locations.map((location, index) => {
        const fields = columns.map((column) => String(location[column] ?? ''));
        return { number: first + index, line: first + index, fields };
      });
    },
    async write(request) {
      written = await rowFields(request, (fields) => fields)(locations.length);
      return { rows: locations.length, bytes: 0 };
    },
    written: () => written,
  };
}
