import { counted, isoDay } from '../../base/format-numbers.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { placeOrigins } from '../../data/lookup/place-origins.ts';
import { localNotes, type OriginNotes } from '../../data/topics/origin-notes.ts';
import type { Job } from '../../job/settings.ts';
import {
  difference,
  intersection,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  TopicSets,
} from '../../store/answers/topic-set.ts';
import type { ChargedPrices } from '../../store/ledger/port.ts';
import type { Store } from '../../store/port.ts';
import { planAreas, type RunAreas } from '../areas/run-areas.ts';
import type { Key } from '../frame/api-keys.ts';
import { failedSet, isWithheld, missingSet, noDataSet } from '../frame/freshness.ts';
import { contextOf, type RunContext } from '../frame/run-context.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import {
  expectedPrices,
  type Lacking,
  makePriceList,
  type PriceList,
  payableFor,
  priceCheapest,
  purchaseBySet,
} from './cheapest-calls.ts';
import { type CodeAnswers, readCodeAnswers } from './code-answers.ts';
import { PlaceFields } from './place-fields.ts';
import { type CellNumbers, purchasesFor } from './reach.ts';
import { findRefusedWay, type RefusedWay } from './refused-way.ts';
import { NOTHING, type SourceFields } from './source-fields.ts';
import { creditsWithin, type PlannedSpending, planSpending } from './spending.ts';

/** The priced calls of a run, and its spending limits. It never changes: a run keeps its own `CellQueue`. */
export interface Plan extends MissingAnswers, PlannedSpending {
  readonly scan: Scan;
  /** The notes on the origin of answers from local data; null where none are. */
  readonly origin: OriginNotes | null;
  /** The content of calls, by the store's records of bundles and keys. */
  readonly priceList: PriceList;
  /** The cheaper way that the service refused; null where there is none. */
  readonly refusedWay: RefusedWay | null;
  /** What the service last charged. */
  readonly charged: ChargedPrices;
  /** The names of keys that the account never used, though it used others. */
  readonly newKeys: readonly string[];
  /** The fields of the places, for the last pass. */
  readonly fields: PlaceFields;
  /** What layers say of the codes in the rows, by the layout's columns of codes. */
  readonly codes: readonly (CodeAnswers | null)[];
  /** The cells with an answer to each topic. */
  readonly cellsCached: number;
  /** The areas of the places, and what their answers save; null if the job does not use areas. */
  readonly areas: RunAreas | null;
  readonly areaSavings: AreaSavings | null;
  /** The cells that lack something, in the order in which credits are spent on them. */
  readonly order: CellNumbers;
  /** What the data beside a service is asked, free of charge; null where there is none. */
  readonly beside: LookUpPlan | null;
  /** How many cells beyond the job's limit of rows lack something, too. They are neither priced nor asked for. */
  readonly beyondLimit: number;
}

/** The cells to look up in local data, and what each lacks. */
export interface LookUpPlan extends Pick<Plan, 'scan' | 'order' | 'missing'> {
  readonly fields: SourceFields;
}

/** The rows that have an answer after a run of this plan, also a stale one, or one of their areas. */
export function rowsWithAnswers(plan: Plan, isLocal: boolean): number {
  const { scan, order, missing, hasAnswers, priceList } = plan;
  const { cells } = scan;
  const isBought = isLocal
    ? new Uint8Array(cells.size).fill(1)
    : purchasesFor({ cells, order, missing, priceList }, creditsWithin(plan.bounds)).isBought;
  let rows = 0;
  for (let cell = 0; cell < cells.size; cell++)
    if (hasAnswers[cell] === 1 || isBought[cell] === 1 || missing.get(cell) === NO_TOPICS)
      rows += cells.rows(cell);
  return rows;
}

interface AreaSavings {
  /** Credits, once every cell has its answers. */
  readonly saved: number;
  readonly savedAt: (cell: number) => number;
}

export interface PlanOptions {
  /** How many fields of each topic's answers are kept; default: those of the output. */
  readonly fieldsOf?: (topic: TopicSlug) => number;
  /** The fields that an earlier plan of the same scan has read, for the same times. */
  readonly fields?: PlaceFields;
  /** Default: made from the scan. */
  readonly origin?: OriginNotes | null;
  /** The same, read from the data. */
  readonly codes?: Plan['codes'];
}

