import { memo } from '../../base/memo.ts';
import {
  bareFields,
  type CompleteFields,
  completeFields,
  enrichedFields,
} from '../../columns/row.ts';
import { cellStatus, LOOKED_UP, ROW_STATUSES, type RowStatus } from '../../columns/row-status.ts';
import { type Answer, type CellRecord, EMPTY_RECORD, type Field } from '../../contract/answer.ts';
import type { OriginNotes, PlaceOrigin } from '../../data/topics/origin-notes.ts';
import type { Job } from '../../job/settings.ts';
import { putFields } from '../../rows/placed-fields.ts';
import type { PlaceSink } from '../../rows/port.ts';
import type { CompleteCell } from '../../store/answers/port.ts';
import { wantedAnswers } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import { readStoredAreas, withAreas } from '../plan/area-plan.ts';
import { isTrusted } from '../plan/area-verification.ts';
import type { Plan } from '../plan/planning.ts';
import { statusOfFinding } from '../scan/row-places.ts';
import type { Scan } from '../scan/scan-input.ts';
import { ratingCounter, type TopicRatings } from './rating-counts.ts';

type StatusCounts = Record<RowStatus, number>;

export interface OutputSums {
  readonly status: StatusCounts;
  /** The value of the located rows by status, in units (`CellTable`); all 0 in file order. */
  readonly value: StatusCounts;
  /** The rows that have an answer, also a stale one, or one beside topics that they lack. */
  readonly answered: number;
  /** Places all of whose rows are `ok`. */
  readonly cellsComplete: number;
  /** Whether all rows of a place are `ok`. */
  readonly isComplete: (cell: number) => boolean;
  /** The rows by their highest ratings, for the natural topics. */
  readonly ratings: readonly TopicRatings[];
}

/** How many places are read and written together. */
export const PLACES_PER_READ = 250;

/** Most cells kept of those that lack something: each takes a kilobyte. Others are read from the store again. */
const MOST_KEPT = 50_000;

/** The fields of a cell that lacks something. */
interface CellFields {
  readonly status: RowStatus;
  readonly hasAnswers: boolean;
  readonly fields: readonly Field[];
}

/** Opens the fields that a job adds to the rows of its input, as the store has them now. */
export async function openOutputFields(
  { job, store, source, sampleRows, freshness, setAside }: RunContext,
  plan: Plan,
): Promise<OutputFields> {
  const { scan, origin } = plan;
  const { cells, areas, places } = scan;
  const { topics, counts } = job;
  const wanted = wantedAnswers(job, freshness);
  const isTrustedNow = plan.areas !== null && isTrusted(plan.areas.verification);
  const stored = isTrustedNow ? await readStoredAreas(areas, store, source) : null;
  const fieldsOf = (own: CellRecord, cell: number): CellFields => {
    const { record: held, used } = stored
      ? withAreas(own, cell, job, areas, stored, freshness)
      : { record: own, used: [] };
    const record = origin === null ? held : withoutReplaced(held);
    const texts = origin === null ? undefined : LOOKED_UP;
    const result = cellStatus(
      record,
      topics,
      freshness.freshSince,
      freshness.startedAt,
      texts,
      setAside,
    );
    const answered = topics.filter((topic) => record.answers.has(topic));
    const from =
      origin !== null && answered.length > 0 ? origin.noteOf(answered, origin.originOf(cell)) : '';
    const note = [from, result.note, used.length > 0 ? `by ${used.join(' and ')}` : '']
      .filter(Boolean)
      .join('; ');
    const fields = enrichedFields(
      record,
      topics,
      { ...result, note },
      sampleRows.has,
      counts,
      freshness.startedAt,
    );
    return { status: result.status, hasAnswers: answered.length > 0, fields };
  };
  const bare = places.unlocated.map((kind) =>
    bareFields(topics, { status: statusOfFinding(kind.finding), note: kind.note }, counts),
  );
  const completeOf = completeCellFields(job, sampleRows.has, freshness.startedAt, origin);
  const read = async (numbers: readonly number[]) => {
    const asked = numbers.map((cell) => cells.cell(cell));
    const records =
      stored !== null
        ? await store.read(source, asked)
        : await store.readWanted(source, asked, wanted);
    return records.map((record, index) => {
      const cell = numbers[index]!;
      return record === null || !('fields' in record)
        ? fieldsOf(record ?? EMPTY_RECORD, cell)
        : record;
    });
  };
  return new OutputFields(job, plan, { bare, completeOf, read });
}

interface FieldMakers {
  /** The fields of rows without a location, by their finding. */
  readonly bare: readonly (readonly Field[])[];
  /** The form of a cell's fields that the plan has read. */
  readonly completeOf: (cell: number) => CompleteFields;
  readonly read: (cells: readonly number[]) => Promise<(CellFields | CompleteCell)[]>;
}

/** The added fields of all rows, by place: the cells in file order, then the findings of rows without a location. Cells that the plan has
 * not read are read from the store. */
export class OutputFields {
  readonly #job: Job;
  readonly #scan: Scan;
  readonly #complete: Plan['complete'];
  readonly #makers: FieldMakers;
  /** The fields of cells that lack something, of those that the first pass has read. It adds the others to the plan's. */
  readonly #kept = new Map<number, readonly Field[]>();
  /** The plan reads cells that lack nothing: their status, the first of all (`ok`), is 0 already. */
  readonly #statuses: Uint8Array;
  /** By the cell's number: 1 where it lacks something and has an answer. */
  readonly #hasAnswers: Uint8Array;
  #sums: Promise<OutputSums> | null = null;

