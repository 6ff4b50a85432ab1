import { locationOf } from '../geo/coordinates.ts';
import { pointText } from '../rows/parquet/geo-metadata.ts';
import type { RowFields } from '../rows/port.ts';
import type { CellTable } from './scan/cell-table.ts';

/** Gives the fields of rows, by the numbers that the scan gave their cells or findings. */
export type FieldsAt = (places: Iterable<number>) => Promise<RowFields[]>;

/**
 * Adds the point of each row to its fields: the location that was looked up, which is the row's own rounded to the job's precision;
 * null for a row that has none. Rows of a cell share one function, so that a writer encodes them once.
 */
export function withPoints(cells: CellTable, at: FieldsAt): FieldsAt {
  const made = new WeakMap<RowFields, RowFields>();
  return async (places) => {
    const numbers = [...places];
    const fields = await at(numbers);
    return fields.map((make, row) => {
      const known = made.get(make);
      if (known !== undefined) return known;
      const number = numbers[row]!;
      const point = number < cells.size ? pointOf(cells, number) : null;
      const withPoint: RowFields = () => [...make(), point];
      made.set(make, withPoint);
      return withPoint;
    });
  };
}

function pointOf(cells: CellTable, number: number): string {
  const { lat, lng } = locationOf(cells.cell(number));
  return pointText(lat, lng);
}
