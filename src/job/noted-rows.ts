import type { Row } from '../rows/port.ts';
import type { Prepared } from './prepare.ts';
import { FIRST_VALUE } from './scan/layout.ts';
import { locate } from './scan/locate.ts';
import { type Finding, rowValue } from './scan/scan-input.ts';

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

/** Streams the input once more for what no figure holds: the first rows of some cells, and the lines of what was found. */
export async function notedRows(
  { rowFile, job, plan }: Prepared,
  wanted: ReadonlySet<number>,
  columns: readonly number[],
): Promise<NotedRows> {
  const { layout, cells } = plan.scan;
  const first = new Map<number, NotedRow>();
  const places = new Map<Finding['finding'], RowPlace[]>();
  const found = (finding: Finding['finding'], row: Row) => {
    const known = places.get(finding);
    if (known === undefined) places.set(finding, [row]);
    else if (known.length < PLACES_KEPT) known.push(row);
  };
  for await (const batch of rowFile.read([...layout.columns, ...columns], FIRST_VALUE)) {
    for (const row of batch) {
      const place = locate(row, job, layout);
      if (!rowValue(row, layout).readable) found('value_not_a_number', row);
      if (!place.ok) {
        found(place.finding, row);
        continue;
      }
      const cell = cells.numberOf(place.cell);
      if (!wanted.has(cell) || first.has(cell)) continue;
      first.set(cell, { ...row, texts: row.fields.slice(layout.columns.length) });
    }
  }
  return { first, places };
}
