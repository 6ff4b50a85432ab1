import { memo } from '../../base/memo.ts';
import { bareFields, completeFields, enrichedFields } from '../../columns/row.ts';
import {
  cellStatus,
  LOOKED_UP,
  OF_BOTH,
  ROW_STATUSES,
  type RowStatus,
} from '../../columns/row-status.ts';
import { wantedColumns } from '../../columns/topic-columns.ts';
import {
  type Answer,
  type CellRecord,
  EMPTY_RECORD,
  type Field,
  isNoData,
} from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { lossVintages } from '../../data/topics/loss-rates.ts';
import type { PlaceOrigin } from '../../data/topics/origin-notes.ts';
import { type OutputPlaces, placeUnpacker } from '../../formats/packed/output-places.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import type { RecordWithAreas } from '../areas/run-areas.ts';
import { timesOf } from '../frame/freshness.ts';
import type { RunContext } from '../frame/run-context.ts';
import { joinRecords, PlaceFields, plainFields } from '../plan/place-fields.ts';
import { leaveOutBesideSample, type Plan } from '../plan/planning.ts';
import { type KnownForm, NOTHING, PLAIN } from '../plan/source-fields.ts';
import { statusOfFinding } from '../scan/row-places.ts';
import { type LossSums, lossValues, sumLosses } from './loss-sums.ts';
import { countRatings, type TopicRatings } from './rating-counts.ts';

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
  /** By currency; empty without amounts of losses. */
  readonly losses: readonly LossSums[];
}

/** How many places are read together. */
const PLACES_PER_READ = 250;

/** Places with the same status and note. */
interface PlaceKind {
  readonly status: RowStatus;
  readonly hasAnswers: boolean;
  /** The fields of status and note. */
  readonly fields: readonly Field[];
}

/** The fields that a job adds to the rows of its input, by place: the cells in file order, then the findings of rows without a location. */
export interface OutputFields {
  /** The fields of all places, for writers. */
  readonly places: OutputPlaces;
  /** The sums over all rows. */
  sums(): OutputSums;
}

/** Makes the fields of all places, as the store has them now: what a run bought or looked up is read, the rest was read by its plan. */
export async function openOutputFields(context: RunContext, plan: Plan): Promise<OutputFields> {
  const { scan } = plan;
  const { cells } = scan;
  const { topics, counts } = context.job;
  const { fields } = plan;
  if (mayHaveChanged(context, plan)) await fields.readAgain(lackingCells(fields, cells.size));
  leaveOutBesideSample(context, fields);
  const losses = await fields.losses(context);
  const kinds = await placeKinds(context, plan, fields, losses);
  const unlocated = scan.places.unlocated.map((kind) => {
    const of = { status: statusOfFinding(kind.finding), hasAnswers: false };
    const [status, note] = bareFields(topics, { status: of.status, note: kind.note }, counts);
    return kinds.numberOf({ ...of, fields: [status!, note!] });
  });
  const places = await kinds.placesOf(Int32Array.from({ length: cells.size }, (_, cell) => cell));
  for (const [index, kind] of unlocated.entries()) places.kindOf[cells.size + index] = kind;
  fields.fillEmpty(unlocated.map((_, index) => cells.size + index));
  let sums: OutputSums | null = null;
  return {
    places,
    sums: () => (sums ??= sumPlaces(plan, places, kinds.list, topics)),
  };
}

/** Gives the fields of some places but their losses, batch by batch, as the store has them. */
export async function* fieldsOfPlaces(
  context: RunContext,
  plan: Plan,
  numbers: Iterable<number>,
): AsyncGenerator<readonly (readonly [number: number, fields: readonly Field[]])[]> {
  const isWhole = plan.fields.isOutput;
  const fields = isWhole ? plan.fields : new PlaceFields(context, plan.scan);
  leaveOutBesideSample(context, fields);
  const kinds = await placeKinds(context, plan, fields, null);
  const batch: number[] = [];
  const unpacked = async () => {
    if (!isWhole) await fields.readAgain(batch);
    const unpack = placeUnpacker(await kinds.placesOf(batch));
    return batch.splice(0).map((number) => [number, unpack(number)] as const);
  };
  for (const number of numbers) {
    batch.push(number);
    if (batch.length === PLACES_PER_READ) yield await unpacked();
  }
  if (batch.length > 0) yield await unpacked();
}

/** Whether answers may have come since the plan. */
function mayHaveChanged({ progress, connection }: RunContext, { beside }: Plan): boolean {
  const isLookedUp = connection.kind === 'local' || (beside !== null && beside.order.length > 0);
  return isLookedUp || progress.calls > 0 || progress.creditsByOthers > 0;
}

