import { memo } from '../../base/memo.ts';
import { bareFields } from '../../columns/row.ts';
import { ROW_STATUSES, type RowStatus } from '../../columns/row-status.ts';
import { type CellRecord, EMPTY_RECORD, type Field } from '../../contract/answer.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { lossVintages } from '../../data/topics/loss-rates.ts';
import type { PlaceOrigin } from '../../data/topics/origin-notes.ts';
import { type OutputPlaces, placeUnpacker } from '../../formats/packed/output-places.ts';
import type { PlaceLosses } from '../../formats/packed/place-losses.ts';
import type { RecordWithAreas } from '../areas/run-areas.ts';
import type { RunContext } from '../frame/run-context.ts';
import { joinRecords, PlaceFields } from '../plan/place-fields.ts';
import { leaveOutBesideSample, type Plan } from '../plan/planning.ts';
import { NOTHING, PLAIN } from '../plan/source-fields.ts';
import { statusOfFinding } from '../scan/row-places.ts';
import { codedPlaces, type OfCodes } from './coded-places.ts';
import { type LossSums, lossValues, sumLosses } from './loss-sums.ts';
import { kindMaker, type PlaceKind, plainKind, withKept, withRemark } from './place-kinds.ts';
import { countRatings, type TopicRatings } from './rating-counts.ts';

type StatusCounts = Record<RowStatus, number>;

export interface OutputSums {
  readonly status: StatusCounts;
  /** The value of the located rows by status, in units (`CellTable`); all 0 in file order. */
  readonly value: StatusCounts;
  /** The rows that have an answer to a topic of the job, also a stale one, or one beside topics that they lack. */
  readonly answered: number;
  /** The rows that are `partial` only because kept columns of an earlier run have no answer. */
  readonly keptLacking: number;
  /** Places all of whose rows have an answer to each topic of the job. */
  readonly cellsComplete: number;
  /** Whether all rows of a place have these. */
  readonly isComplete: (cell: number) => boolean;
  /** The rows by their highest ratings, for the natural topics. */
  readonly ratings: readonly TopicRatings[];
  /** By currency; empty without amounts of losses. */
  readonly losses: readonly LossSums[];
}

/** Status and note of an input without rows: the fields of its kinds say how many a row has, and a writer asks for a row group of none. */
const NO_FIELDS: readonly Field[] = [null, null];

/** How many places are read together. */
const PLACES_PER_READ = 250;

/** The fields that a job adds to the rows of its input, by group of rows (`RowGroups`), then the findings of rows without a location. */
export interface OutputFields {
  /** The fields of all groups, for writers. */
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
  if (mayHaveChanged(context, plan)) await fields.readLacking();
  leaveOutBesideSample(context, fields);
  const losses = await fields.losses(context);
  const kinds = await placeKinds(context, plan, fields, losses);
  const unlocated = scan.places.unlocated.map((kind) => {
    const of = { status: statusOfFinding(kind.finding), hasAnswers: false };
    const [status, note] = bareFields(topics, { status: of.status, note: kind.note }, counts);
    return kinds.numberOf({ ...of, fields: [status!, note!] });
  });
  const places = await kinds.placesOf(new Int32Array(cells.size).map((_, cell) => cell));
  for (const [index, kind] of unlocated.entries()) places.kindOf[cells.size + index] = kind;
  fields.fillEmpty(unlocated.map((_, index) => cells.size + index));
  const written = kinds.coded?.placesOf(scan.groups.size + unlocated.length, places) ?? places;
  let sums: OutputSums | null = null;
  return {
    places: { ...written, kinds: kinds.fields() },
    sums: () => (sums ??= sumPlaces(plan, places, written, kinds.list, topics)),
  };
}