/** Prices the missing answers. Reads the store, spends nothing. */
export async function makePlan(whole: RunContext, scan: Scan, options: PlanOptions): Promise<Plan> {
  // What is priced knows nothing of the topics beside it.
  const context = contextOf(whole, whole.sources[0]);
  const { job, connection, store, source, apiKeys } = context;
  const { cells } = scan;
  const { origin = describeOrigin(whole, cells), codes = readCodeAnswers(whole, scan) } = options;
  const fields = options.fields ?? new PlaceFields(whole, scan, options.fieldsOf);
  if (options.fields === undefined) await fields.readAll();
  leaveOutBesideSample(whole, fields);
  const unanswered = findMissing(context, cells, fields.parts[0]!);
  tellAhead(context, fields.parts[0]!.times.subarray(0, cells.size));
  const limited = cellsOfFirstRows(scan, job.limit);
  const compare = spendingComparator(job, cells);
  const lackingOrder = cellsLacking(unanswered.missing, limited);
  // A look-up takes places in the order of the map.
  if (job.orderBy.kind !== 'file' && connection.kind !== 'local') lackingOrder.sort(compare);
  const request = { context, scan, compare, order: lackingOrder, missing: unanswered.missing };
  const spared =
    job.areas === null || connection.kind === 'local' ? null : await planAreas(request);
  const missing = spared?.missing ?? unanswered.missing;
  const order =
    spared === null ? lackingOrder : lackingOrder.filter((cell) => missing.get(cell) !== NO_TOPICS);
  const charged = await store.chargedPrices(source);
  const contents = await store.bundleContents(source);
  const listWith = (keys: RunContext['apiKeys']) =>
    makePriceList(job, contents, keys, expectedPrices(charged, payableFor(job)));
  const priceList = listWith(apiKeys);
  const lacking = countSets(unanswered.missing);
  if (lacking.get(NO_TOPICS) === undefined) await tellLostAnswers(context);
  const asked = spared === null && limited === cells.size ? lacking : countSets(missing, limited);
  const spending = await planSpending(context, { cells, order, missing, priceList }, asked);
  return {
    ...unanswered,
    ...spending,
    scan,
    origin,
    priceList,
    charged,
    refusedWay: findRefusedWay(context, asked, spending.price, listWith),
    newKeys:
      connection.kind === 'local' || connection.sample
        ? []
        : await newKeys(job, connection.keys, store),
    fields,
    codes,
    missing,
    cellsCached: (lacking.get(NO_TOPICS) ?? 0) - unanswered.rejected.cells,
    areas: spared?.areas ?? null,
    areaSavings: spared && {
      saved: priceCheapest(lacking, priceList).credits - spending.price.credits,
      savedAt: savingAt(unanswered.missing, missing, priceList),
    },
    order,
    beside: planBeside(whole, scan, fields, limited),
    beyondLimit: cellsLacking(missing, cells.size, limited).length,
  };
}

/** Says before they are priced again how many places have answers of a later date: these would never be renewed. */
function tellAhead({ freshness, effects }: RunContext, times: Float64Array): void {
  const ahead = times.filter((oldest) => oldest > freshness.freshUntil);
  if (ahead.length === 0) return;
  const latest = isoDay(ahead.reduce((a, b) => Math.max(a, b)));
  effects.notice(
    `The answers of ${counted(ahead.length, 'place')} in the store are dated later than now, up to ${latest}: a clock was ahead. They count as stale, and are asked for again.`,
  );
}

/** Says before its answers are priced again that a store has lost all of them: a table was damaged, or they were deleted. */
async function tellLostAnswers({ connection, store, source, effects }: RunContext): Promise<void> {
  if (connection.kind === 'local' || connection.sample) return;
  const credits = await store.creditsWithoutAnswers(source);
  if (credits === 0) return;
  effects.notice(
    `The store has no answer of this service, though its ledger says that ${counted(credits, 'credit')} were charged: they were pruned or lost. Put back a copy of the store, else they are bought again.`,
  );
}

async function newKeys({ account }: Job, keys: readonly Key[], store: Store): Promise<string[]> {
  const found: string[] = [];
  for (const { fingerprint, name = 'the key' } of keys) {
    if (await store.isNewKey(account.name, fingerprint)) found.push(name);
  }
  return found;
}

/** Made-up answers are never mixed with real ones: where a service says that its answers are made up, the data beside it is left out, and
 * the rows say so. */
export function leaveOutBesideSample(
  { sources: [, ...besides], sampleRows, setAside }: RunContext,
  fields: PlaceFields,
): void {
  if (besides.length === 0) return;
  // Some of the answers may be made up, and others not.
  for (const time of fields.parts[0]!.times) sampleRows.has(time);
  if (!sampleRows.any) return;
  fields.leaveOutBeside();
  for (const { job } of besides)
    for (const topic of job.topics) setAside.set(topic, 'left out beside sample data');
}

function planBeside(
  context: RunContext,
  scan: Scan,
  fields: PlaceFields,
  limited: number,
): LookUpPlan | null {
  const [, beside] = context.sources;
  if (beside === undefined || context.setAside.has(beside.job.topics[0]!)) return null;
  const part = fields.parts[1]!;
  const { missing } = findMissing(contextOf(context, beside), scan.cells, part);
  return { scan, missing, order: cellsLacking(missing, limited), fields: part };
}

/** If origins differ between places, finding them takes a pass over the cells. */
function describeOrigin(
  { job: { counts }, sources }: RunContext,
  cells: CellTable,
): OriginNotes | null {
  for (const [index, { connection, job }] of sources.entries()) {
    if (connection.kind !== 'local') continue;
    const { data } = connection;
    const originOf = placeOrigins(data, job.topics, cells);
    return index === 0
      ? localNotes(data, counts, originOf)
      : notesOf(job.topics, localNotes(data, counts, originOf, BESIDE));
  }
  return null;
}