function* lackingCells(fields: PlaceFields, count: number): Generator<number> {
  for (let cell = 0; cell < count; cell++) if (!fields.isComplete(cell)) yield cell;
}

/** Finds the kinds of places, by their forms. */
async function placeKinds(
  context: RunContext,
  plan: Plan,
  fields: PlaceFields,
  losses: PlaceLosses | null,
) {
  const { store, sources, sampleRows } = context;
  const { scan, origin } = plan;
  const withAreas = (await plan.areas?.read()) ?? null;
  const list: PlaceKind[] = [];
  const numbers = new Map<string, number>();
  const makeKind = kindMaker(context, plan);
  const kindOf = new Uint32Array(new SharedArrayBuffer(4 * fields.times.length));

  function numberOf(kind: PlaceKind): number {
    const key = JSON.stringify(kind);
    const number = numbers.get(key) ?? list.push(kind) - 1;
    numbers.set(key, number);
    return number;
  }

  /** By form and by whether it is sample data: the kind for each origin. */
  const known = new Map<number, Map<PlaceOrigin | null, number>>();
  function kindOfForm(cell: number, form: number): number {
    const oldest = fields.times[cell]!;
    // What is beside a service is not made up.
    const bought = fields.parts[0]!.times[cell]!;
    const isSample = !Number.isNaN(bought) && sampleRows.has(bought);
    const key = 2 * (form + 1) + (isSample ? 1 : 0);
    const byOrigin = known.get(key) ?? new Map<PlaceOrigin | null, number>();
    known.set(key, byOrigin);
    const from = origin?.originOf(cell) ?? null;
    let number = byOrigin.get(from);
    if (number === undefined) {
      const of = form === NOTHING || form === PLAIN ? null : fields.forms[form]!;
      number = numberOf(
        form === PLAIN || of?.isComplete
          ? makeKind.complete(of, oldest, isSample, from)
          : makeKind.lacking(of?.record ?? EMPTY_RECORD, isSample, from),
      );
      byOrigin.set(from, number);
    }
    return number;
  }

  /** Puts the fields of places whose areas have answers. */
  async function putWithAreas(
    addAreas: NonNullable<typeof withAreas>,
    lacking: readonly number[],
  ): Promise<void> {
    const at = lacking.map((cell) => scan.cells.cell(cell));
    const read: (readonly (CellRecord | null)[])[] = [];
    for (const { source } of sources) read.push(await store.read(source, at));
    for (const [index, cell] of lacking.entries()) {
      const records = read.map((ofSource) => ofSource[index]!);
      const made = makeKind.withAreas(addAreas(joinRecords(sources, records), cell), cell);
      const [status, note, asOf, ...own] = made.fields;
      fields.put(cell, own, asOf === null ? Number.NaN : Date.parse(String(asOf)));
      kindOf[cell] = numberOf({ ...made, fields: [status!, note!] });
    }
  }

  /** Names in the notes of bought answers the index on this machine whose rates stand beside them. */
  function noteLosses(cells: Iterable<number>): void {
    const { connection, losses: from } = context;
    if (losses === null || from === null || connection.kind === 'local' || connection.sample)
      return;
    const note = `loss rates on this machine: ${lossVintages(from.data.datasets)}`;
    const noted = memo((number: number) => {
      const { fields: own, ...kind } = list[number]!;
      const said = [own[1], note].filter(Boolean).join('; ');
      return numberOf({ ...kind, fields: [own[0]!, said] });
    });
    for (const cell of cells) if (losses.numberOf[cell]! > 0) kindOf[cell] = noted(kindOf[cell]!);
  }

  return {
    list,
    numberOf,
    /** The kinds of some cells: the result is of use for these. */
    async placesOf(cells: Int32Array | readonly number[]): Promise<OutputPlaces> {
      const lacking: number[] = [];
      for (const cell of cells) {
        if (withAreas !== null && !fields.isComplete(cell)) lacking.push(cell);
        else kindOf[cell] = kindOfForm(cell, fields.formOf(cell));
      }
      for (let from = 0; from < lacking.length; from += PLACES_PER_READ)
        await putWithAreas(withAreas!, lacking.slice(from, from + PLACES_PER_READ));
      fields.fillEmpty(cells);
      noteLosses(cells);
      const { tables, times } = fields;
      const kinds = list.map((kind) => kind.fields);
      const empty = scan.layout.hasPoints ? 1 : 0;
      return { tables, kinds, kindOf, times, losses, empty, ...(await store.texts()) };
    },
  };
}

