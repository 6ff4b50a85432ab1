import { enrichedFields } from '../../columns/row.ts';
import { cellStatus, LOOKED_UP, type RowStatus } from '../../columns/row-status.ts';
import { type Answer, type CellRecord, EMPTY_RECORD, type Field } from '../../contract/answer.ts';
import { putFields } from '../../rows/placed-fields.ts';
import type { PlaceSink } from '../../rows/port.ts';
import { readStoredAreas, withAreas } from '../plan/area-plan.ts';
import { isTrusted } from '../plan/area-verification.ts';
import { wantedAnswers } from '../plan/freshness.ts';
import type { Plan } from '../plan/planning.ts';
import type { RunContext } from '../run-context.ts';
import { type CellCache, type CellFields, completeCellFields } from './cell-cache.ts';

/** How many cells are read and written together. */
export const CELLS_PER_READ = 250;

export type CellReader = (numbers: readonly number[]) => Promise<CellFields[]>;

/**
 * Makes a function that reads cells from the store, by their numbers, and returns their fields. `onCell` gets each cell; a complete
 * cell has an empty record, because reading its record takes three times as long.
 */
export async function cellReader(
  { job, store, source, sampleRows, freshness }: RunContext,
  { scan, origin, areas: bought }: Plan,
  onCell: (number: number, record: CellRecord, status: RowStatus) => void = () => {},
): Promise<CellReader> {
  const { cells, areas } = scan;
  const wanted = wantedAnswers(job, freshness);
  const completeOf = completeCellFields(job, sampleRows.has, origin);
  const isTrustedNow = bought !== null && isTrusted(bought.verification);
  const stored = isTrustedNow ? await readStoredAreas(areas, store, source) : null;
  const fieldsOf = (own: CellRecord, number: number): readonly Field[] => {
    const { record: held, used } = stored
      ? withAreas(own, number, job, areas, stored, freshness)
      : { record: own, used: [] };
    const record = origin === null ? held : withoutReplaced(held);
    const texts = origin === null ? undefined : LOOKED_UP;
    const result = cellStatus(record, job.topics, freshness.freshSince, freshness.startedAt, texts);
    onCell(number, record, result.status);
    const answered = origin === null ? [] : job.topics.filter((topic) => record.answers.has(topic));
    const from = answered.length > 0 ? origin!.noteOf(answered, origin!.originOf(number)) : '';
    const note = [from, result.note, used.length > 0 ? `by ${used.join(' and ')}` : ''].filter(Boolean).join('; ');
    return enrichedFields(record, job.topics, { ...result, note }, sampleRows.has, job.counts);
  };
  return async (numbers) => {
    if (numbers.length === 0) return [];
    const asked = numbers.map((number) => cells.cell(number));
    const records = stored !== null ? await store.read(source, asked) : await store.readWanted(source, asked, wanted);
    return records.map((record, index) => {
      const number = numbers[index]!;
      if (record !== null && 'fields' in record) {
        onCell(number, EMPTY_RECORD, 'ok');
        // Packed until they are written: arrays of all cells' fields took half a second of garbage collection.
        return () => completeOf(number).of(record.asOf, record.fields());
      }
      const fields = fieldsOf(record ?? EMPTY_RECORD, number);
      return () => fields;
    });
  };
}

/** Without the answers that a later look-up did not find again: their data was removed or replaced, and costs nothing to look up. */
function withoutReplaced({ answers, failures }: CellRecord): CellRecord {
  const isCurrent = ({ topic, asOf }: Answer) => (failures.get(topic)?.at ?? 0) <= asOf;
  return { answers: new Map([...answers].filter(([, answer]) => isCurrent(answer))), failures };
}

/** Puts the fields of some cells into a sink, in the given order. Cells that are not in the cache are read.
 * @param end puts the fields after a cell's own, and ends its place
 * @returns the cells that were read, with their fields */
export async function putCells(
  numbers: readonly number[],
  cache: Pick<CellCache, 'has' | 'putFields'>,
  readCells: CellReader,
  sink: PlaceSink,
  end: (number: number) => void = () => sink.endPlace(),
): Promise<ReadonlyMap<number, CellFields>> {
  const unread = numbers.filter((number) => !cache.has(number));
  const fields = await readCells(unread);
  const read = new Map(unread.map((number, index) => [number, fields[index]!]));
  for (const number of numbers) {
    const made = read.get(number);
    if (made === undefined) cache.putFields(number, sink);
    else putFields(sink, made());
    end(number);
  }
  return read;
}
