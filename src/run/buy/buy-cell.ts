import type { BundleKind, Call } from '../../contract/credits.ts';
import {
  difference,
  hasTopic,
  intersection,
  type TopicSet,
  topicSet,
  topicsIn,
  union,
} from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { isTopicDown } from '../../fetch/breaker.ts';
import { RETRY_POLICY, TOPIC_RETRY_POLICY } from '../../fetch/retry.ts';
import { cheapestCalls, priceListWithout } from '../../plan/cheapest-calls.ts';
import { answeredMeanwhile, areasToClaim } from '../plan/area-plan.ts';
import { missingTopics } from '../plan/freshness.ts';
import { buyCall, type CallEnd } from './buy-call.ts';
import type { Buying } from './buying.ts';
import type { CellWork } from './cell-queue.ts';

/**
 * - `done`: nothing is left that could be bought. `claimed_elsewhere`: another run is at work here.
 * - `unaffordable`: the credits do not suffice. `stopped`: the run ends.
 */
export type CellEnd = 'done' | 'claimed_elsewhere' | 'unaffordable' | 'stopped';

const BUNDLES: readonly BundleKind[] = ['standard', 'enterprise'];

/**
 * Buys what one cell lacks, call by call. After every call the rest is priced again: a bundle may have returned more than was
 * known, another run may have answered, a key may have lost a scope.
 *
 * A topic that a bundle reports as unavailable is bought once more, as a single; never by another bundle. A bundle that was
 * answered here is not bought here again, for any topic; after one that was given up, which may have been charged, neither bundle
 * is.
 *
 * @returns how it ended, and the credits that it may have cost
 */
export async function buyCell(
  buying: Buying,
  work: CellWork,
): Promise<{ readonly end: CellEnd; readonly credits: number }> {
  const { freshness, plan } = buying.context;
  let credits = 0;
  for (;;) {
    if (buying.stopped) return { end: 'stopped', credits };
    const next = nextCall(buying, work);
    if (next === null) return { end: 'done', credits };
    const { call, topics } = next;
    const wanted = topics.map((topic) => ({ topic, freshSince: freshness.freshSince(topic) }));
    const areas = areasToClaim(plan.scan.areas, work.number, work.forAreas, wanted);
    const isTopicRetry = call.kind === 'single' && hasTopic(work.singlesOnly, call.topic);
    const policy = isTopicRetry ? TOPIC_RETRY_POLICY : RETRY_POLICY;
    const result = await buyCall(buying, { work, call, wanted, areas, policy });
    credits += result.credits;
    const end = await afterCall(buying, work, call, topics, result.end);
    if (end !== null) return { end, credits };
  }
}

/** Brings the record of the work up to date; returns how the cell ended, null while there is more to buy. */
async function afterCall(
  buying: Buying,
  work: CellWork,
  call: Call,
  topics: readonly TopicSlug[],
  end: CallEnd,
): Promise<CellEnd | null> {
  switch (end.kind) {
    case 'answered': {
      if (call.kind !== 'single') work.spentBundles.add(call.kind);
      const isLast = call.kind === 'single';
      const unavailable = [...end.results].filter(([, one]) => !isLast && !one.ok && one.reason !== 'no_data');
      const again = topicSet(unavailable.map(([topic]) => topic));
      work.singlesOnly = union(work.singlesOnly, again);
      work.missing = difference(work.missing, difference(topicSet(end.results.keys()), again));
      return null;
    }
    case 'given_up':
      if (call.kind !== 'single') for (const kind of BUNDLES) work.spentBundles.add(kind);
      work.missing = difference(work.missing, topicSet(topics));
      return null;
    case 'replan':
      work.missing = difference(work.missing, await answeredElsewhere(buying, work));
      return null;
    case 'rejected':
      return 'done';
    case 'claimed_elsewhere':
      return 'claimed_elsewhere';
    case 'stopped':
      return buying.stopped ? 'stopped' : 'unaffordable';
  }
}

/** The missing topics of a cell that the store has by now, for the cell itself or for its areas. */
async function answeredElsewhere(
  { context }: Buying,
  { number, cell, missing, forAreas }: CellWork,
): Promise<TopicSet> {
  const { store, limits, freshness, plan } = context;
  const [record] = await store.read(limits.source, [cell]);
  const served = await answeredMeanwhile(plan.scan.areas, number, forAreas, { ...limits, store, freshness });
  const known = topicsIn(missing).filter((topic) => missingTopics(record ?? null, [topic], freshness).length === 0);
  return union(topicSet(known), intersection(missing, served));
}

/** The next call to make, and the topics that it is made for; null when there is none. */
function nextCall(
  buying: Buying,
  work: CellWork,
): { readonly call: Call; readonly topics: readonly TopicSlug[] } | null {
  const priceList = priceListWithout(buying.priceList, work.spentBundles);
  const possible = topicsIn(work.missing).filter((topic) => !isTopicDown(buying.breaker, topic));
  const planned = possible.filter((topic) => !hasTopic(work.singlesOnly, topic));
  const [first] = cheapestCalls(planned, priceList).calls;
  if (first !== undefined) {
    const returns = (topic: TopicSlug) =>
      first.kind === 'single' ? first.topic === topic : priceList[first.kind].has(topic);
    return { call: first, topics: planned.filter(returns) };
  }
  const single = possible.find((topic) => hasTopic(work.singlesOnly, topic) && priceList.singles(topic));
  return single === undefined ? null : { call: { kind: 'single', topic: single }, topics: [single] };
}
