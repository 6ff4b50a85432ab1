import { addedColumns, bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, ROW_STATUSES, type RowStatus } from '../columns/status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import { statusOfFinding } from '../geo/parse-location.ts';
import { type Book, type KeyedRows, NO_KEY, type WriteResult } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import type { CellFields } from './cell-fields.ts';
import { readKnownAreas, withAreas } from './planning/area-plan.ts';
import type { Freshness } from './planning/freshness.ts';
import type { Unlocated } from './scan/row-places.ts';
import type { Scan } from './scan/scan.ts';
import type { Job } from './settings/settings.ts';

export type StatusCounts = Record<RowStatus, number>;

export interface Written extends WriteResult {
  readonly status: StatusCounts;
  /** The sum of the rows' values, by status; all 0 in the order of the file. */
  readonly value: StatusCounts;
}

/** The first field of a row is its status. */
type Fields = readonly Field[];

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
  /** Told of every so many rows more. */
  readonly onRows?: (rows: number) => void;
}

/**
 * The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and
 * job (with the time of the run), so a resumed run writes what an undisturbed one would have written.
 */
export async function writeBook(writing: Writing): Promise<Written> {
  const { book, job, scan, sample, finished } = writing;
  const { layout, cells, places } = scan;
  try {
    const readCells = await cellReader(writing);
    const cellStatuses = await finishCells(cells.size, finished, readCells);
    const bare = places.unlocated.map((kind) => {
      const note = { status: statusOf(kind), note: kind.note };
      return bareFields(job.topics, note, sample, job.counts);
    });
    const nextPlaces = places.placesFrom(cells.size);

    const fillKeyed = async (count: number): Promise<KeyedRows> => {
      writing.onRows?.(count);
      const keys = nextPlaces(count);
      const own = new Map<number, Fields>();
      // Only where the disk had no room for the fields of all cells.
      const unkept = [...keys.keys()].filter((index) => keys[index]! < cells.size && !finished.has(keys[index]!));
      const read = unkept.length === 0 ? [] : await readCells(unkept.map((index) => keys[index]!));
      for (const [at, index] of unkept.entries()) {
        own.set(index, read[at]!);
        keys[index] = NO_KEY;
      }
      const fieldsOf = (key: number) => (key < cells.size ? finished.get(key) : bare[key - cells.size]!);
      return { keys, fields: (index) => own.get(index) ?? fieldsOf(keys[index]!) };
    };
    const result = await book.write({
      output: job.output,
      columns: layout.columns,
      dropFrom: layout.dropFrom,
      added: addedColumns(job.topics, job.prefix, job.counts),
      fill: async ({ length }) => {
        const { fields } = await fillKeyed(length);
        return Array.from({ length }, (_, index) => fields(index));
      },
      fillKeyed,
    });
    if (result.rows !== scan.rows) throw fewerRows(job.input, result.rows, scan.rows);
    return { ...result, ...sumsOf(scan, cellStatuses) };
  } finally {
    finished.close();
    places.close();
  }
}

const statusOf = ({ finding }: Unlocated): RowStatus =>
  finding === 'unreadable' ? 'invalid' : statusOfFinding(finding);

/** Finishes the cells that the plan did not; the status of each cell, as its index among all. */
async function finishCells(
  cells: number,
  finished: CellFields,
  readCells: (numbers: readonly number[]) => Promise<Fields[]>,
): Promise<Uint8Array> {
  const statuses = new Uint8Array(cells);
  for (let cell = 0; cell < cells; cell++) {
    if (finished.has(cell)) statuses[cell] = ROW_STATUSES.indexOf(finished.status(cell));
  }
  for (const numbers of unfinished(cells, finished)) {
    for (const [index, fields] of (await readCells(numbers)).entries()) {
      finished.put(numbers[index]!, fields);
      statuses[numbers[index]!] = ROW_STATUSES.indexOf(fields[0] as RowStatus);
    }
  }
  return statuses;
}

/** The rows and their value by status, from the sums that the scan has kept. */
function sumsOf({ cells, places }: Scan, cellStatuses: Uint8Array): { status: StatusCounts; value: StatusCounts } {
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  for (let cell = 0; cell < cells.size; cell++) {
    const name = ROW_STATUSES[cellStatuses[cell]!]!;
    status[name] += cells.rows(cell);
    value[name] += cells.value(cell);
  }
  for (const kind of places.unlocated) {
    status[statusOf(kind)] += kind.rows;
    value[statusOf(kind)] += kind.value;
  }
  return { status, value };
}

function fewerRows(file: string, rows: number, scanned: number): PerilbookError {
  return new PerilbookError(
    'INPUT_UNREADABLE',
    `${file} has ${rows} rows now, where ${scanned} were scanned`,
    'Run again when no other program writes to it.',
    { file },
  );
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
