import { wantedColumns } from '../../columns/row.ts';
import { inBoth, type TopicSet, topicSet } from '../../contract/topic-set.ts';
import { NATURAL_SLUGS, type TopicSlug } from '../../contract/topics.ts';
import { type Allocation, allocate } from '../../plan/allocation.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import { forecastPool, type PoolAccount, spread } from '../../plan/pool.ts';
import { type Price, priceBundle, priceCheapest, purchaseBySet } from '../../plan/prices.ts';
import { type Way, weigh } from '../../plan/ways.ts';
import type { CompleteCell, Store } from '../../store/port.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { Scan } from '../scan/scan-input.ts';
import type { Job } from '../settings/settings.ts';
import type { Tier } from '../settings/topic-choice.ts';
import { type AccountState, accountState, leftOfAllowance, periodLimit } from './account-state.ts';
import { type AreaPlan, readKnownAreas, spareByAreas } from './area-plan.ts';
import type { Freshness } from './freshness.ts';
import { missingSet, noDataSet } from './freshness.ts';
import type { Keyring } from './keyring.ts';

/** Few enough that records die young: at 2,000 they outlived two small collections, and the heap grew by 300 MB. */
const CELLS_PER_READ = 250;

/** The priced list of calls that a run would make, and what it may spend. */
export interface Plan {
  readonly scan: Scan;
  /** The topics of the richest tier that each cell lacks, by the cell's number; 0 for none. */
  readonly missing: Float64Array;
  /** Of these, the topics on which the service had nothing when it was last asked, by the cell's number. */
  readonly hadNoData: ReadonlyMap<number, TopicSet>;
  readonly cellsCached: number;
  /** What buying by areas spares; null where the job does not ask for it. */
  readonly areas: (AreaPlan & { readonly saved: number }) | null;
  /** The cells' numbers in the order in which money is spent on them; those that lack nothing are left out. */
  order: Uint32Array;
  /** What all cells in the richest tier cost, bought as the job says. */
  readonly price: Price;
  readonly ways: Ways;
  /** What the credits at hand buy. */
  readonly shares: readonly TierShare[];
  /** The accounts that pay, and what each is planned to pay in this period. */
  readonly accounts: readonly AccountState[];
  readonly byAccount: readonly number[];
  /** Credits left in all accounts together. */
  readonly available: number;
  /** Most credits that the run may spend: the budget, else the plan with the retries that it states. */
  limit: number;
  /** Most credits that the minute limits let through in the run's time; infinite where it has no end. */
  readonly window: number;
  readonly scopeNotes: readonly string[];
}

/** Every way to buy, side by side: as the job says, with the fewest credits, with the fewest calls, and by bundles alone. */
export interface Ways {
  readonly planned: Way;
  readonly cheapest: Way;
  readonly fewest_calls: Way;
  readonly standard: Way;
  readonly enterprise: Way;
}

/** How many cells, and how much of the value, have or will have a tier when this run is done. */
interface TierShare {
  readonly tier: Tier;
  readonly cells: number;
  readonly value: number;
}

/** Prices what the store lacks. Reads the store, spends nothing; `onComplete` gets each cell that lacks nothing, with
 * its answers' fields. */
