import { addedColumns, knownColumnNames } from '../columns/row.ts';
import { PerilbookError } from '../errors.ts';
import { cellOf } from '../geo/coordinates.ts';
import { type LocationFinding, parseLocation } from '../geo/parse-location.ts';
import { isCovered } from '../geo/us-coverage.ts';
import { findLocationColumns } from '../rows/location-columns.ts';
import { findPerilbookColumns } from '../rows/perilbook-columns.ts';
import type { Book, Row } from '../rows/port.ts';
import { CellTable } from './cell-table.ts';
import type { Job } from './settings.ts';

/** What is wrong with the location of some rows. */
export interface Finding {
  readonly finding: LocationFinding | 'unreadable';
  readonly note: string;
  readonly rows: number;
  /** The line of the first such row. */
  readonly firstLine: number;
}

/** What the first pass over the input found; nothing in it grows with the number of rows, only with that of cells. */
export interface Scan {
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outsideUs: number;
  readonly findings: readonly Finding[];
  readonly cells: CellTable;
  readonly layout: Layout;
}

/** Where things stand in the input. */
export interface Layout {
  readonly lat: number;
  readonly lng: number;
  /** The first of the columns that an earlier run of Perilbook added, or null. */
  readonly dropFrom: number | null;
}

/** Finds the columns. @throws INPUT_COLUMNS */
export function layoutOf(book: Book, job: Job): Layout {
  const dropFrom = findPerilbookColumns(book.columns, knownColumnNames(job.prefix));
  const original = dropFrom === null ? book.columns : book.columns.slice(0, dropFrom);
  const { lat, lng } = findLocationColumns(original, job.location);
  const taken = new Set(original.map((name) => name.toLowerCase()));
  const clash = addedColumns(job.topics, job.prefix).find(({ name }) => taken.has(name.toLowerCase()));
  if (clash) {
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `The input already has a column ${clash.name}`,
      'Give the new columns a prefix (--prefix), or rename that column.',
      { file: job.input, column: clash.name },
    );
  }
  return { lat, lng, dropFrom };
}

/** What a row's location is: a cell, or a finding. */
export function locate(row: Row, precision: number) {
  if (row.problem !== undefined) return { ok: false, finding: 'unreadable', note: row.problem } as const;
  const parsed = parseLocation(row.fields[0] ?? '', row.fields[1] ?? '', isCovered);
  return parsed.ok ? ({ ok: true, cell: cellOf(parsed.location, precision) } as const) : parsed;
}

/** The first pass: streams the input once, checks each location, collects the distinct cells. Spends nothing. */
export async function scan(book: Book, job: Job): Promise<Scan> {
  const layout = layoutOf(book, job);
  const cells = new CellTable();
  const findings = new Map<Finding['finding'], { note: string; rows: number; firstLine: number }>();
  let rows = 0;
  let located = 0;
  for await (const batch of book.read([layout.lat, layout.lng])) {
    for (const row of batch) {
      rows++;
      const place = locate(row, job.precision);
      if (place.ok) {
        located++;
        cells.add(place.cell);
        continue;
      }
      const known = findings.get(place.finding);
      if (known) known.rows++;
      else findings.set(place.finding, { note: place.note, rows: 1, firstLine: row.line });
    }
  }
  const outsideUs = findings.get('outside_us')?.rows ?? 0;
  return {
    rows,
    located,
    outsideUs,
    invalid: rows - located - outsideUs,
    findings: [...findings]
      .map(([finding, found]) => ({ finding, ...found }))
      .sort((a, b) => a.firstLine - b.firstLine),
    cells,
    layout,
  };
}
