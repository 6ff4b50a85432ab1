import { addedColumns, bareFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, ROW_STATUSES, type RowStatus } from '../columns/status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../contract/answer.ts';
import { statusOfFinding } from '../geo/parse-location.ts';
import type { Book, Row, WriteResult } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
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

interface Finished {
  readonly status: RowStatus;
  readonly fields: readonly Field[];
}

/** Cells whose finished fields are kept for the next batches: rows of one place often stand near each other. */
const CELLS_KEPT = 20_000;

/** What the last pass needs. */
export interface Writing {
  readonly book: Book;
  readonly job: Job;
  readonly scan: Scan;
  readonly store: Store;
  readonly source: number;
  readonly sample: boolean;
  readonly freshness: Freshness;
}

/**
 * The last pass: streams the input once more, joins each row with the store, writes. A pure function of input, store and
 * job (with the time of the run), so a resumed run writes what an undisturbed one would have written.
 */
export async function writeBook({ book, job, scan, store, source, sample, freshness }: Writing): Promise<Written> {
  const { layout, cells, areas } = scan;
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  const bare = new Map<string, Finished>();
  let finished = new Map<number, Finished>();
  const known = job.areas === null ? null : await readKnownAreas(areas, store, source);

  const bareRow = (name: RowStatus, note: string): Finished => {
    let row = bare.get(note);
    if (!row) {
      row = { status: name, fields: bareFields(job.topics, { status: name, note }, sample, job.counts) };
      // Notes of unreadable rows name counts, so they can differ without end.
      if (bare.size < CELLS_KEPT) bare.set(note, row);
    }
    return row;
  };

  const finish = (own: CellRecord, number: number): Finished => {
    const { record, used } = known ? withAreas(own, number, job, areas, known, freshness) : { record: own, used: [] };
    const found = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt);
    const note = [found.note, used.length > 0 ? `by ${used.join(' and ')}` : ''].filter(Boolean).join('; ');
    return { status: found.status, fields: enrichedFields(record, job.topics, { ...found, note }, sample, job.counts) };
  };

  const fill = async (rows: readonly Row[]) => {
    const places = rows.map((row) => locate(row, job.precision));
    const numbers = places.map((place) => (place.ok ? cells.numberOf(place.cell) : -1));
    if (finished.size + numbers.length > CELLS_KEPT) finished = new Map();
    const wanted = [...new Set(numbers)].filter((number) => number >= 0 && !finished.has(number));
    const records = await store.read(
      source,
      wanted.map((number) => cells.cell(number)),
    );
    for (const [index, number] of wanted.entries())
      finished.set(number, finish(records[index] ?? EMPTY_RECORD, number));
    return places.map((place, index) => {
      const row = place.ok
        ? finished.get(numbers[index]!)!
        : bareRow(place.finding === 'unreadable' ? 'invalid' : statusOfFinding(place.finding), place.note);
      status[row.status]++;
      value[row.status] += rowValue(rows[index]!, layout).value;
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
