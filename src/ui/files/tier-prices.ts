import { intersection, topicSet } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { shareOf } from '../../format-numbers.ts';
import { purchaseBySet } from '../../plan/prices.ts';
import type { TierShare } from '../../run/plan/reach.ts';
import type { Prepared } from '../../run/prepare.ts';

/** A tier of a job, in the order in which tiers are bought. */
export interface PricedTier {
  /** The topics that it adds to the tiers before it. */
  readonly topics: readonly TopicSlug[];
  /** What it adds to the price, for all places. */
  readonly credits: number;
  /** The share of the places that have it or will have it in this period. */
  readonly share_of_cells: number;
}

/** What each tier costs; none where topics are bought together or cost nothing. */
export function pricedTiers({ job, connection, plan, priceList }: Prepared): PricedTier[] {
  if (job.tiers.length < 2 || connection.kind === 'local') return [];
  const purchaseOf = purchaseBySet(() => priceList);
  const upTo = job.tiers.map(({ topics }) => {
    const wanted = topicSet(topics);
    let credits = 0;
    for (const cell of plan.order) credits += purchaseOf(intersection(plan.missing.get(cell), wanted)).credits;
    return credits;
  });
  const reached = sharesOfTiers(plan.shares, plan.scan.cells.size);
  return job.tiers.map(({ topics }, index) => {
    const before = job.tiers[index - 1]?.topics ?? [];
    return {
      topics: topics.filter((slug) => !before.includes(slug)),
      credits: upTo[index]! - (upTo[index - 1] ?? 0),
      share_of_cells: reached[index]!,
    };
  });
}

/** The share of all places that have at least each tier. A place counts once in `shares`, for the richest tier that it has. */
export function sharesOfTiers(shares: readonly TierShare[], cells: number): number[] {
  return shares.map((_, index) => {
    const having = shares.slice(index).reduce((sum, share) => sum + share.cells, 0);
    return shareOf(having, cells) ?? 0;
  });
}
