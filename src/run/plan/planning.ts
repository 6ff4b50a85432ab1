import { steadyTime } from '../../base/clock.ts';
import type { CellRecord } from '../../contract/answer.ts';
import {
  difference,
  intersection,
  NO_TOPICS,
  type ReadonlyTopicSets,
  type TopicSet,
  TopicSets,
  topicsIn,
} from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { CompleteCell } from '../../store/answers/port.ts';
import { localNotes, type OriginNotes } from '../look-up/local-data.ts';
import { placeOrigins } from '../look-up/place-origins.ts';
import type { RunContext } from '../run-context.ts';
import type { Scan } from '../scan/scan-input.ts';
import { type AccountState, accountState, LEASE_MS, leftOfAllowance, periodLimit } from './account-state.ts';
import { type AreaPlan, readStoredAreas, spareByAreas } from './area-plan.ts';
import { type StoredAreas, verifyAreas, verifyingCells } from './area-verification.ts';
import { ASSUMED_CALL_MS, type CallPace, callPace, callTimes, EMBEDDED_CALL_MS } from './call-times.ts';
import { cheapestCalls, type PriceList } from './cheapest-calls.ts';
import { CompleteCells } from './complete-cells.ts';
import { type Allowance, forecast } from './forecast.ts';
import { failedSet, missingSet, noDataSet, wantedAnswers } from './freshness.ts';
import { priceListOf, scopeNotes } from './price-list.ts';
import { type Price, priceBundle, priceCheapest } from './prices.ts';
import { type CellNumbers, type Reach, reachedBy, reachOf } from './reach.ts';
import { type Way, weigh } from './ways.ts';

/** Cells per read. Records of 2,000 cells outlived two garbage collections, and the heap grew by 300 MB. */
const CELLS_PER_READ = 500;

/** The priced calls of a run, and its spending limits. It never changes: a run keeps its own `CellQueue`. */
export interface Plan {
  readonly scan: Scan;
  /** The notes on the origin of answers; null for a service. */
  readonly origin: OriginNotes | null;
  /** The content of calls, by the store's records of bundles and keys. */
  readonly priceList: PriceList;
  /** The complete cells that were read, for the last pass. */
  readonly complete: CompleteCells;
  /** The missing topics, by cell. */
  readonly missing: ReadonlyTopicSets;
  /** Of these, the topics for which the service had no data when it was last asked, by the cell's number. */
  readonly hadNoData: ReadonlyMap<number, TopicSet>;
  readonly cellsCached: number;
  /** The saving by areas; null if the job does not use areas. */
  readonly areas: (AreaPlan & AreaSavings) | null;
  /** The cells that lack something, in the order in which credits are spent on them. */
  readonly order: CellNumbers;
  /** How many cells beyond the job's limit of rows lack something, too. They are neither priced nor asked for. */
  readonly beyondLimit: number;
  /** The price of all cells, with the job's choice of calls. */
  readonly price: Price;
  readonly ways: Ways;
  /** What this run buys within its budget, quota and time. */
  readonly reach: Reach;
  /** The account that pays; null for local data. */
  readonly account: AccountState | null;
  /** Credits left in the account. */
  readonly available: number;
  /** Most credits that the run may spend: the budget, or the price with its retries. */
  readonly limit: number;
  /** The speed of the calls of `price` without a credit limit. */
  readonly pace: CallPace;
  /** Most credits that the minute limits and the speed of calls allow in the run's time; infinite without a time limit. */
  readonly window: number;
  readonly scopeNotes: readonly string[];
}

interface AreaSavings {
  /** Credits, once every cell has its answers. */
  readonly saved: number;
  /** The saving at one cell. */
  readonly savedAt: (cell: number) => number;
}

/** Every way to buy, side by side: as the job says, with the fewest credits, with the fewest calls, and by bundles alone. */
export type Ways = Readonly<Record<'planned' | 'cheapest' | 'fewest_calls' | 'standard' | 'enterprise', Way>>;

export interface PlanOptions {
  /** Gets each complete cell, in any order, instead of the last pass's cache. Null: the fields are not needed. */
  readonly onComplete?: ((cell: number, complete: CompleteCell) => void) | null;
  /** How many fields of each topic's answers `onComplete` gets; default: those of the output. */
  readonly fieldsOf?: (topic: TopicSlug) => number;
  /** Default: made from the scan. */
  readonly origin?: OriginNotes | null;
}

