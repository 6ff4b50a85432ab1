import { addedColumns, bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, ROW_STATUSES, type RowStatus } from '../columns/row-status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../contract/answer.ts';
import { PerilbookError } from '../errors.ts';
import { statusOfFinding } from '../geo/parse-location.ts';
import { type KeyedRows, NO_KEY, type RowFile, type WriteResult } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import type { CellFields } from './cell-fields.ts';
import { readKnownAreas, withAreas } from './planning/area-plan.ts';
import { type Freshness, missingTopics } from './planning/freshness.ts';
import type { SampleRows } from './sample-rows.ts';
import type { Unlocated } from './scan/row-places.ts';
import type { Scan } from './scan/scan-input.ts';
import type { Job } from './settings/settings.ts';

type StatusCounts = Record<RowStatus, number>;

export interface Written extends WriteResult {
  readonly status: StatusCounts;
  /** The sum of the rows' values, by status; all 0 in the order of the file. */
  readonly value: StatusCounts;
  /** What is complete at least up to each of the job's tiers, the leanest first. */
  readonly tiers: readonly TierReached[];
}

interface TierReached {
  readonly rows: number;
  readonly value: number;
}

/** The first field of a row is its status. */
type Fields = readonly Field[];

const CELLS_PER_READ = 250;

/** What the last pass needs. */
export interface Writing {
  readonly rowFile: RowFile;
  readonly job: Job;
  readonly scan: Scan;
  readonly store: Store;
  readonly source: number;
  readonly sampleRows: SampleRows;
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
export async function writeOutput(writing: Writing): Promise<Written> {
  const { rowFile, job, scan, sampleRows, freshness, finished } = writing;
  const { layout, cells, places } = scan;
  try {
    const ends: CellEnds = { statuses: new Uint8Array(cells.size), tiers: new Uint8Array(cells.size) };
    const readCells = await cellReader(writing, (number, record, status) => {
      ends.statuses[number] = ROW_STATUSES.indexOf(status);
      ends.tiers[number] = tiersReached(status, record, job, freshness);
    });
    await finishCells(ends, job.tiers.length, finished, readCells);
    const bare = places.unlocated.map((kind) => {
      const note = { status: statusOf(kind), note: kind.note };
      return bareFields(job.topics, note, sampleRows.still, job.counts);
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
    const result = await rowFile.write({
      output: job.output,
      columns: layout.columns,
      dropFrom: layout.dropFrom,
      kept: scan.kept,
      numbers: scan.numbers,
      added: addedColumns(job.topics, job.prefix, job.counts),
      fill: async ({ length }) => {
        const { fields } = await fillKeyed(length);
        return Array.from({ length }, (_, index) => fields(index));
      },
      fillKeyed,
    });
    if (result.rows !== scan.rows) throw fewerRows(job.input, result.rows, scan.rows);
    return { ...result, ...sumsOf(scan, ends, job.tiers.length) };
  } finally {
    finished.close();
    places.close();
  }
}

const statusOf = ({ finding }: Unlocated): RowStatus =>
  finding === 'unreadable' ? 'invalid' : statusOfFinding(finding);

/** What became of each cell. */
interface CellEnds {
  /** The index of its status among all. */
  readonly statuses: Uint8Array;
  /** How many of the job's tiers are complete, from the leanest. */
  readonly tiers: Uint8Array;
}

/** Finishes the cells that the plan did not, and notes how each of the others ended. */
async function finishCells(
  ends: CellEnds,
  tierCount: number,
  finished: CellFields,
  readCells: (numbers: readonly number[]) => Promise<Fields[]>,
): Promise<void> {
  const cells = ends.statuses.length;
  for (let cell = 0; cell < cells; cell++) {
    if (!finished.has(cell)) continue;
    const status = finished.status(cell);
    ends.statuses[cell] = ROW_STATUSES.indexOf(status);
    ends.tiers[cell] = status === 'ok' ? tierCount : 0;
  }
  for (const numbers of unfinished(cells, finished)) {
    for (const [index, fields] of (await readCells(numbers)).entries()) finished.put(numbers[index]!, fields);
  }
}

/** A leaner tier's topics are among those of every richer one (src/job/settings/topic-choice.ts). */
function tiersReached(status: RowStatus, record: CellRecord, { tiers }: Job, freshness: Freshness): number {
  if (status === 'ok') return tiers.length;
  if (status === 'rejected' || tiers.length < 2) return 0;
  const next = tiers.findIndex(({ topics }) => missingTopics(record, topics, freshness).length > 0);
  return next < 0 ? tiers.length : next;
}

/** The rows and their value by status and by tier, from the sums that the scan has kept. */
function sumsOf(
  { cells, places }: Scan,
  ends: CellEnds,
  tierCount: number,
): { status: StatusCounts; value: StatusCounts; tiers: TierReached[] } {
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  const tiers = Array.from({ length: tierCount }, () => ({ rows: 0, value: 0 }));
  for (let cell = 0; cell < cells.size; cell++) {
    const name = ROW_STATUSES[ends.statuses[cell]!]!;
    status[name] += cells.rows(cell);
    value[name] += cells.value(cell);
    for (const tier of tiers.slice(0, ends.tiers[cell])) {
      tier.rows += cells.rows(cell);
      tier.value += cells.value(cell);
    }
  }
  for (const kind of places.unlocated) {
    status[statusOf(kind)] += kind.rows;
    value[statusOf(kind)] += kind.value;
  }
  return { status, value, tiers };
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

/** Reads cells from the store and finishes their fields; `onCell` is told of each, by its number. */
export async function cellReader(
  { job, scan, store, source, sampleRows, freshness }: Omit<Writing, 'rowFile' | 'finished'>,
  onCell?: (number: number, record: CellRecord, status: RowStatus) => void,
): Promise<(numbers: readonly number[]) => Promise<Fields[]>> {
  const { cells, areas } = scan;
  const known = job.areas === null ? null : await readKnownAreas(areas, store, source);
  const finish = (own: CellRecord, number: number): Fields => {
    const { record, used } = known ? withAreas(own, number, job, areas, known, freshness) : { record: own, used: [] };
    const found = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt);
    onCell?.(number, record, found.status);
    const note = [found.note, used.length > 0 ? `by ${used.join(' and ')}` : ''].filter(Boolean).join('; ');
    return enrichedFields(record, job.topics, { ...found, note }, sampleRows.has, job.counts);
  };
  return async (numbers: readonly number[]): Promise<Fields[]> => {
    const records = await store.read(
      source,
      numbers.map((number) => cells.cell(number)),
    );
    return records.map((record, index) => finish(record ?? EMPTY_RECORD, numbers[index]!));
  };
}