  constructor(job: Job, { scan, complete }: Pick<Plan, 'scan' | 'complete'>, makers: FieldMakers) {
    this.#job = job;
    this.#scan = scan;
    this.#complete = complete;
    this.#makers = makers;
    this.#statuses = new Uint8Array(scan.cells.size);
    this.#hasAnswers = new Uint8Array(scan.cells.size);
  }

  get count(): number {
    return this.#scan.cells.size + this.#makers.bare.length;
  }

  /** Puts the fields of places into a sink, in the given order, after the pass that counts: cells that it has kept are not read again. */
  async give(sink: PlaceSink, places: readonly number[]): Promise<void> {
    await this.sums();
    await this.put(sink, places);
  }

  /** As `give`, without counting. @param keeps whether cells that are read are kept, while there is room */
  async put(sink: PlaceSink, places: readonly number[], keeps = false): Promise<void> {
    const { size } = this.#scan.cells;
    const { bare, completeOf, read } = this.#makers;
    const unread = places.filter(
      (place) => place < size && !this.#complete.has(place) && !this.#kept.has(place),
    );
    const fieldsRead = new Map<number, readonly Field[]>();
    for (const [index, cell] of (unread.length === 0 ? [] : await read(unread)).entries()) {
      const number = unread[index]!;
      this.#statuses[number] = ROW_STATUSES.indexOf('packed' in cell ? 'ok' : cell.status);
      if ('packed' in cell) {
        if (keeps) this.#complete.put(number, cell);
        if (this.#complete.has(number)) continue;
        fieldsRead.set(number, completeOf(number).of(cell.asOf, cell.fields(), cell.stated));
      } else {
        this.#hasAnswers[number] = cell.hasAnswers ? 1 : 0;
        fieldsRead.set(number, cell.fields);
        if (keeps && this.#kept.size < MOST_KEPT) this.#kept.set(number, cell.fields);
      }
    }
    for (const place of places) {
      const fields =
        place < size ? (fieldsRead.get(place) ?? this.#kept.get(place)) : bare[place - size];
      if (fields === undefined) this.#complete.putFields(place, completeOf(place), sink);
      else putFields(sink, fields);
      // The point of each row replaces it: rows of one place may differ.
      if (this.#scan.layout.hasPoints) sink.put(null);
      sink.endPlace();
    }
  }

  /** Puts the fields of all places, in order. The first pass counts statuses and ratings, too. */
  async giveAll(sink: PlaceSink): Promise<void> {
    if (this.#sums === null) await this.sums(sink);
    else for (const places of this.#batches()) await this.give(sink, places);
  }

  /** The sums over all rows. @param sink gets the fields, if this is the first pass over them */
  sums(sink: PlaceSink = NO_SINK): Promise<OutputSums> {
    this.#sums ??= this.#counted(sink);
    return this.#sums;
  }

  /** Frees what is kept; later reads go to the store. */
  release(): void {
    this.#complete.release();
    this.#kept.clear();
  }

  async #counted(sink: PlaceSink): Promise<OutputSums> {
    const { counting, ratings } = ratingCounter(this.#job, this.#scan.cells);
    const counted = counting(sink);
    for (const places of this.#batches()) await this.put(counted, places, true);
    const sums = sumStatuses(this.#scan, this.#statuses);
    const { cells } = this.#scan;
    let answered = sums.status.ok;
    for (let cell = 0; cell < cells.size; cell++)
      if (this.#hasAnswers[cell] === 1 && this.#statuses[cell] !== COMPLETE)
        answered += cells.rows(cell);
    return { ...sums, answered, ratings };
  }

  *#batches(): Generator<readonly number[]> {
    for (let from = 0; from < this.count; from += PLACES_PER_READ) {
      yield Array.from(
        { length: Math.min(PLACES_PER_READ, this.count - from) },
        (_, index) => from + index,
      );
    }
  }
}

/** Makes the fields of complete cells, whose note states the origin of their answers. */
function completeCellFields(
  { topics, counts }: Job,
  isSample: (oldest: number) => boolean,
  now: number,
  origin: OriginNotes | null,
): (cell: number) => CompleteFields {
  const fieldsFrom = (of: PlaceOrigin | null) =>
    completeFields(topics, counts, isSample, now, of === null ? '' : origin!.noteOf(topics, of));
  const complete = memo(fieldsFrom);
  return (cell) => complete(origin?.originOf(cell) ?? null);
}

/** Without the answers that a later look-up did not find again: their data was removed or replaced, and costs nothing to look up. */
function withoutReplaced({ answers, failures }: CellRecord): CellRecord {
  const isCurrent = ({ topic, asOf }: Answer) => (failures.get(topic)?.at ?? 0) <= asOf;
  return { answers: new Map([...answers].filter(([, answer]) => isCurrent(answer))), failures };
}

const COMPLETE = ROW_STATUSES.indexOf('ok');

const NO_SINK: PlaceSink = { put() {}, putMillionths() {}, putText() {}, endPlace() {} };

/** The rows and their value by status, from the sums that the scan has kept. */
function sumStatuses(
  { cells, places }: Scan,
  statuses: Uint8Array,
): Omit<OutputSums, 'ratings' | 'answered'> {
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  let cellsComplete = 0;
  for (let cell = 0; cell < cells.size; cell++) {
    const name = ROW_STATUSES[statuses[cell]!]!;
    if (name === 'ok') cellsComplete++;
    status[name] += cells.rows(cell);
    value[name] += cells.value(cell);
  }
  for (const kind of places.unlocated) status[statusOfFinding(kind.finding)] += kind.rows;
  const isComplete = (cell: number) => ROW_STATUSES[statuses[cell]!] === 'ok';
  return { status, value, cellsComplete, isComplete };
}
