import { addedColumns, knownColumnNames } from '../../columns/row.ts';
import { PerilbookError } from '../../errors.ts';
import { cellOf } from '../../geo/coordinates.ts';
import { type LocationFinding, parseLocation } from '../../geo/parse-location.ts';
import { isCovered } from '../../geo/us-coverage.ts';
import { findLocationColumns } from '../../rows/location-columns.ts';
import { findPerilbookColumns } from '../../rows/perilbook-columns.ts';
import type { Book, Row } from '../../rows/port.ts';
import type { Job } from '../settings/settings.ts';
import { type AreaColumns, areasOfRow, findAreaColumns } from './area-columns.ts';
import { AreaTable } from './area-table.ts';
import { CellTable } from './cell-table.ts';
import { RowPlaces } from './row-places.ts';
import { parseValue, valueColumns } from './value.ts';

/** What is wrong in rows that are looked up all the same. */
export const LOOKED_UP_FINDINGS = ['value_not_a_number', 'area_not_readable', 'areas_differ'] as const;

/** What is wrong with some rows: with the location, for which they are not looked up, or beside it. */
export interface Finding {
  readonly finding: LocationFinding | 'unreadable' | (typeof LOOKED_UP_FINDINGS)[number];
  readonly note: string;
  readonly rows: number;
  /** The line of the first such row. */
  readonly firstLine: number;
}

/** What the first pass over the input found. In memory nothing of it grows with the number of rows, only with that of
 * cells: the places of the rows are kept beyond it in a file. */
export interface Scan {
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outsideUs: number;
  /** The sum over all rows; 0 in the order of the file. */
  readonly totalValue: number;
  readonly findings: readonly Finding[];
  readonly cells: CellTable;
  readonly areas: AreaTable;
  /** Where each row is; closed by the pass that writes. */
  readonly places: RowPlaces;
  readonly layout: Layout;
}

/** Where things stand in the input. */
export interface Layout {
  /** The columns that each pass reads: latitude, longitude, those whose sum is a row's value, those with area codes. */
  readonly columns: readonly number[];
  /** How many of them are values. */
  readonly values: number;
  readonly areas: AreaColumns;
  /** Which columns were taken for the location where there was a choice; null where there was none. */
  readonly locationNote: string | null;
  /** The first of the columns that an earlier run of Perilbook added, or null. */
  readonly dropFrom: number | null;
}

/** Finds the columns. @throws INPUT_COLUMNS */
export function layoutOf(book: Book, job: Job): Layout {
  const dropFrom = findPerilbookColumns(book.columns, knownColumnNames(job.prefix));
  const original = dropFrom === null ? book.columns : book.columns.slice(0, dropFrom);
  const { lat, lng, note } = findLocationColumns(original, job.location);
  const taken = new Set(original.map((name) => name.toLowerCase()));
  const clash = addedColumns(job.topics, job.prefix, job.counts).find(({ name }) => taken.has(name.toLowerCase()));
  if (clash) {
    throw new PerilbookError(
      'INPUT_COLUMNS',
      `The input already has a column ${clash.name}`,
      'Give the new columns a prefix (--prefix), or rename that column.',
      { file: job.input, column: clash.name },
    );
  }
  const values = valueColumns(original, job.orderBy, job.input);
  const areas = findAreaColumns(original, job.areas, FIRST_VALUE + values.length, job.input);
  const columns = [lat, lng, ...values, ...areas.read];
  return { columns, values: values.length, areas: areas.columns, locationNote: note, dropFrom };
}

/** What a row's location is: a cell, or a finding. */
export function locate(row: Row, precision: number) {
  if (row.problem !== undefined) return { ok: false, finding: 'unreadable', note: row.problem } as const;
  const parsed = parseLocation(row.fields[0] ?? '', row.fields[1] ?? '', isCovered);
  return parsed.ok ? ({ ok: true, cell: cellOf(parsed.location, precision) } as const) : parsed;
}

/** What a row is worth: the sum of its value columns. A text that is no number counts as 0, and is counted. */
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

/** Behind latitude and longitude, without which a row is nothing: one that is too short for its value counts as worth 0. */
export const FIRST_VALUE = 2;

/** The first pass: streams the input once, checks each location, collects the distinct cells. Spends nothing; `onRows` is
 * told now and then how many rows were read. */
export async function scan(book: Book, job: Job, onRows: (rows: number) => void = () => {}): Promise<Scan> {
  const layout = layoutOf(book, job);
  const cells = new CellTable();
  const areas = new AreaTable();
  const places = new RowPlaces();
  const findings = new Map<Finding['finding'], { note: string; rows: number; firstLine: number }>();
  let rows = 0;
  let located = 0;
  let totalValue = 0;
  const found = (finding: Finding['finding'], note: string, line: number): void => {
    const known = findings.get(finding);
    if (known) known.rows++;
    else findings.set(finding, { note, rows: 1, firstLine: line });
  };
  for await (const batch of book.read(layout.columns, FIRST_VALUE)) {
    for (const row of batch) {
      rows++;
      const place = locate(row, job.precision);
      const { value, readable } = rowValue(row, layout);
      totalValue += value;
      if (!readable) found('value_not_a_number', 'The value is not a number: it counts as 0.', row.line);
      if (place.ok) {
        located++;
        const cell = cells.add(place.cell, value);
        places.addCell(cell);
        if (job.areas !== null) {
          const { tract, county, unreadable } = areasOfRow(row.fields, layout.areas);
          if (unreadable)
            found('area_not_readable', 'The tract or county code cannot be read: bought by cell.', row.line);
          const agrees = areas.say(cell, 'tract', tract);
          if (!(areas.say(cell, 'county', county) && agrees)) {
            found('areas_differ', 'Rows of one cell name different areas: bought by cell.', row.line);
          }
        }
        continue;
      }
      places.addUnlocated(place.finding, place.note, value);
      found(place.finding, place.note, row.line);
    }
    onRows(rows);
  }
  const outsideUs = findings.get('outside_us')?.rows ?? 0;
  return {
    rows,
    located,
    outsideUs,
    totalValue,
    invalid: rows - located - outsideUs,
    findings: [...findings]
      .map(([finding, found]) => ({ finding, ...found }))
      .sort((a, b) => a.firstLine - b.firstLine),
    cells,
    areas,
    places,
    layout,
  };
}
