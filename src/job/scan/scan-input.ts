import type { LocationFinding } from '../../geo/parse-location.ts';
import type { Row, RowFile } from '../../rows/port.ts';
import type { Job } from '../settings/settings.ts';
import { areasOfRow } from './area-columns.ts';
import { AreaTable } from './area-table.ts';
import { CellTable } from './cell-table.ts';
import { ColumnTypes } from './column-types.ts';
import { FIRST_VALUE, type KeptColumn, type Layout, layoutOf } from './layout.ts';
import { locate } from './locate.ts';
import { RowPlaces } from './row-places.ts';
import { parseValue } from './value.ts';

/** What is wrong in rows that are looked up all the same. */
export const LOOKED_UP_FINDINGS = [
  'read_leniently',
  'value_not_a_number',
  'area_not_readable',
  'areas_differ',
  'edited_value',
] as const;

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
  /** Of the columns that the job uses, those that hold numbers in every row. */
  readonly numbers: ReadonlySet<number>;
  /** The columns of an earlier run that stay, with the types that their texts allow. */
  readonly kept: readonly KeptColumn[];
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

/** The first pass: streams the input once, checks each location, collects the distinct cells. Spends nothing; `onRows` is
 * told now and then how many rows were read. */
export async function scan(rowFile: RowFile, job: Job, onRows: (rows: number) => void = () => {}): Promise<Scan> {
  const layout = layoutOf(rowFile, job);
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
  const types = new ColumnTypes(layout);
  for await (const batch of rowFile.read(types.columns, FIRST_VALUE)) {
    for (const row of batch) {
      rows++;
      types.note(row.fields);
      const place = locate(row, job, layout);
      const { value, readable } = rowValue(row, layout);
      totalValue += value;
      if (!readable) found('value_not_a_number', 'The value is not a number: it counts as 0.', row.line);
      if (place.ok) {
        located++;
        const cell = cells.add(place.cell, value);
        places.addCell(cell);
        if (place.isLenient) found('read_leniently', LENIENT, row.line);
        if (job.areas !== null) {
          const { tract, county, unreadable, isTractAlone } = areasOfRow(row.fields, layout.areas);
          if (unreadable) found('area_not_readable', isTractAlone ? TRACT_ALONE : AREA_UNREADABLE, row.line);
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
    numbers: types.numbers(),
    kept: types.kept(),
  };
}

const AREA_UNREADABLE = 'The tract or county code cannot be read: bought by cell.';
const TRACT_ALONE =
  'The tract code lacks its state and county (11 digits in all): bought by cell. Name three columns: --tract STATE,COUNTY,TRACT.';
const LENIENT = 'Degrees, minutes and seconds, compass letters or decimal commas were read (coordinates: lenient).';
