import { PerilbookError } from '../../base/errors.ts';
import type { CellAreaFinder } from '../../data/tables/cell-area-finder.ts';
import type { Location } from '../../geo/coordinates.ts';
import { LOCATION_NOTES, type LocationFinding } from '../../geo/parse-location.ts';
import type { Job } from '../../job/settings.ts';
import { isPartFiles, type PartFiles } from '../../rows/parts/part-files.ts';
import type { LineReference, Row, RowFile, RowPiece } from '../../rows/port.ts';
import { threadsOfMachine } from '../../threads/thread-pool.ts';
import { openJobInput } from '../parts/job-input.ts';
import { record } from '../progress.ts';
import type { Effects, OpenedAreas, RunContext } from '../run-context.ts';
import { AreaTable } from './area-table.ts';
import { CellTable } from './cell-table.ts';
import { ColumnTypes } from './column-types.ts';
import { type ScannedCurrency, valueCurrencies } from './currency.ts';
import { type AreaCounts, findAreas } from './find-areas.ts';
import { FIRST_VALUE, type KeptColumn, type Layout, layoutOf } from './layout.ts';
import { RowPlaces } from './row-places.ts';
import { scanInThreads } from './scan-pieces.ts';
import { type ScannedRow, scannedRow, type ValueProblem } from './scanned-rows.ts';

/** Findings of rows that are looked up anyway. */
export const LOOKED_UP_FINDINGS = [
  'read_leniently',
  'value_not_a_number',
  'value_negative',
  'currency_differs',
] as const;

const VALUE_PROBLEMS: Readonly<Record<ValueProblem, string>> = {
  value_not_a_number: 'The value is not a number and counts as 0.',
  value_negative: 'The value is negative and counts as 0.',
};

/** A problem of some rows: with their location (these rows are not looked up) or with another field. */
export interface Finding {
  readonly finding: LocationFinding | 'unreadable' | (typeof LOOKED_UP_FINDINGS)[number];
  readonly note: string;
  readonly rows: number;
  /** The line of the first such row. */
  readonly firstLine: number;
  /** The part file that it is in, where the input is several. */
  readonly part?: string;
}

/** The result of the first pass over the input. Its memory grows with the number of cells, not of rows: after the first
 * millions of rows, the row's cell numbers go into a file. */
export interface Scan extends Disposable {
  /** The input, which later passes read again. */
  readonly rowFile: RowFile | PartFiles;
  readonly rows: number;
  readonly located: number;
  readonly invalid: number;
  readonly outsideUs: number;
  /** The box of the rows whose numbers are a location outside the US; null without such a row. */
  readonly elsewhere: DegreeBox | null;
  readonly findings: readonly Finding[];
  /** The currency code of the values in the file; null if there is none. */
  readonly currency: string | null;
  /** Empty without a currency column. */
  readonly currencies: readonly ScannedCurrency[];
  readonly cells: CellTable;
  readonly areas: AreaTable;
  /** How many cells the boundaries put in an area; null if the job does not use areas. */
  readonly areaCounts: AreaCounts | null;
  /** The cell or finding of each row. Disposing of the scan closes it. */
  readonly places: RowPlaces;
  /** How many rows each part file has, by its name; a part without rows is not among them. */
  readonly partRows: ReadonlyMap<string, number>;
  /** The pieces of the input, and the number of threads that read them and can write them. Null if only this thread has read. */
  readonly inThreads: { readonly threads: number; readonly pieces: readonly RowPiece[] } | null;
  readonly layout: Layout;
  /** The columns that the job uses with a number in every row. */
  readonly numbers: ReadonlySet<number>;
  /** The decimal separator of the coordinates. */
  readonly decimal: 'point' | 'comma';
  /** The kept columns of an earlier run, with their types. */
  readonly kept: readonly KeptColumn[];
}

/** The first pass: streams the input once, checks each location, collects the distinct cells. Spends nothing.
 * @param rowFile the rows, where they are not in the job's input file
 * @throws INPUT_*, SERVICE_DATA where the boundaries are not here */
