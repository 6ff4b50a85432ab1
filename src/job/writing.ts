import { addedColumns, bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, ROW_STATUSES, type RowStatus } from '../columns/status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../contract/answer.ts';
import { type LocationFinding, statusOfFinding } from '../geo/parse-location.ts';
import { type Book, type KeyedRows, NO_KEY, type Row, type WriteResult } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import type { CellFields } from './cell-fields.ts';
import { readKnownAreas, withAreas } from './planning/area-plan.ts';
import type { Freshness } from './planning/freshness.ts';
import { locate, rowValue, type Scan } from './scan/scan.ts';
import type { Job } from './settings/settings.ts';

export type StatusCounts = Record<RowStatus, number>;

export interface Written extends WriteResult {
  readonly status: StatusCounts;
  /** The sum of the rows' values, by status; all 0 in the order of the file. */
  readonly value: StatusCounts;
}

/** The first field of a row is its status. */
type Fields = readonly Field[];

/** Notes of unreadable rows name counts, so they can differ without end. */
const NOTES_KEPT = 1_000;

const CELLS_PER_READ = 250;

/** What the last pass needs. */
export interface Writing {
  readonly book: Book;
  readonly job: Job;
  readonly scan: Scan;
  readonly store: Store;
  readonly source: number;
  readonly sample: boolean;
  readonly freshness: Freshness;
  /** The cells that the plan has finished; gets the others, and is closed at the end. */
  readonly finished: CellFields;
}

/**
 * The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and
 * job (with the time of the run), so a resumed run writes what an undisturbed one would have written.
 */
export async function writeBook(writing: Writing): Promise<Written> {
  const { book, job, scan, finished } = writing;
  const { layout, cells } = scan;
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  const readCells = await cellReader(writing);
  const bareRow = bareRows(writing);
  for (const numbers of unfinished(cells.size, finished)) {
    for (const [index, fields] of (await readCells(numbers)).entries()) finished.put(numbers[index]!, fields);
  }

  const fillKeyed = async (rows: readonly Row[]): Promise<KeyedRows> => {
    const keys = new Int32Array(rows.length).fill(NO_KEY);
    const own = new Map<number, Fields>();
    const unkept: { readonly index: number; readonly number: number }[] = [];
    for (const [index, row] of rows.entries()) {
      const place = locate(row, job.precision);
      if (!place.ok) {
        const bare = bareRow(place.finding, place.note);
        own.set(index, bare.fields);
        if (bare.number !== null) keys[index] = cells.size + bare.number;
        continue;
      }
      const number = cells.numberOf(place.cell);
      if (finished.has(number)) keys[index] = number;
      else unkept.push({ index, number });
    }
    const read = unkept.length === 0 ? [] : await readCells(unkept.map(({ number }) => number));
    for (const [at, { index }] of unkept.entries()) own.set(index, read[at]!);
    for (const [index, row] of rows.entries()) {
      const name = (own.get(index)?.[0] as RowStatus | undefined) ?? finished.status(keys[index]!);
      status[name]++;
      value[name] += rowValue(row, layout).value;
    }
    return { keys, fields: (index) => own.get(index) ?? finished.get(keys[index]!) };
  };
  const fill = async (rows: readonly Row[]) => {
    const { fields } = await fillKeyed(rows);
    return rows.map((_, index) => fields(index));
  };

  try {
    const result = await book.write({
      output: job.output,
      columns: layout.columns,
      dropFrom: layout.dropFrom,
      added: addedColumns(job.topics, job.prefix, job.counts),
      fill,
      fillKeyed,
    });
    return { ...result, status, value };
  } finally {
    finished.close();
  }
}

/** The numbers of the cells that the plan did not finish, in batches. */
function* unfinished(cells: number, finished: CellFields): Generator<number[]> {
  let numbers: number[] = [];
  for (let number = 0; number < cells; number++) {
    if (!finished.has(number)) numbers.push(number);
    if (numbers.length < CELLS_PER_READ) continue;
    yield numbers;
    numbers = [];
  }
  if (numbers.length > 0) yield numbers;
}

/** Reads cells from the store and finishes their fields. */
export async function cellReader({
  job,
  scan,
  store,
  source,
  sample,
  freshness,
}: Omit<Writing, 'book' | 'finished'>): Promise<(numbers: readonly number[]) => Promise<Fields[]>> {
  const { cells, areas } = scan;
  const known = job.areas === null ? null : await readKnownAreas(areas, store, source);
  const finish = (own: CellRecord, number: number): Fields => {
    const { record, used } = known ? withAreas(own, number, job, areas, known, freshness) : { record: own, used: [] };
    const found = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt);
    const note = [found.note, used.length > 0 ? `by ${used.join(' and ')}` : ''].filter(Boolean).join('; ');
    return enrichedFields(record, job.topics, { ...found, note }, sample, job.counts);
  };
  return async (numbers: readonly number[]): Promise<Fields[]> => {
    const records = await store.read(
      source,
      numbers.map((number) => cells.cell(number)),
    );
    return records.map((record, index) => finish(record ?? EMPTY_RECORD, numbers[index]!));
  };
}

/** The fields of a row that was not looked up, and the number of its note; null where there are too many notes. */
interface BareRow {
  readonly number: number | null;
  readonly fields: Fields;
}

/** The fields of rows that were not looked up; rows of one note share them. */
function bareRows({ job, sample }: Writing): (finding: LocationFinding | 'unreadable', note: string) => BareRow {
  const bare = new Map<string, BareRow>();
  return (finding, note) => {
    let row = bare.get(note);
    if (!row) {
      const status = finding === 'unreadable' ? 'invalid' : statusOfFinding(finding);
      const isKept = bare.size < NOTES_KEPT;
      const fields = bareFields(job.topics, { status, note }, sample, job.counts);
      row = { number: isKept ? bare.size : null, fields };
      if (isKept) bare.set(note, row);
    }
    return row;
  };
}
