import { addedColumns, bareFields, geometryColumn } from '../../columns/row.ts';
import { ROW_STATUSES, type RowStatus } from '../../columns/row-status.ts';
import { pointText } from '../../formats/point-text.ts';
import { locationOf } from '../../geo/coordinates.ts';
import { statusOfFinding } from '../../geo/parse-location.ts';
import type { Job } from '../../job/settings.ts';
import { putFields } from '../../rows/placed-fields.ts';
import type { PlacedFields, PlaceSink, RowFile, WriteResult } from '../../rows/port.ts';
import { ThreadPool } from '../../threads/thread-pool.ts';
import type { Plan } from '../plan/planning.ts';
import { record } from '../progress.ts';
import type { RunContext } from '../run-context.ts';
import { otherRows, type Unlocated } from '../scan/row-places.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { CellCache } from './cell-cache.ts';
import { CELLS_PER_READ, type CellReader, cellReader, putCells } from './cell-reader.ts';
import { ratingCounter, type TopicRatings } from './rating-counts.ts';

type StatusCounts = Record<RowStatus, number>;

export interface Written extends WriteResult {
  readonly status: StatusCounts;
  /** The value of the located rows by status, in units (`CellTable`); all 0 in file order. */
  readonly value: StatusCounts;
  /** Places all of whose rows are `ok`. */
  readonly cellsComplete: number;
  /** Whether all rows of a place are `ok`. */
  readonly isComplete: (cell: number) => boolean;
  /** The rows by their highest ratings, for the natural topics. */
  readonly ratings: readonly TopicRatings[];
}

/** The added fields of rows, and the sums over all rows. */
interface OutputFields {
  readonly give: PlacedFields['give'];
  sums(): Pick<Written, 'status' | 'value' | 'cellsComplete' | 'isComplete' | 'ratings'>;
}

/**
 * The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and
 * job (with the time of the run), so a resumed run writes the same as an undisturbed one.
 */
export async function writeOutput(context: RunContext, plan: Plan, rowFile: RowFile): Promise<Written> {
  const { job, progress } = context;
  const { scan } = plan;
  const next = scan.places.placesFrom(scan.cells.size);
  await using pool = openWriteThreads(scan);
  const fields = fieldsOnDemand(context, plan);
  const placed: PlacedFields = {
    count: scan.cells.size + scan.places.unlocated.length,
    give: fields.give,
    release: () => plan.complete.release(),
    next: (count) => {
      record(progress, 'rowsWritten', count);
      return next(count);
    },
    inThreads: pool === null ? undefined : { pool, pieces: scan.inThreads!.pieces },
  };
  const result = await rowFile.write({ output: job.output, ...addedTo(scan, job), placed });
  if (result.rows !== scan.rows) throw otherRows(job.input, result.rows, scan.rows);
  return { ...result, ...(await fields.sums()) };
}

/** The threads that write the pieces that threads have scanned; null for none. */
export function openWriteThreads({ inThreads }: Scan): ThreadPool | null {
  return inThreads && new ThreadPool({ threads: inThreads.threads, purpose: 'wrote rows' });
}

/** The columns to add, keep and drop in the output. */
export function addedTo({ layout, kept, numbers, decimal }: Scan, job: Job) {
  const { topics, prefix, counts, types } = job;
  const added = [...addedColumns(topics, prefix, counts), ...(layout.hasPoints ? [geometryColumn(prefix)] : [])];
  return { dropFrom: layout.dropFrom, kept, numbers, types, decimal, added };
}

/** The fields of all rows, made when they are first needed: the pass that counts them gives them too. */
export function fieldsOnDemand(context: RunContext, plan: Plan) {
  let made: Promise<OutputFields> | null = null;
  const give: PlacedFields['give'] = async (sink, places) => {
    if (made === null) {
      made = outputFields(context, plan, places === undefined ? sink : NO_SINK);
      if (places === undefined) {
        await made;
        return;
      }
    }
    await (await made).give(sink, places);
  };
  const sums = async () => {
    made ??= outputFields(context, plan);
    return (await made).sums();
  };
  return { give, sums };
}