/** Gives the fields of some groups of rows but their losses, batch by batch, as the store has them. */
export async function* fieldsOfPlaces(
  context: RunContext,
  plan: Plan,
  numbers: Iterable<number>,
): AsyncGenerator<readonly (readonly [number: number, fields: readonly Field[]])[]> {
  const isWhole = plan.fields.isOutput;
  const fields = isWhole ? plan.fields : new PlaceFields(context, plan.scan);
  leaveOutBesideSample(context, fields);
  const kinds = await placeKinds(
    context,
    plan,
    fields,
    null,
    'columns of an earlier run lack answers',
  );
  const batch: number[] = [];
  const unpacked = async () => {
    const cells = [...new Set(batch.map((group) => plan.scan.groups.cellOf(group)))];
    if (!isWhole) await fields.readAgain(cells);
    const places = await kinds.placesOf(cells);
    const written = kinds.coded?.placesOf(batch, places) ?? places;
    const unpack = placeUnpacker({ ...written, kinds: kinds.fields() });
    return batch.splice(0).map((group) => [group, unpack(group)] as const);
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

/** Finds the kinds of places, by their forms. @param keptLacking as for `withKept` */
async function placeKinds(
  context: RunContext,
  plan: Plan,
  fields: PlaceFields,
  losses: PlaceLosses | null,
  keptLacking = '',
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

  /** By form, by whether it is sample data, and by what the codes of rows say: the kind for each origin. */
  const known = new Map<number | string, Map<PlaceOrigin | null, number>>();
  /** Most cells have the kind of the one before. */
  let last = { key: '' as number | string, from: null as PlaceOrigin | null, number: 0 };
  // What is beside a service is not made up.
  const { times: boughtAt } = fields.parts[0]!;
  function kindOfForm(cell: number, form: number, codes: OfCodes | null = null): number {
    const bought = boughtAt[cell]!;
    const isSample = !Number.isNaN(bought) && sampleRows.has(bought);
    const ofForm = 2 * (form + 1) + (isSample ? 1 : 0);
    const key = codes === null ? ofForm : [ofForm, codes.key, codes.remark].join('|');
    const from = origin?.originOf(cell) ?? null;
    if (key === last.key && from === last.from) return last.number;
    const byOrigin = known.get(key) ?? new Map<PlaceOrigin | null, number>();
    known.set(key, byOrigin);
    let number = byOrigin.get(from);
    if (number === undefined) {
      const oldest = fields.times[cell]!;
      const of = form === NOTHING || form === PLAIN ? null : fields.forms[form]!;
      number = numberOf(
        codes !== null
          ? makeKind.withCodes(fields.recordOf(form), codes, oldest, isSample, from)
          : form === PLAIN || of?.isComplete
            ? makeKind.complete(of, oldest, isSample, from)
            : makeKind.lacking(of?.record ?? EMPTY_RECORD, isSample, from),
      );
      byOrigin.set(from, number);
    }
    last = { key, from, number };
    return number;
  }

  /** What the places whose areas have answers have, where rows of theirs have codes. */
  const ofAreas = new Map<number, RecordWithAreas>();
  function kindOfCodes(cell: number, codes: OfCodes): number {
    const withArea = ofAreas.get(cell);
    const number =
      withArea === undefined
        ? kindOfForm(cell, fields.formOf(cell), codes)
        : numberOf(plainKind(makeKind.withAreas(withArea, cell, codes)));
    return noteLosses(cell, number);
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
      const withArea = addAreas(joinRecords(sources, records), cell);
      if (scan.coded !== null) ofAreas.set(cell, withArea);
      const made = makeKind.withAreas(withArea, cell);
      const [, , asOf, ...own] = made.fields;
      fields.put(cell, own, asOf === null ? Number.NaN : Date.parse(String(asOf)));
      kindOf[cell] = numberOf(plainKind(made));
    }
  }

  const { connection, losses: from } = context;
  const lossNote =
    losses === null || from === null || connection.kind === 'local' || connection.sample
      ? null
      : `loss rates on this machine: ${lossVintages(from.data.datasets)}`;
  const withLossNote = memo((number: number) => numberOf(withRemark(list[number]!, lossNote!)));
  /** Names in the note of bought answers the index on this machine whose rates stand beside them. */
  const noteLosses = (cell: number, number: number): number =>
    lossNote !== null && losses!.numberOf[cell]! > 0 ? withLossNote(number) : number;

  return {
    list,
    numberOf,
    /** What the codes of rows change; null where there are none. */
    coded: codedPlaces(plan, fields, kindOfCodes, (kind, has) =>
      numberOf(withKept(list[kind]!, has, keptLacking)),
    ),
    /** The fields of all kinds so far. */
    fields: () => (list.length === 0 ? [NO_FIELDS] : list.map((kind) => kind.fields)),
    /** The kinds of some cells: the result is of use for these. */
    async placesOf(cells: Int32Array | readonly number[]): Promise<OutputPlaces> {
      const lacking: number[] = [];
      // By index: an iterator takes a tenth of a second for the places of a large book.
      for (let index = 0; index < cells.length; index++) {
        const cell = cells[index]!;
        if (withAreas !== null && !fields.isComplete(cell)) lacking.push(cell);
        else kindOf[cell] = kindOfForm(cell, fields.formOf(cell));
      }
      for (let from = 0; from < lacking.length; from += PLACES_PER_READ)
        await putWithAreas(withAreas!, lacking.slice(from, from + PLACES_PER_READ));
      fields.fillEmpty(cells);
      for (let index = 0; lossNote !== null && index < cells.length; index++) {
        const cell = cells[index]!;
        kindOf[cell] = noteLosses(cell, kindOf[cell]!);
      }
      const { tables, times } = fields;
      const kinds = this.fields();
      const empty = scan.layout.hasPoints ? 1 : 0;
      return { tables, kinds, kindOf, times, losses, empty, ...(await store.texts()) };
    },
  };
}

/** The rows and their value by status, from the sums that the scan has kept.
 * @param places by cell @param written by group of rows */
function sumPlaces(
  { scan, fields }: Plan,
  places: OutputPlaces,
  { kindOf }: OutputPlaces,
  kinds: readonly PlaceKind[],
  topics: readonly TopicSlug[],
): OutputSums {
  const { cells, groups, places: rows } = scan;
  const status = Object.fromEntries(ROW_STATUSES.map((name) => [name, 0])) as StatusCounts;
  const value = { ...status };
  /** 1 for each place that has rows which are not complete. */
  const isLacking = new Uint8Array(cells.size);
  let [answered, keptLacking] = [0, 0];
  for (let group = 0; group < groups.size; group++) {
    const kind = kinds[kindOf[group]!]!;
    const ofJob = kind.ofJob ?? kind.status;
    if (ofJob !== 'ok') isLacking[groups.cellOf(group)] = 1;
    if (ofJob === 'ok' || kind.hasAnswers) answered += groups.rows(group);
    if (ofJob === 'ok' && kind.status !== 'ok') keptLacking += groups.rows(group);
    status[kind.status] += groups.rows(group);
    value[kind.status] += groups.value(group);
  }
  const isComplete = (cell: number) => isLacking[cell] === 0;
  const cellsComplete = isLacking.reduce((count, lacks) => count + 1 - lacks, 0);
  for (const kind of rows.unlocated) status[statusOfFinding(kind.finding)] += kind.rows;
  const ratings = countRatings(scan, fields, places);
  const losses = places.losses?.hasAmounts
    ? lossValues(scan).map((values) => sumLosses(scan, places.losses!, topics, values))
    : [];
  return { status, value, answered, keptLacking, cellsComplete, isComplete, ratings, losses };
}
