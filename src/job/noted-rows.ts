import type { Prepared } from './prepare.ts';
import { FIRST_VALUE } from './scan/layout.ts';
import { locate } from './scan/locate.ts';
import { type Finding, rowValue } from './scan/scan-input.ts';

/** The first row of a cell, and the texts of some columns of it. */
interface NotedRow {
  readonly number: number;
  readonly texts: readonly string[];
}

export interface NotedRows {
  /** By the number of the cell. */
  readonly first: ReadonlyMap<number, NotedRow>;
  /** The first lines of each finding. */
  readonly lines: ReadonlyMap<Finding['finding'], readonly number[]>;
}

/** Lines kept of each finding: enough to see what kind of rows they are. */
const LINES_KEPT = 12;

/** Streams the input once more for what no figure holds: the first rows of some cells, and the lines of what was found. */
export async function notedRows(
  { rowFile, job, plan }: Prepared,
  wanted: ReadonlySet<number>,
  columns: readonly number[],
): Promise<NotedRows> {
  const { layout, cells } = plan.scan;
  const first = new Map<number, NotedRow>();
  const lines = new Map<Finding['finding'], number[]>();
  const found = (finding: Finding['finding'], line: number) => {
    const known = lines.get(finding);
    if (known === undefined) lines.set(finding, [line]);
    else if (known.length < LINES_KEPT) known.push(line);
  };
  for await (const batch of rowFile.read([...layout.columns, ...columns], FIRST_VALUE)) {
    for (const row of batch) {
      const place = locate(row, job, layout);
      if (!rowValue(row, layout).readable) found('value_not_a_number', row.line);
      if (!place.ok) {
        found(place.finding, row.line);
        continue;
      }
      const cell = cells.numberOf(place.cell);
      if (!wanted.has(cell) || first.has(cell)) continue;
      first.set(cell, { number: row.number, texts: row.fields.slice(layout.columns.length) });
    }
  }
  return { first, lines };
}
