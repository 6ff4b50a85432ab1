import { memo } from '../../base/memo.ts';
import type { CallKind, Prices } from '../../contract/credits.ts';
import { NO_TOPICS, type TopicSet, topicsIn } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { cheapestCalls, mostRetries, type PriceList, type Purchase } from './cheapest-calls.ts';

/** How many cells lack each set of topics: all that a price depends on. */
export type Lacking = ReadonlyMap<TopicSet, number>;

export interface Price {
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly credits: number;
  /** Most credits that retries of topics reported unavailable may add. */
  readonly retryCredits: number;
  /** Topics that no key may buy, with the number of cells that lack them. */
  readonly unobtainable: ReadonlyMap<TopicSlug, number>;
}

/** Prices the cheapest calls for each set of missing topics, times the cells that lack it. */
export function priceCheapest(lacking: Lacking, priceList: PriceList): Price {
  const calls = { single: 0, standard: 0, enterprise: 0 };
  const unobtainable = new Map<TopicSlug, number>();
  let credits = 0;
  let retryCredits = 0;
  for (const [set, cells] of lacking) {
    const missing = topicsIn(set);
    const purchase = cheapestCalls(missing, priceList);
    for (const call of purchase.calls) calls[call.kind] += cells;
    credits += purchase.credits * cells;
    retryCredits += mostRetries(missing, purchase, priceList) * cells;
    for (const topic of purchase.unobtainable) unobtainable.set(topic, (unobtainable.get(topic) ?? 0) + cells);
  }
  return { calls, credits, retryCredits, unobtainable };
}

/** Prices one bundle for every cell that lacks anything, for comparison. */
export function priceBundle(kind: 'standard' | 'enterprise', lacking: Lacking, prices: Prices): Price {
  const cells = [...lacking].reduce((sum, [set, count]) => sum + (set === NO_TOPICS ? 0 : count), 0);
  return {
    calls: { single: 0, standard: 0, enterprise: 0, [kind]: cells },
    credits: cells * prices[kind],
    retryCredits: 0,
    unobtainable: new Map(),
  };
}

/** Remembers purchases by their set of missing topics: millions of cells share a handful of such sets. */
export function purchaseBySet(priceList: () => PriceList): (missing: TopicSet) => Purchase {
  const purchaseAt = memo((prices: PriceList) => memo((missing: TopicSet) => cheapestCalls(topicsIn(missing), prices)));
  return (missing) => purchaseAt(priceList())(missing);
}
