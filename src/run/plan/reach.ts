import { intersection, NO_TOPICS, type ReadonlyTopicSets, topicSet } from '../../contract/topic-set.ts';
import { type Allocation, allocate } from '../../plan/allocation.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import { minutesFor } from '../../plan/forecast.ts';
import { purchaseBySet } from '../../plan/prices.ts';
import type { CellTable } from '../scan/cell-table.ts';
import type { Job } from '../settings/settings.ts';
import type { Tier } from '../settings/topic-choice.ts';

/** Numbers of cells, in some order. */
export type CellNumbers = ArrayLike<number> & Iterable<number>;

export interface TierRequest {
  readonly job: Pick<Job, 'tiers' | 'account'>;
  readonly cells: CellTable;
  readonly order: CellNumbers;
  readonly missing: ReadonlyTopicSets;
  readonly priceList: PriceList;
  /** Milliseconds that the calls take for a credit (`minutesFor`). */
  readonly msPerCredit: number;
}

/** The places that a number of credits buys. */
export interface Reach {
  readonly credits: number;
  /** Cells that get something. */
  readonly cells: number;
  /** The value of these cells, in units (`CellTable`); 0 in the order of the file. */
  readonly value: number;
  /** Minutes of buying. */
  readonly minutes: number;
  readonly shares: readonly TierShare[];
}

/** The number and the value (in units) of the cells that have or will have a tier. */
export interface TierShare {
  readonly tier: Tier;
  readonly cells: number;
  readonly value: number;
}

/** Which tier each cell gets for so many credits. */
export function allocateTiers(
  { job, cells, order, missing, priceList }: Omit<TierRequest, 'msPerCredit'>,
  credits: number,
): Allocation {
  const tiers = job.tiers.map((tier) => topicSet(tier.topics));
  const purchaseOf = purchaseBySet(() => priceList);
  const price = (cell: number, tier: number) => purchaseOf(intersection(missing.get(cell), tiers[tier - 1]!)).credits;
  return allocate(order, cells.size, tiers.length, price, credits);
}

/** The reach of a number of credits. */
export function reachOf(request: TierRequest, credits: number): Reach {
  return reachedBy(request, allocateTiers(request, credits));
}

/** The reach of an allocation. */
export function reachedBy(request: TierRequest, { tiers, credits }: Allocation): Reach {
  let bought = 0;
  let value = 0;
  for (const cell of request.order) {
    if (tiers[cell] === 0) continue;
    bought++;
    value += request.cells.value(cell);
  }
  const { creditsPerMinute } = request.job.account.subscription;
  const minutes = minutesFor(credits, creditsPerMinute, request.msPerCredit);
  return { credits, cells: bought, value, minutes, shares: sharesOf(request, tiers) };
}

function sharesOf({ job, cells, missing }: TierRequest, allocated: Uint8Array): TierShare[] {
  const tiers = job.tiers.map((tier) => topicSet(tier.topics));
  const shares = job.tiers.map((tier) => ({ tier, cells: 0, value: 0 }));
  for (let cell = 0; cell < cells.size; cell++) {
    // A cell may already have a larger tier than this run buys.
    let has = allocated[cell]!;
    while (has < tiers.length && intersection(missing.get(cell), tiers[has]!) === NO_TOPICS) has++;
    if (has === 0) continue;
    shares[has - 1]!.cells++;
    shares[has - 1]!.value += cells.value(cell);
  }
  return shares;
}