/** Makes status and note of places. */
function kindMaker(context: RunContext, plan: Plan) {
  const { job, freshness, setAside, sampleRows, connection, sources } = context;
  const { topics, counts } = job;
  const { startedAt } = freshness;
  const times = (topic: TopicSlug) => timesOf(freshness, topic);
  const { origin } = plan;
  const noteOf =
    (from: PlaceOrigin | null) =>
    (answered: readonly TopicSlug[]): string =>
      from === null ? '' : origin!.noteOf(answered, from);
  const completeOf = memo((from: PlaceOrigin | null) =>
    memo((isSample: boolean) =>
      completeFields(topics, counts, () => isSample, startedAt, noteOf(from)),
    ),
  );
  const width = (topic: TopicSlug) => wantedColumns(topic, counts).length;

  function lacking(
    held: CellRecord,
    isSample: (oldest: number) => boolean,
    from: PlaceOrigin | null,
    used: readonly string[] = [],
  ): PlaceKind {
    const isLocal = connection.kind === 'local';
    const record = isLocal ? withoutReplaced(held) : held;
    const ofBoth = sources.length > 1 ? OF_BOTH : undefined;
    const texts = isLocal ? LOOKED_UP : ofBoth;
    const result = cellStatus(record, topics, times, startedAt, texts, setAside);
    const answered = topics.filter((topic) => record.answers.has(topic));
    // A dataset that has nothing on the place gave no answer.
    const told = answered.filter((topic) => !isNoData(record.answers.get(topic)!.fields));
    const ofOrigin = origin !== null && told.length > 0 ? origin.noteOf(told, from!) : '';
    const note = [ofOrigin, result.note, used.length > 0 ? `by ${used.join(' and ')}` : '']
      .filter(Boolean)
      .join('; ');
    const fields = enrichedFields(record, topics, { ...result, note }, isSample, counts, startedAt);
    return { status: result.status, hasAnswers: answered.length > 0, fields };
  }

  return {
    complete(
      form: KnownForm | null,
      oldest: number,
      isSample: boolean,
      from: PlaceOrigin | null,
    ): PlaceKind {
      const answers = form === null ? [] : topics.map((topic) => form.record.answers.get(topic)!);
      const stated = answers.some((answer) => answer.stated)
        ? answers.map((answer) => answer.stated ?? '').join('\n')
        : '';
      const own = topics.flatMap((topic, index) =>
        form === null ? plainFields(width(topic)) : answers[index]!.fields.slice(0, width(topic)),
      );
      const [status, note] = completeOf(from)(isSample)(oldest, own, stated);
      return { status: 'ok', hasAnswers: true, fields: [status!, note!] };
    },
    lacking(record: CellRecord, isSample: boolean, from: PlaceOrigin | null): PlaceKind {
      const { fields, ...kind } = lacking(record, () => isSample, from);
      return { ...kind, fields: fields.slice(0, 2) };
    },
    /** All fields of a place that lacks something, with the answers of its areas. */
    withAreas({ record, used }: RecordWithAreas, cell: number): PlaceKind {
      return lacking(record, sampleRows.has, origin?.originOf(cell) ?? null, used);
    },
  };
}

/** Without the answers that a later look-up did not find again: their data was removed or replaced, and costs nothing to look up. */
function withoutReplaced({ answers, failures }: CellRecord): CellRecord {
  const isCurrent = ({ topic, asOf }: Answer) => (failures.get(topic)?.at ?? 0) <= asOf;
  return { answers: new Map([...answers].filter(([, answer]) => isCurrent(answer))), failures };
}

/** The rows and their value by status, from the sums that the scan has kept. */
function sumPlaces(
  { scan, fields }: Plan,
  places: OutputPlaces,
  kinds: readonly PlaceKind[],
  topics: readonly TopicSlug[],
): OutputSums {
  const { cells, places: rows } = scan;
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  const { kindOf } = places;
  let cellsComplete = 0;
  let answered = 0;
  for (let cell = 0; cell < cells.size; cell++) {
    const kind = kinds[kindOf[cell]!]!;
    if (kind.status === 'ok') cellsComplete++;
    if (kind.status === 'ok' || kind.hasAnswers) answered += cells.rows(cell);
    status[kind.status] += cells.rows(cell);
    value[kind.status] += cells.value(cell);
  }
  for (const kind of rows.unlocated) status[statusOfFinding(kind.finding)] += kind.rows;
  const isComplete = (cell: number) => kinds[kindOf[cell]!]!.status === 'ok';
  const ratings = countRatings(scan, fields, places);
  const losses = places.losses?.hasAmounts
    ? lossValues(scan).map((values) => sumLosses(scan, places.losses!, topics, values))
    : [];
  return { status, value, answered, cellsComplete, isComplete, ratings, losses };
}
