import { type Location, locationOf } from '../../geo/coordinates.ts';
import { countyAt, countyName } from '../../geo/us-counties.ts';
import { isPartFiles } from '../../rows/parts/part-files.ts';
import type { LineReference, Row } from '../../rows/port.ts';
import { rowValue } from '../../run/scan/read-row.ts';
import type { Scan } from '../../run/scan/scan-input.ts';
import { type Finding, VALUE_NOTES } from '../../run/scan/scan-tally.ts';
import { FIRST_VALUE } from '../../run/scan/value.ts';

/** Where a place is in the input, and by what its owner knows it. */
export interface PlaceLabel extends LineReference, Location {
  /** The number of its first row: 1 for the first of the input. */
  readonly order: number;
  /** The id of the row; empty where there is none. */
  readonly id: string;
  /** The name in the row; empty where there is none. */
  readonly name: string;
  /** The name of the county. */
  readonly county: string;
}

/** The names and lines of rows. */
export interface NamedRows {
  /** Of a place that was asked for. */
  labels(cell: number): PlaceLabel;
  readonly problems: readonly {
    readonly note: string;
    readonly rows: number;
    /** The first rows. */
    readonly places: readonly LineReference[];
  }[];
}

/** The names and lines of the shown cells and the first rows of each problem. */
export async function namedRows(scan: Scan, shown: ReadonlySet<number>): Promise<NamedRows> {
  const { rowFile, layout, cells, findings } = scan;
  const { id, name } = labelColumns(rowFile.columns, layout.id);
  const read = [id, name].filter((index) => index !== null);
  const { first, lines } = await notedRows(scan, shown, read);
  /** The line of a place in the input, and its id and name; '' for none. */
  const labels = (cell: number): PlaceLabel => {
    const { number, texts, ...row } = first.get(cell)!;
    const location = locationOf(cells.cell(cell));
    return {
      ...lineReference(row),
      order: number,
      id: id === null ? '' : labelOf(texts[0]),
      name: name === null ? '' : labelOf(texts[read.length - 1]),
      ...location,
      county: countyName(countyAt(location)),
    };
  };
  const problems = findings.map(({ finding, note, rows, firstLine, part }) => ({
    note,
    rows,
    places: lines.get(finding) ?? [lineReference({ line: firstLine, part })],
  }));
  return { labels, problems };
}

/** Rows kept of each finding: enough to recognize the kind of rows. */
const LINES_KEPT = 12;

/** Of rows without a value the first line is enough: it is no reason to read all texts. */
const READ_AGAIN: ReadonlySet<string> = new Set(
  Object.keys(VALUE_NOTES).filter((name) => name !== 'value_missing'),
);

const ROWS_AT_ONCE = 16_384;

/** Streams the input once more for the first rows of some cells, and for the lines of findings. Locations are not parsed again, because
 * the scan has kept the cell of each row; values only if one of them is not a number. Without values, the texts of other rows are not
 * read: they took a second and 50 MB in the report of a million rows. */
async function notedRows(scan: Scan, wanted: ReadonlySet<number>, columns: readonly number[]) {
  const { rowFile, layout, cells, places, findings } = scan;
  /** By the number of the cell, with the texts of some columns. */
  const first = new Map<
    number,
    Pick<Row, 'number' | 'line' | 'part'> & { readonly texts: readonly string[] }
  >();
  const noted = new Map<Finding['finding'], LineReference[]>();
  const note = (finding: Finding['finding'], row: Row) => {
    const lines = noted.get(finding);
    if (lines === undefined) noted.set(finding, [lineReference(row)]);
    else if (lines.length < LINES_KEPT) lines.push(lineReference(row));
  };
  const readsValues = findings.some(({ finding }) => READ_AGAIN.has(finding));
  const before = readsValues ? layout.columns : layout.columns.slice(0, 1);
  const rows = rowsToNote(scan, wanted);
  // The numbers of rows begin anew in each part file.
  const readsAll = readsValues || isPartFiles(rowFile);
  const isWanted = readsAll ? undefined : (number: number) => rows.has(number);
  const allPlaces = readsValues ? places.placesFrom(cells.size) : null;
  let number = 0;
  for await (const batch of rowFile.read(
    [...before, ...columns],
    Math.min(before.length, FIRST_VALUE),
    isWanted,
  )) {
    const targets = allPlaces?.(batch.length);
    for (const [index, row] of batch.entries()) {
      number = readsAll ? number + 1 : row.number;
      const isRead = targets !== undefined && targets[index]! < cells.size;
      const problem = isRead ? rowValue(row, layout).valueProblem : null;
      if (problem !== null && READ_AGAIN.has(problem.finding)) note(problem.finding, row);
      const target = rows.get(number);
      if (target === undefined) continue;
      if (target >= cells.size) note(places.unlocated[target - cells.size]!.finding, row);
      else first.set(target, { ...row, texts: row.fields.slice(before.length) });
    }
  }
  return { first, lines: noted };
}