export async function makePlan(
  job: Job,
  scan: Scan,
  store: Store,
  source: number,
  priceList: PriceList,
  keyring: Keyring,
  freshness: Freshness,
  onComplete: (cell: number, found: CompleteCell) => void = () => {},
): Promise<Plan> {
  const found = await findMissing(job, scan, store, source, freshness, onComplete);
  const { missing, hadNoData, lacking: withoutAreas } = found;
  const lackingOrder = spendingOrder(job, scan, missing);
  const areas = job.areas === null ? null : await spare(job, scan, store, source, lackingOrder, missing, freshness);
  const lacking = areas === null ? withoutAreas : countSets(missing);
  const accounts = await Promise.all(job.accounts.map((one) => accountState(one, store, freshness.startedAt)));
  const available = accounts.reduce((sum, account) => sum + account.available, 0);
  const price = priceCheapest(lacking, priceList);
  const limit = job.budget ?? price.credits + price.retryCredits;
  const order = lackingOrder.filter((cell) => missing[cell]! > 0);
  const window = windowCredits(job);
  const atHand = Math.min(limit, available, window);
  const { tiers } = allocateTiers(job, scan.cells, order, missing, priceList, atHand);
  const pool = poolOf(job, accounts, keyring);
  const inAll = accounts.map((account) => account.available);
  const withinAllowances = accounts.map(leftOfAllowance);
  const overageRate = accounts.find(({ account }) => account.overageCredits > 0)?.account.subscription.overageRate;
  const weighed = (one: Price) => {
    const terms = {
      available: spread(one.demand, pool, inAll).served,
      // What is billed beyond one account's allowance comes last: another may have it within its own.
      withinAllowance: spread(one.demand, pool, withinAllowances).served,
      overageRate: overageRate ?? null,
    };
    return weigh(one, terms, forecastPool(one.demand, pool, freshness.startedAt));
  };
  const paidWithin = spread(price.demand, pool, withinAllowances);
  const paid = paidWithin.served === price.credits ? paidWithin : spread(price.demand, pool, inAll);
  return {
    scan,
    missing,
    hadNoData,
    cellsCached: withoutAreas.get(0) ?? 0,
    areas: areas === null ? null : { ...areas, saved: priceCheapest(withoutAreas, priceList).credits - price.credits },
    order,
    price,
    ways: {
      planned: weighed(price),
      cheapest: weighed(priceCheapest(lacking, { ...priceList, optimize: 'credits' })),
      fewest_calls: weighed(priceCheapest(lacking, { ...priceList, optimize: 'calls' })),
      standard: weighed(priceBundle('standard', lacking)),
      enterprise: weighed(priceBundle('enterprise', lacking)),
    },
    shares: sharesOf(job, scan, missing, tiers),
    accounts,
    available,
    byAccount: paid.byAccount,
    limit,
    window,
    scopeNotes: scopeNotes(job, priceList, price),
  };
}

function poolOf(job: Job, accounts: readonly AccountState[], keyring: Keyring): PoolAccount[] {
  return accounts.map(({ account, available }) => ({
    available,
    perPeriod: Math.max(0, periodLimit(account) - account.spentElsewhere),
    creditsPerMinute: account.subscription.creditsPerMinute,
    anniversaryDay: account.anniversaryDay,
    may: (scope) => keyring.mayBuy(account.name, job.account.name, scope),
  }));
}

/** A first minute's credits at once, and those of each minute that follows. */
function windowCredits({ maxMinutes, accounts }: Job): number {
  if (maxMinutes === null) return Number.POSITIVE_INFINITY;
  const perMinute = accounts.reduce((sum, { subscription }) => sum + subscription.creditsPerMinute, 0);
  return perMinute * (Math.floor(maxMinutes) + 1);
}

/** Which tier each cell gets for the credits at hand. */
export function allocateTiers(
  job: Job,
  cells: CellTable,
  order: Uint32Array,
  missing: Float64Array,
  priceList: PriceList,
  available: number,
): Allocation {
  const masks = job.tiers.map((tier) => topicSet(tier.topics));
  const priceOf = purchaseBySet(() => priceList);
  const price = (cell: number, tier: number) => priceOf(inBoth(missing[cell]!, masks[tier - 1]!)).credits;
  return allocate(order, cells.size, masks.length, price, available);
}

/** Cells that lack something: the most valuable first, or as the file has them. */
function spendingOrder(job: Job, { cells }: Scan, missing: Float64Array): Uint32Array {
  const order = Uint32Array.from(missing.keys()).filter((cell) => missing[cell]! > 0);
  if (job.orderBy.kind === 'file') return order;
  const sign = job.orderBy.kind === 'column' && job.orderBy.direction === 'asc' ? 1 : -1;
  // Equal values in the order of the file, so that two runs spend alike.
  return order.sort((a, b) => sign * (cells.value(a) - cells.value(b)) || a - b);
}