/** Prices the missing answers. Reads the store, spends nothing. */
export async function makePlan(context: RunContext, scan: Scan, options: PlanOptions): Promise<Plan> {
  const { job, connection, store, source, apiKeys, freshness } = context;
  const isLocal = connection.kind === 'local';
  const { origin = originOf(context, scan) } = options;
  const complete = new CompleteCells();
  const { onComplete = (cell, answers) => complete.put(cell, answers) } = options;
  const fieldsOf = onComplete === null ? () => 0 : options.fieldsOf;
  const unanswered = await findMissing(context, scan, onComplete, fieldsOf);
  const priceList = priceListOf(job, await store.bundleContents(source), apiKeys);
  const assumedMs = connection.kind === 'service' && connection.sample ? EMBEDDED_CALL_MS : ASSUMED_CALL_MS;
  const times = callTimes(isLocal ? [] : await store.callTimes(source, LEASE_MS), assumedMs);
  const limited = cellsOfFirstRows(scan, job.limit);
  const lackingOrder = spendingOrder(job, scan, unanswered.missing).filter((cell) => cell < limited);
  const stored = job.areas === null || isLocal ? null : await readStoredAreas(scan.areas, store, source);
  const spared =
    stored &&
    spareByAreas({
      ...{ job, scan, stored, freshness, order: lackingOrder, missing: unanswered.missing },
      ...(await verificationNow(context, scan, stored)),
    });
  const missing = spared?.missing ?? unanswered.missing;
  const isWhole = limited === scan.cells.size;
  const allLacking = spared === null && isWhole ? unanswered.lacking : countSets(missing, limited);
  const lacking: ReadonlyMap<TopicSet, number> = isLocal ? new Map() : allLacking;
  const account = isLocal ? null : await accountState(job.account, store, freshness.startedAt);
  const available = account?.available ?? 0;
  const price = priceCheapest(lacking, priceList);
  const paceOf = ({ calls, credits }: Price) => callPace(calls, credits, times, job.concurrency);
  const pace = paceOf(price);
  const limit = isLocal ? 0 : (job.budget ?? price.credits + price.retryCredits);
  const order = lackingOrder.filter((cell) => missing.get(cell) !== NO_TOPICS);
  const window = windowCredits(context, pace);
  const purchase = { job, cells: scan.cells, order, missing, priceList, msPerCredit: pace.msPerCredit };
  const reach = isLocal
    ? reachedBy(purchase, { isBought: new Uint8Array(scan.cells.size).fill(1), credits: 0 })
    : reachOf(purchase, Math.min(limit, available, window));
  const limits = {
    available,
    withinAllowance: account === null ? 0 : leftOfAllowance(account),
    overageRate: job.account.subscription.overageRate,
  };
  const allowance = allowanceOf(job, available);
  const weighed = (priced: Price) =>
    weigh(priced, limits, forecast(priced.credits, allowance, freshness.startedAt, paceOf(priced).msPerCredit));
  const prices = new Map<TopicSet, number>();
  const priceOf = (topics: TopicSet) => {
    const credits = prices.get(topics) ?? cheapestCalls(topicsIn(topics), priceList).credits;
    prices.set(topics, credits);
    return credits;
  };
  return {
    scan,
    origin,
    priceList,
    complete,
    missing,
    hadNoData: unanswered.hadNoData,
    cellsCached: unanswered.lacking.get(NO_TOPICS) ?? 0,
    areas: spared && {
      ...spared.plan,
      saved: priceCheapest(unanswered.lacking, priceList).credits - price.credits,
      savedAt: (cell) => priceOf(unanswered.missing.get(cell)) - priceOf(missing.get(cell)),
    },
    order,
    beyondLimit: lackingFrom(missing, limited),
    price,
    ways: {
      planned: weighed(price),
      cheapest: weighed(priceCheapest(lacking, { ...priceList, optimize: 'credits' })),
      fewest_calls: weighed(priceCheapest(lacking, { ...priceList, optimize: 'calls' })),
      standard: weighed(priceBundle('standard', lacking)),
      enterprise: weighed(priceBundle('enterprise', lacking)),
    },
    reach,
    account,
    available,
    limit,
    pace,
    window,
    scopeNotes: scopeNotes(job, priceList, price),
  };
}

/** If origins differ between places, finding them takes a pass over the cells. */
function originOf({ job, connection }: RunContext, { cells }: Scan): OriginNotes | null {
  if (connection.kind !== 'local') return null;
  return localNotes(connection.data, job.counts, placeOrigins(connection.data, job.topics, cells));
}

function allowanceOf({ account }: Job, available: number): Allowance {
  const { subscription, anniversaryDay } = account;
  return {
    available,
    perPeriod: periodLimit(account),
    creditsPerMinute: subscription.creditsPerMinute,
    anniversaryDay,
  };
}

/** Most credits in the remaining time: the first minute's credits, which may be spent at once, plus those of each later minute; or
 * fewer if the calls are slower. */
