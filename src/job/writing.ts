import { addedColumns, bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, ROW_STATUSES, type RowStatus } from '../columns/status.ts';
import { EMPTY_RECORD, type Field } from '../contract/answer.ts';
import type { Cell } from '../geo/coordinates.ts';
import { statusOfFinding } from '../geo/parse-location.ts';
import type { Book, Row, WriteResult } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import type { Freshness } from './freshness.ts';
import { type Layout, locate, rowValue } from './scan.ts';
import type { Job } from './settings.ts';

export type StatusCounts = Record<RowStatus, number>;

export interface Written extends WriteResult {
  readonly status: StatusCounts;
  /** The sum of the rows' values, by status; all 0 in the order of the file. */
  readonly value: StatusCounts;
}

interface Finished {
  readonly status: RowStatus;
  readonly fields: readonly Field[];
}

/** Cells whose finished fields are kept for the next batches: rows of one place often stand near each other. */
const CELLS_KEPT = 20_000;

/**
 * The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and
 * job (with the time of the run), so a resumed run writes what an undisturbed one would have written.
 */
export async function writeBook(
  book: Book,
  job: Job,
  layout: Layout,
  store: Store,
  source: number,
  sample: boolean,
  freshness: Freshness,
): Promise<Written> {
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  const bare = new Map<string, Finished>();
  let finished = new Map<string, Finished>();

  const bareRow = (name: RowStatus, note: string): Finished => {
    let row = bare.get(note);
    if (!row) {
      row = { status: name, fields: bareFields(job.topics, { status: name, note }, sample, job.counts) };
      // Notes of unreadable rows name counts, so they can differ without end.
      if (bare.size < CELLS_KEPT) bare.set(note, row);
    }
    return row;
  };

  const fill = async (rows: readonly Row[]) => {
    const places = rows.map((row) => locate(row, job.precision));
    const wanted = new Map<string, Cell>();
    for (const place of places) {
      if (place.ok && !finished.has(keyOf(place.cell))) wanted.set(keyOf(place.cell), place.cell);
    }
    if (finished.size + wanted.size > CELLS_KEPT) {
      finished = new Map();
      for (const place of places) if (place.ok) wanted.set(keyOf(place.cell), place.cell);
    }
    const records = await store.read(source, [...wanted.values()]);
    let next = 0;
    for (const key of wanted.keys()) {
      const record = records[next++] ?? EMPTY_RECORD;
      const cell = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt);
      finished.set(key, { status: cell.status, fields: enrichedFields(record, job.topics, cell, sample, job.counts) });
    }
    return places.map((place, index) => {
      const row = place.ok
        ? finished.get(keyOf(place.cell))!
        : bareRow(place.finding === 'unreadable' ? 'invalid' : statusOfFinding(place.finding), place.note);
      status[row.status]++;
      value[row.status] += rowValue(rows[index]!).value;
      return row.fields;
    });
  };

  const result = await book.write({
    output: job.output,
    columns: layout.columns,
    dropFrom: layout.dropFrom,
    added: addedColumns(job.topics, job.prefix, job.counts),
    fill,
  });
  return { ...result, status, value };
}

const keyOf = ({ lat7, lng7 }: Cell): string => `${lat7},${lng7}`;
