import type { Row } from '../rows/port.ts';
import type { Prepared } from './prepare.ts';
import { FIRST_VALUE } from './scan/layout.ts';
import type { Finding } from './scan/scan-input.ts';
import { rowValue } from './scan/scanned-rows.ts';

/** Where a row is: its line, and its part file where the input is several. */
export type RowPlace = Pick<Row, 'line' | 'part'>;

/** The first row of a cell, and the texts of some columns of it. */
interface NotedRow extends Pick<Row, 'number' | 'line' | 'part'> {
  readonly texts: readonly string[];
}

export interface NotedRows {
  /** By the number of the cell. */
  readonly first: ReadonlyMap<number, NotedRow>;
  /** The first rows of each finding. */
  readonly places: ReadonlyMap<Finding['finding'], readonly RowPlace[]>;
}

/** Rows kept of each finding: enough to see what kind of rows they are. */
const PLACES_KEPT = 12;

/**
 * Streams the input once more for what no figure holds: the first rows of some cells, and the lines of what was found. Locations are
 * not read again, the scan has kept the cell of each row; values only where one of them is not a number.
 */
export async function notedRows(
  { rowFile, plan }: Prepared,
  wanted: ReadonlySet<number>,
  columns: readonly number[],
): Promise<NotedRows> {
  const { layout, cells, findings } = plan.scan;
  const first = new Map<number, NotedRow>();
  const places = new Map<Finding['finding'], RowPlace[]>();
  const found = (finding: Finding['finding'], row: Row) => {
    const known = places.get(finding);
    if (known === undefined) places.set(finding, [row]);
    else if (known.length < PLACES_KEPT) known.push(row);
  };
  const readsValues = findings.some(({ finding }) => finding === 'value_not_a_number');
  const before = readsValues ? layout.columns : layout.columns.slice(0, 1);
  const numbersOf = plan.scan.places.placesFrom(cells.size);
  for await (const batch of rowFile.read([...before, ...columns], Math.min(before.length, FIRST_VALUE))) {
    const numbers = numbersOf(batch.length);
    for (let index = 0; index < batch.length; index++) {
      const row = batch[index]!;
      const cell = numbers[index]!;
      if (readsValues && !rowValue(row, layout).readable) found('value_not_a_number', row);
      if (cell >= cells.size) found(plan.scan.places.unlocated[cell - cells.size]!.finding, row);
      else if (wanted.has(cell) && !first.has(cell)) {
        first.set(cell, { ...row, texts: row.fields.slice(before.length) });
      }
    }
  }
  return { first, places };
}