function windowCredits({ job, deadline, effects }: RunContext, { msPerCredit }: CallPace): number {
  if (deadline === null) return Number.POSITIVE_INFINITY;
  const leftMs = deadline - steadyTime(effects.clock);
  if (leftMs <= 0) return 0;
  const byCalls = msPerCredit === 0 ? Number.POSITIVE_INFINITY : Math.floor(leftMs / msPerCredit);
  const { creditsPerMinute } = job.account.subscription;
  return Math.min(creditsPerMinute * (Math.floor(leftMs / 60_000) + 1), byCalls);
}

/** Chooses the verifying cells, and compares what the store has of them. */
async function verificationNow(context: RunContext, scan: Scan, stored: StoredAreas) {
  const verifying = verifyingCells(context.job, scan, spendingComparator(context.job, scan));
  return { verifying, verification: await verifyAreas({ ...context, scan }, verifying, stored) };
}

/** Cells that lack something: the most valuable first, or in the order of the file. */
function spendingOrder(job: Job, scan: Scan, missing: ReadonlyTopicSets): Uint32Array {
  const all = new Uint32Array(scan.cells.size).map((_, cell) => cell);
  const order = all.filter((cell) => missing.get(cell) !== NO_TOPICS);
  return job.orderBy.kind === 'file' ? order : order.sort(spendingComparator(job, scan));
}

/** Equal values stay in file order, so that two runs buy in the same order. */
function spendingComparator({ orderBy }: Job, { cells }: Scan): (a: number, b: number) => number {
  if (orderBy.kind === 'file') return (a, b) => a - b;
  const sign = orderBy.kind === 'column' && orderBy.direction === 'asc' ? 1 : -1;
  return (a, b) => sign * (cells.value(a) - cells.value(b)) || a - b;
}

/** How many cells the first located rows are in; without a limit all. Cells are numbered in the order of their first rows. */
function cellsOfFirstRows({ cells, places, located }: Scan, limit: number | null): number {
  if (limit === null || limit >= located) return cells.size;
  const next = places.placesFrom(cells.size);
  let [count, left] = [0, limit];
  for (let row = 0; row < places.rows && left > 0; row++) {
    const place = next(1)[0]!;
    if (place >= cells.size) continue;
    count = Math.max(count, place + 1);
    left--;
  }
  return count;
}

function lackingFrom(missing: ReadonlyTopicSets, first: number): number {
  let count = 0;
  for (let cell = first; cell < missing.size; cell++) if (missing.get(cell) !== NO_TOPICS) count++;
  return count;
}

function countSets(missing: ReadonlyTopicSets, cells = missing.size): Map<TopicSet, number> {
  const counts = new Map<TopicSet, number>();
  for (let cell = 0; cell < cells; cell++) {
    counts.set(missing.get(cell), (counts.get(missing.get(cell)) ?? 0) + 1);
  }
  return counts;
}

/** A store with at most this many times the cells of the input is read whole. */
const MOST_UNASKED = 2;

async function findMissing(
  { job, store, source, freshness, isContinued }: RunContext,
  { cells }: Scan,
  onComplete: NonNullable<PlanOptions['onComplete']> | null,
  fieldsOf: PlanOptions['fieldsOf'],
) {
  const missing = new TopicSets(cells.size);
  const hadNoData = new Map<number, TopicSet>();
  const wanted = wantedAnswers(job, freshness).map((answer) => ({
    ...answer,
    fields: fieldsOf?.(answer.topic) ?? answer.fields,
  }));
  const complete = (cell: number, completeCell: CompleteCell) => {
    missing.set(cell, NO_TOPICS);
    onComplete?.(cell, completeCell);
  };
  const incomplete = (cell: number, record: CellRecord) => {
    const unanswered = missingSet(record, job.topics, freshness);
    const lacks = isContinued ? difference(unanswered, failedSet(record, freshness)) : unanswered;
    missing.set(cell, lacks);
    const without = intersection(lacks, noDataSet(record));
    if (without !== NO_TOPICS) hadNoData.set(cell, without);
  };
  // The missing topics of a cell that is not in the store.
  const all = missingSet(null, job.topics, freshness);
  for (let cell = 0; cell < cells.size; cell++) missing.set(cell, all);
  const put = (cell: number, record: CompleteCell | CellRecord) => {
    if ('fields' in record) complete(cell, record);
    else incomplete(cell, record);
  };
  const whole = await store.readAllWanted(source, wanted, (cell) => cells.numberOf(cell), MOST_UNASKED * cells.size);
  if (whole !== null) {
    for await (const page of whole) for (const { number, record } of page) put(number, record);
    return { missing, hadNoData, lacking: countSets(missing) };
  }
  for (let from = 0; from < cells.size; from += CELLS_PER_READ) {
    const records = await store.readWanted(source, cells.cells(from, from + CELLS_PER_READ), wanted);
    for (const [index, record] of records.entries()) if (record !== null) put(from + index, record);
  }
  return { missing, hadNoData, lacking: countSets(missing) };
}
