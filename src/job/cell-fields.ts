import { completeFields, enrichedFields } from '../columns/row.ts';
import { cellStatus, LOOKED_UP, type RowStatus } from '../columns/row-status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../contract/answer.ts';
import type { RowFields } from '../rows/port.ts';
import type { Store } from '../store/port.ts';
import { readKnownAreas, withAreas } from './planning/area-plan.ts';
import { type Freshness, wantedAnswers } from './planning/freshness.ts';
import type { SampleRows } from './sample-rows.ts';
import type { Scan } from './scan/scan-input.ts';
import type { Job } from './settings/settings.ts';

/** What the fields of cells are made from. */
export interface CellSource {
  readonly job: Job;
  readonly scan: Scan;
  readonly store: Store;
  readonly source: number;
  readonly sampleRows: SampleRows;
  readonly freshness: Freshness;
  /** Where answers come from, as the notes of local data say it; '' for a service. */
  readonly origin: string;
}

export type CellReader = (numbers: readonly number[]) => Promise<RowFields[]>;

/**
 * Makes a function that reads cells from the store, by their numbers, and gives their fields; `onCell` gets each of them. Without
 * `needsRecords` it gets an empty record for a cell that is complete: reading that as a record takes three times as long.
 */
export async function cellReader(
  { job, scan, store, source, sampleRows, freshness, origin }: CellSource,
  onCell: (number: number, record: CellRecord, status: RowStatus) => void = () => {},
  needsRecords = false,
): Promise<CellReader> {
  const { cells, areas } = scan;
  const wanted = wantedAnswers(job, freshness);
  const fieldsOfComplete = completeFields(job.topics, job.counts, sampleRows.has, origin);
  const known = job.areas === null || origin !== '' ? null : await readKnownAreas(areas, store, source);
  const fieldsOf = (own: CellRecord, number: number): readonly Field[] => {
    const { record, used } = known ? withAreas(own, number, job, areas, known, freshness) : { record: own, used: [] };
    const words = origin === '' ? undefined : LOOKED_UP;
    const found = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt, words);
    onCell(number, record, found.status);
    const from = record.answers.size > 0 ? origin : '';
    const note = [from, found.note, used.length > 0 ? `by ${used.join(' and ')}` : ''].filter(Boolean).join('; ');
    return enrichedFields(record, job.topics, { ...found, note }, sampleRows.has, job.counts);
  };
  return async (numbers) => {
    if (numbers.length === 0) return [];
    const asked = numbers.map((number) => cells.cell(number));
    const isWhole = needsRecords || known !== null;
    const found = isWhole ? await store.read(source, asked) : await store.readWanted(source, asked, wanted);
    return found.map((one, index) => {
      const number = numbers[index]!;
      if (one !== null && 'fields' in one) {
        onCell(number, EMPTY_RECORD, 'ok');
        // Packed until they are written: the fields of all cells as arrays took half a second of garbage collection.
        return () => fieldsOfComplete(one.asOf, one.fields());
      }
      const fields = fieldsOf(one ?? EMPTY_RECORD, number);
      return () => fields;
    });
  };
}

/** Some 600 bytes a cell of 18 natural topics, and 400 more for what a writer of CSV keeps of it. */
const MOST_CELLS = 200_000;

/**
 * Cells that were read once, by their numbers, from the plan to the pass that writes the rows. Those beyond the limit are read
 * from the store again for each batch of rows (some 20 µs each).
 *
 * Rejected: fields packed into buffers with a temporary file behind them. A million rows at two million cells are faster by
 * seconds so, and it took 300 lines and a store that hands out its bytes. Arrays of fields: 500 ms more of garbage
 * collection for 58,000 cells.
 */
export class CellCache {
  readonly #cells: (RowFields | undefined)[] = [];
  #room: number;

  constructor(mostCells = MOST_CELLS) {
    this.#room = mostCells;
  }

  get(cell: number): RowFields | undefined {
    return this.#cells[cell];
  }

  get hasRoom(): boolean {
    return this.#room > 0;
  }

  /** Keeps a cell while there is room. */
  put(cell: number, fields: RowFields): void {
    if (this.#room-- > 0) this.#cells[cell] = fields;
  }
}

/** The fields of some cells, which may come more than once, in the order asked: those that are not in the cache are read. */
export async function cachedFields(
  numbers: Iterable<number>,
  cache: Pick<CellCache, 'get'>,
  readCells: CellReader,
): Promise<RowFields[]> {
  const found: RowFields[] = [];
  const missing = new Map<number, number[]>();
  for (const number of numbers) {
    const fields = cache.get(number);
    if (fields === undefined) missing.set(number, [...(missing.get(number) ?? []), found.length]);
    found.push(fields!);
  }
  const read = await readCells([...missing.keys()]);
  for (const [index, places] of [...missing.values()].entries()) for (const at of places) found[at] = read[index]!;
  return found;
}