function sharesOf(job: Job, { cells }: Scan, missing: Float64Array, tiers: Uint8Array): TierShare[] {
  const masks = job.tiers.map((tier) => topicSet(tier.topics));
  const shares = job.tiers.map((tier) => ({ tier, cells: 0, value: 0 }));
  for (let cell = 0; cell < cells.size; cell++) {
    // A cell that was bought earlier may have more than this run gives it.
    let has = tiers[cell]!;
    while (has < masks.length && inBoth(missing[cell]!, masks[has]!) === 0) has++;
    if (has === 0) continue;
    shares[has - 1]!.cells++;
    shares[has - 1]!.value += cells.value(cell);
  }
  return shares;
}

async function spare(
  job: Job,
  scan: Scan,
  store: Store,
  source: number,
  order: Uint32Array,
  missing: Float64Array,
  freshness: Freshness,
): Promise<AreaPlan> {
  const known = await readKnownAreas(scan.areas, store, source);
  return spareByAreas(job, scan, known, order, missing, freshness);
}

function countSets(missing: Float64Array): Map<TopicSet, number> {
  const sets = new Map<TopicSet, number>();
  for (const set of missing) sets.set(set, (sets.get(set) ?? 0) + 1);
  return sets;
}

async function findMissing(
  job: Job,
  { cells }: Scan,
  store: Store,
  source: number,
  freshness: Freshness,
  onComplete: (cell: number, found: CompleteCell) => void,
) {
  const missing = new Float64Array(cells.size);
  const lacking = new Map<TopicSet, number>();
  const hadNoData = new Map<number, TopicSet>();
  const nothing = topicSet([]);
  const wanted = job.topics.map((topic) => ({
    topic,
    freshSince: freshness.freshSince(topic),
    fields: wantedColumns(topic, job.counts).length,
  }));
  for (let from = 0; from < cells.size; from += CELLS_PER_READ) {
    const records = await store.readWanted(source, cells.cells(from, from + CELLS_PER_READ), wanted);
    for (const [index, record] of records.entries()) {
      const isComplete = record !== null && 'fields' in record;
      const set = isComplete ? nothing : missingSet(record, job.topics, freshness);
      missing[from + index] = set;
      const had = isComplete || record === null ? 0 : inBoth(set, noDataSet(record));
      if (had > 0) hadNoData.set(from + index, had);
      lacking.set(set, (lacking.get(set) ?? 0) + 1);
      if (isComplete) onComplete(from + index, record);
    }
  }
  return { missing, hadNoData, lacking };
}

/** Which endpoints the keys may not call, and what that means for the plan. */
function scopeNotes(job: Job, priceList: PriceList, price: Price): string[] {
  const notes: string[] = [];
  const noSingle = job.topics.filter((topic) => !priceList.singles(topic));
  const natural = new Set<TopicSlug>(NATURAL_SLUGS);
  if (!priceList.bundles) {
    notes.push('No key carries the scope bundle: every topic is bought as a single call.');
  }
  if (noSingle.length > 0 && priceList.bundles) {
    const bundle = noSingle.every((topic) => natural.has(topic) && priceList.standard.has(topic)) ? 'standard' : 'a';
    notes.push(
      `No key carries the scope of ${listed(noSingle)}: bought in ${bundle} bundle${bundle === 'a' ? '' : 's'}.`,
    );
  }
  if (price.unobtainable.size > 0) {
    notes.push(`No key may buy ${listed([...price.unobtainable.keys()])}, alone or in a bundle.`);
  }
  return notes;
}

function listed(topics: readonly TopicSlug[]): string {
  return topics.length <= 4
    ? topics.join(', ')
    : `${topics.slice(0, 3).join(', ')} and ${topics.length - 3} more topics`;
}