/** Makes the fields of all rows; reads the cells that the plan has not read.
 * @param sink gets the fields of each cell and of each finding, in the order of their numbers */
async function outputFields(context: RunContext, plan: Plan, sink: PlaceSink = NO_SINK): Promise<OutputFields> {
  const { job } = context;
  const { scan, complete: cache } = plan;
  const { cells, places } = scan;
  // The plan reads cells that lack nothing: their status, the first of all (`ok`), is 0 already.
  const statuses = new Uint8Array(cells.size);
  const readCells = await cellReader(context, plan, (number, _, status) => {
    statuses[number] = ROW_STATUSES.indexOf(status);
  });
  const bare = places.unlocated.map((kind) =>
    bareFields(job.topics, { status: statusOf(kind), note: kind.note }, job.counts),
  );
  const { counting, ratings } = ratingCounter(job, cells);
  /** If the output has points, the point that was looked up follows the other fields; null for rows without a location. */
  const ending = (to: PlaceSink) => (number: number) => {
    if (scan.layout.hasPoints) to.put(number < cells.size ? pointOf(cells, number) : null);
    to.endPlace();
  };
  const counted = counting(sink);
  await readAllCells(cells.size, cache, readCells, counted, ending(counted));
  for (const [index, fields] of bare.entries()) {
    putFields(counted, fields);
    ending(counted)(cells.size + index);
  }
  const given = {
    has: (number: number) => number >= cells.size || cache.has(number),
    putFields: (number: number, to: PlaceSink) => {
      if (number < cells.size) cache.putFields(number, to);
      else putFields(to, bare[number - cells.size]!);
    },
  };
  const all = cells.size + bare.length;
  const give: PlacedFields['give'] = async (to, numbers) => {
    if (numbers !== undefined) {
      await putCells(numbers, given, readCells, to, ending(to));
      return;
    }
    for (let from = 0; from < all; from += CELLS_PER_READ) {
      await give(to, range(from, Math.min(all, from + CELLS_PER_READ)));
    }
  };
  return { give, sums: () => ({ ...sumsOf(scan, statuses), ratings }) };
}

const statusOf = ({ finding }: Unlocated): RowStatus =>
  finding === 'unreadable' ? 'invalid' : statusOfFinding(finding);

/** The location of a cell, rounded as it was looked up. */
function pointOf(cells: Scan['cells'], number: number): string {
  const { lat, lng } = locationOf(cells.cell(number));
  return pointText(lat, lng);
}

/** Gives the fields of each cell to a sink, and fills the cache with the cells that the plan has not read. */
async function readAllCells(
  cells: number,
  cache: CellCache,
  readCells: CellReader,
  sink: PlaceSink,
  end: (cell: number) => void,
): Promise<void> {
  for (let from = 0; from < cells; from += CELLS_PER_READ) {
    const read = await putCells(range(from, Math.min(cells, from + CELLS_PER_READ)), cache, readCells, sink, end);
    for (const [cell, fields] of read) cache.put(cell, fields);
  }
}

/** The numbers from one up to, not including, another. */
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

const NO_SINK: PlaceSink = { put() {}, putMillionths() {}, putText() {}, endPlace() {} };

/** The rows and their value by status, from the sums that the scan has kept. */
function sumsOf(
  { cells, places }: Scan,
  statuses: Uint8Array,
): Pick<Written, 'status' | 'value' | 'cellsComplete' | 'isComplete'> {
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  let cellsComplete = 0;
  for (let cell = 0; cell < cells.size; cell++) {
    const name = ROW_STATUSES[statuses[cell]!]!;
    if (name === 'ok') cellsComplete++;
    status[name] += cells.rows(cell);
    value[name] += cells.value(cell);
  }
  for (const kind of places.unlocated) {
    status[statusOf(kind)] += kind.rows;
  }
  const isComplete = (cell: number) => ROW_STATUSES[statuses[cell]!] === 'ok';
  return { status, value, cellsComplete, isComplete };
}