/** Not as the notes of local answers alone: by these an output is known. */
const BESIDE = 'on this machine';

/** The notes on some of the topics. */
function notesOf(topics: readonly TopicSlug[], { noteOf, originOf }: OriginNotes): OriginNotes {
  return {
    originOf,
    noteOf(answered, origin, byCode) {
      const own = answered.filter((topic) => topics.includes(topic));
      return own.length === 0 ? '' : noteOf(own, origin, byCode);
    },
  };
}

function savingAt(
  before: ReadonlyTopicSets,
  after: ReadonlyTopicSets,
  priceList: PriceList,
): AreaSavings['savedAt'] {
  const purchaseOf = purchaseBySet(() => priceList);
  return (cell) => purchaseOf(before.get(cell)).credits - purchaseOf(after.get(cell)).credits;
}

/** Equal values stay in file order, so that two runs buy in the same order. */
function spendingComparator({ orderBy }: Job, cells: CellTable): (a: number, b: number) => number {
  if (orderBy.kind === 'file') return (a, b) => a - b;
  const sign = orderBy.kind === 'column' && orderBy.direction === 'asc' ? 1 : -1;
  return (a, b) => sign * (cells.value(a) - cells.value(b)) || a - b;
}

/** How many cells the first located rows are in; without a limit all. Cells are numbered in the order of their first rows. */
function cellsOfFirstRows({ cells, places, located }: Scan, limit: number | null): number {
  if (limit === null || limit >= located) return cells.size;
  const next = places.placesFrom(cells.size);
  let [count, left] = [0, limit];
  while (left > 0) {
    const place = next(1)[0]!;
    if (place >= cells.size) continue;
    count = Math.max(count, place + 1);
    left--;
  }
  return count;
}

/** The cells from one up to, not including, another that lack something, in file order. */
function cellsLacking(missing: ReadonlyTopicSets, to: number, from = 0): Uint32Array {
  // Not by `filter`, which makes a list of all first.
  const lacking = new Uint32Array(to - from);
  let count = 0;
  for (let cell = from; cell < to; cell++)
    if (missing.get(cell) !== NO_TOPICS) lacking[count++] = cell;
  return count === lacking.length ? lacking : lacking.slice(0, count);
}

function countSets(missing: ReadonlyTopicSets, cells = missing.size): Lacking {
  const counts = new Map<TopicSet, number>();
  for (let from = 0; from < cells; ) {
    const set = missing.get(from);
    let to = from + 1;
    while (to < cells && missing.get(to) === set) to++;
    counts.set(set, (counts.get(set) ?? 0) + to - from);
    from = to;
  }
  return counts;
}

/** For a plan without an output: no fields are kept. */
export const NO_FIELDS = (): number => 0;

interface MissingAnswers {
  readonly missing: ReadonlyTopicSets;
  /** Of these, the topics for which the service had no data when it was last asked, by the cell's number. */
  readonly hadNoData: ReadonlyMap<number, TopicSet>;
  /** The cells that lack answers and are not asked for, because the service rejected them, and their rows. */
  readonly rejected: { readonly cells: number; readonly rows: number };
  /** By the cell's number: 1 where the store has an answer, also a stale one. */
  readonly hasAnswers: Uint8Array;
}

/** What the cells lack, by what was read of them. */
function findMissing(
  { job, freshness, isContinued }: RunContext,
  cells: CellTable,
  fields: SourceFields,
): MissingAnswers {
  const missing = new TopicSets(cells.size);
  const hadNoData = new Map<number, TopicSet>();
  const rejected = { cells: 0, rows: 0 };
  const hasAnswers = new Uint8Array(cells.size);
  const ofForms = fields.forms.map((form) => {
    if (form === null)
      return { lacks: NO_TOPICS, isRejected: false, without: NO_TOPICS, isAnswered: true };
    const { record, isComplete } = form;
    const unanswered = isComplete ? NO_TOPICS : missingSet(record, job.topics, freshness);
    const isRejected =
      !isComplete && unanswered === NO_TOPICS && isWithheld(record, job.topics, freshness);
    const lacks = isContinued ? difference(unanswered, failedSet(record, freshness)) : unanswered;
    const without = isComplete ? NO_TOPICS : intersection(lacks, noDataSet(record));
    return { lacks, isRejected, without, isAnswered: isComplete || record.answers.size > 0 };
  });
  // A cell that is not in the store lacks all.
  const all = missingSet(null, job.topics, freshness);
  for (let cell = 0; cell < cells.size; cell++) {
    const form = fields.formOf(cell);
    if (form === NOTHING) {
      missing.set(cell, all);
      continue;
    }
    const { lacks, isRejected, without, isAnswered } = ofForms[form]!;
    hasAnswers[cell] = isAnswered ? 1 : 0;
    missing.set(cell, lacks);
    if (without !== NO_TOPICS) hadNoData.set(cell, without);
    if (!isRejected) continue;
    rejected.cells++;
    rejected.rows += cells.rows(cell);
  }
  return { missing, hadNoData, rejected, hasAnswers };
}