/** The line of a row alone, because facts are printed as JSON. */
function lineReference({ line, part }: { line: number; part?: string | undefined }): LineReference {
  return part === undefined ? { line } : { line, part };
}

/** By their numbers from 1, the first rows of the wanted cells and of each finding; with the number of the cell or the finding. */
function rowsToNote(
  { rows, cells, places }: Scan,
  wanted: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  const wantedRows = new Map<number, number>();
  const seen = new Set<number>();
  const kept = new Map<Finding['finding'], number>();
  const placesOf = places.placesFrom(cells.size);
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    for (const [index, target] of placesOf(Math.min(ROWS_AT_ONCE, rows - from)).entries()) {
      if (target >= cells.size) {
        const { finding } = places.unlocated[target - cells.size]!;
        const before = kept.get(finding) ?? 0;
        if (before === LINES_KEPT) continue;
        kept.set(finding, before + 1);
      } else {
        if (!wanted.has(target) || seen.has(target)) continue;
        seen.add(target);
      }
      wantedRows.set(from + index + 1, target);
    }
  }
  return wantedRows;
}

/** Names of columns that identify a location in OED, CEDE and lists of sites; best first. */
const NAMES = [
  ...[
    'locname',
    'locationname',
    'sitename',
    'propertyname',
    'buildingname',
    'facilityname',
    'stationname',
    'name',
  ],
  ...['streetaddress', 'address', 'street', 'fulladdress', 'inputaddress'],
];
const IDS = [
  ...[
    'locnumber',
    'locationnumber',
    'locationid',
    'locid',
    'siteid',
    'propertyid',
    'buildingid',
    'facilityid',
  ],
  ...[
    'policyid',
    'policynumber',
    'policyno',
    'policy',
    'listingid',
    'stationid',
    'mlsnumber',
    'mlsid',
  ],
  ...['id', 'uniqueid', 'key', 'reference', 'ref', 'recordidnumber', 'recordid', 'accnumber'],
];
/** Only if there is no better one, because an account has several locations. */
const ACCOUNTS = ['accountnumber', 'accountid', 'accountno', 'account'];

/** The indexes of the columns with a location's id and name; null for none. */
interface LabelColumns {
  readonly id: number | null;
  readonly name: number | null;
}

/** The columns with a location's id and its name (an address where there is no name), by their index; null for none. Without a usual name of
 * an id, a column whose name ends in `id` is used, then one of accounts.
 * @param id the column that the job names; null to find it */
export function labelColumns(columns: readonly string[], id: number | null = null): LabelColumns {
  const plain = columns.map((name) => name.toLowerCase().replace(/[^a-z]/g, ''));
  const first = (names: readonly string[]): number | null =>
    names.map((name) => plain.indexOf(name)).find((index) => index >= 0) ?? null;
  const endsInId = columns.findIndex((name) => /[a-z]I[Dd]$|[ _-][iI][dD]$/.test(name.trim()));
  return {
    id: id ?? first(IDS) ?? (endsInId < 0 ? first(ACCOUNTS) : endsInId),
    name: first(NAMES),
  };
}

const LONGEST = 60;

/** A field of these columns, cut to fit a table. */
export function labelOf(text: string | undefined): string {
  const label = (text ?? '').trim();
  return label.length > LONGEST ? `${label.slice(0, LONGEST - 1)}…` : label;
}