export async function scan({ job, connection, effects, progress }: RunContext, rowFile?: RowFile): Promise<Scan> {
  // Local answers are free, so areas save nothing.
  const scannedFor = connection.kind === 'local' ? { ...job, areas: null } : job;
  using boundaries = openAreas(scannedFor, effects);
  const input = rowFile ?? (await openJobInput(job, effects.streams));
  const onRows = (rows: number) => record(progress, 'rowsScanned', rows);
  const scanned = await scanRows(input, scannedFor, { onRows, find: boundaries?.find, threads: effects.rowThreads });
  record(progress, 'phase', 'pricing');
  return scanned;
}

function openAreas(job: Job, effects: Effects): OpenedAreas | null {
  if (job.areas === null) return null;
  if (effects.openAreas !== undefined) return effects.openAreas(job);
  throw new PerilbookError(
    'JOB_FILE',
    `areas: ${job.areas} cannot be used here`,
    'Run the job with perilbook plan or perilbook run.',
  );
}

/** By name, or by note for features that cannot be read. */
type Findings = Map<string, { -readonly [Name in keyof Finding]: Finding[Name] }>;

/** Degrees: least latitude, least longitude, greatest latitude, greatest longitude. */
type DegreeBox = readonly [south: number, west: number, north: number, east: number];

function boxWith(box: DegreeBox | null, { lat, lng }: Location): DegreeBox {
  const [south, west, north, east] = box ?? [lat, lng, lat, lng];
  return [Math.min(south, lat), Math.min(west, lng), Math.max(north, lat), Math.max(east, lng)];
}

/**
 * A longitude without its sign is a guess that holds only in a file most of whose rows are in the US: with the other sign, most of China
 * lies there, too. Elsewhere such rows are what they say, outside the US.
 */
function refuseLostSigns(findings: Findings, places: RowPlaces, located: number): void {
  const [lost, outside] = [findings.get('sign_lost'), findings.get('outside_us')];
  if (lost === undefined || located > lost.rows + (outside?.rows ?? 0)) return;
  places.replaceFinding('sign_lost', 'outside_us');
  findings.delete('sign_lost');
  if (outside === undefined) {
    findings.set('outside_us', { ...lost, finding: 'outside_us', note: LOCATION_NOTES.outside_us });
  } else {
    if (lost.firstLine < outside.firstLine) outside.firstLine = lost.firstLine;
    outside.rows += lost.rows;
  }
}

interface ScanOptions {
  /** Gets the number of rows so far, once a batch. */
  readonly onRows?: (rows: number) => void;
  /** Finds the areas of the cells by boundaries; left out where the job does not ask for it. */
  readonly find?: CellAreaFinder | undefined;
  /** How many threads read the file beside this one; left out: the other cores for a large file, else none. */
  readonly threads?: number | undefined;
}

