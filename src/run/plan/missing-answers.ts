import type { CellRecord } from '../../contract/answer.ts';
import {
  difference,
  intersection,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  TopicSets,
} from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { CompleteCell } from '../../store/answers/port.ts';
import type { RunContext } from '../run-context.ts';
import type { CellTable } from '../scan/cell-table.ts';
import { failedSet, isWithheld, missingSet, noDataSet, wantedAnswers } from './freshness.ts';

/** Cells per read. Records of 2,000 cells outlived two garbage collections, and the heap grew by 300 MB. */
const CELLS_PER_READ = 500;

/** A store with at most this many times the cells of the input is read whole. */
const MOST_UNASKED = 2;

export interface MissingAnswers {
  readonly missing: ReadonlyTopicSets;
  /** Of these, the topics for which the service had no data when it was last asked, by the cell's number. */
  readonly hadNoData: ReadonlyMap<number, TopicSet>;
  /** The cells that lack answers and are not asked for, because the service rejected them, and their rows. */
  readonly rejected: { readonly cells: number; readonly rows: number };
}

/** Reads what the store has of the cells.
 * @param onComplete gets each complete cell, in any order; null: their fields are not needed
 * @param fieldsOf how many fields of each topic's answers it gets; default: those of the output */
export async function findMissing(
  { job, store, source, freshness, isContinued }: RunContext,
  cells: CellTable,
  onComplete: ((cell: number, complete: CompleteCell) => void) | null,
  fieldsOf?: (topic: TopicSlug) => number,
): Promise<MissingAnswers> {
  const missing = new TopicSets(cells.size);
  const hadNoData = new Map<number, TopicSet>();
  const rejected = { cells: 0, rows: 0 };
  const wanted = wantedAnswers(job, freshness).map((answer) => ({
    ...answer,
    fields: onComplete === null ? 0 : (fieldsOf?.(answer.topic) ?? answer.fields),
  }));
  const put = (cell: number, record: CompleteCell | CellRecord) => {
    if ('fields' in record) {
      missing.set(cell, NO_TOPICS);
      onComplete?.(cell, record);
      return;
    }
    const unanswered = missingSet(record, job.topics, freshness);
    if (unanswered === NO_TOPICS && isWithheld(record, job.topics, freshness)) {
      rejected.cells++;
      rejected.rows += cells.rows(cell);
    }
    const lacks = isContinued ? difference(unanswered, failedSet(record, freshness)) : unanswered;
    missing.set(cell, lacks);
    const without = intersection(lacks, noDataSet(record));
    if (without !== NO_TOPICS) hadNoData.set(cell, without);
  };
  // A cell that is not in the store lacks all.
  const all = missingSet(null, job.topics, freshness);
  for (let cell = 0; cell < cells.size; cell++) missing.set(cell, all);
  const whole = await store.readAllWanted(source, wanted, (cell) => cells.numberOf(cell), MOST_UNASKED * cells.size);
  if (whole !== null) {
    for await (const page of whole) for (const { number, record } of page) put(number, record);
    return { missing, hadNoData, rejected };
  }
  for (let from = 0; from < cells.size; from += CELLS_PER_READ) {
    const records = await store.readWanted(source, cells.cells(from, from + CELLS_PER_READ), wanted);
    for (const [index, record] of records.entries()) if (record !== null) put(from + index, record);
  }
  return { missing, hadNoData, rejected };
}