/** Scans rows by the settings of a job alone. */
export async function scanRows(
  rowFile: RowFile | PartFiles,
  job: Job,
  { onRows = () => {}, find, threads }: ScanOptions = {},
): Promise<Scan> {
  const layout = layoutOf(rowFile, job);
  const cells = new CellTable();
  const areas = new AreaTable();
  using opened = new DisposableStack();
  const places = opened.use(new RowPlaces());
  const findings: Findings = new Map();
  const partRows = new Map<string, number>();
  let rows = 0;
  let located = 0;
  let elsewhere: DegreeBox | null = null;
  const addFinding = (finding: Finding['finding'], note: string, { line, part }: LineReference): void => {
    // A collection may hold several kinds of geometries; why lines cannot be read varies without end.
    const key = finding === 'unreadable' && rowFile.unit === 'feature' ? note : finding;
    const earlier = findings.get(key);
    if (earlier) earlier.rows++;
    else findings.set(key, { finding, note, rows: 1, firstLine: line, ...(part === undefined ? {} : { part }) });
  };
  const countPart = ({ part }: Pick<Row, 'part'> = {}, count: number): void => {
    if (part !== undefined) partRows.set(part, (partRows.get(part) ?? 0) + count);
  };
  const addCell = (lat7: number, lng7: number, value: number): number => {
    rows++;
    located++;
    const number = cells.addAt(lat7, lng7, value);
    places.addCell(number);
    return number;
  };
  /** Returns the number of the row's cell; -1 for none. */
  const add = ({ located, value, valueProblem }: ScannedRow, at: LineReference): number => {
    if (valueProblem !== null) addFinding(valueProblem, VALUE_PROBLEMS[valueProblem], at);
    if (located.ok) {
      if (located.isLenient) addFinding('read_leniently', LENIENT, at);
      return addCell(located.cell.lat7, located.cell.lng7, value);
    }
    rows++;
    places.addUnlocated(located.finding, located.note);
    if (located.elsewhere !== undefined) elsewhere = boxWith(elsewhere, located.elsewhere);
    addFinding(located.finding, located.note, at);
    return -1;
  };
  const types = new ColumnTypes(layout);
  const currencies = valueCurrencies();
  const scanRow = (row: Row): void => {
    types.note(row.fields);
    const scanned = scannedRow(row, job, layout);
    const cell = add(scanned, row);
    if (cell < 0) return;
    // Rows that are not looked up are in no sum of values.
    if (layout.currency !== null && currencies.add(row.fields[layout.currency], cell, scanned.value))
      addFinding('currency_differs', CURRENCY, row);
  };
  // The first row with a currency decides on later rows, so one thread reads these files.
  const inPieces = layout.currency !== null ? undefined : rowFile.inPieces;
  const isLarge = inPieces !== undefined && inPieces.size >= 1 && inPieces.pieces.length > 1;
  const count = threads ?? (isLarge ? threadsOfMachine() : 0);
  const pieces: RowPiece[] = [];
  // Also in this thread alone: pieces are read as numbers, which takes half the time of texts.
  if (inPieces && (count > 0 || isLarge)) {
    const { precision, coordinates, reading } = job;
    const setup = { reading, settings: { precision, coordinates }, layout };
    for await (const { read, linesBefore } of scanInThreads(inPieces, setup, count)) {
      pieces.push(read.piece);
      types.add(read.types);
      const part = isPartFiles(rowFile) ? { part: rowFile.parts[read.piece.file]!.name } : {};
      countPart(part, read.piece.rows);
      let next = 0;
      for (let row = 0; row < read.piece.rows; row++) {
        const other = read.others[next];
        if (other?.index === row) {
          add(other, { line: other.line + linesBefore, ...part });
          next++;
        } else {
          addCell(read.cells[2 * row]!, read.cells[2 * row + 1]!, read.values === null ? 0 : read.values[row]!);
        }
      }
      onRows(rows);
    }
  } else {
    for await (const batch of rowFile.read(types.columns, FIRST_VALUE)) {
      // All rows of a batch are of one part.
      countPart(batch[0], batch.length);
      for (const row of batch) scanRow(row);
      onRows(rows);
    }
  }
  cells.roundValues();
  refuseLostSigns(findings, places, located);
  const outsideUs = findings.get('outside_us')?.rows ?? 0;
  const areaCounts = find === undefined ? null : findAreas(cells, areas, find);
  const owned = opened.move();
  return {
    rowFile,
    rows,
    located,
    outsideUs,
    elsewhere,
    invalid: rows - located - outsideUs,
    // In the order of their first rows.
    findings: [...findings.values()],
    currency: currencies.code,
    currencies: currencies.all,
    cells,
    areas,
    areaCounts,
    places,
    partRows,
    inThreads: count > 0 && pieces.length > 0 ? { threads: count, pieces } : null,
    layout,
    numbers: types.numbers(),
    decimal: types.decimal(),
    kept: types.kept(),
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** Whether the values are in several currencies: sums of them mean nothing. */
export function hasSeveralCurrencies({ findings }: Pick<Scan, 'findings'>): boolean {
  return findings.some(({ finding }) => finding === 'currency_differs');
}

const CURRENCY =
  'The value is in another currency than the first. The order of buying compares the numbers without conversion.';
const LENIENT =
  'Read as degrees, minutes and seconds, with compass letters or with decimal commas (--coordinates lenient).';
