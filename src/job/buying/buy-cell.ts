import type { Call } from '../../contract/credits.ts';
import { inBoth, topicSet, topicsIn } from '../../contract/topic-set.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import { isTopicDown } from '../../fetch/breaker.ts';
import { RETRY_POLICY, SECOND_LOOK_POLICY } from '../../fetch/retry.ts';
import type { Cell } from '../../geo/coordinates.ts';
import { cheapestCalls, priceListWithout } from '../../plan/cheapest-calls.ts';
import { answeredMeanwhile, areasToClaim } from '../planning/area-plan.ts';
import { missingTopics } from '../planning/freshness.ts';
import { buyCall } from './buy-call.ts';
import type { Buying } from './buying.ts';

/** `done`: nothing is left that could be bought. `claimed`: another run is at work here. `short`: money does not reach. */
export type CellEnd = 'done' | 'claimed' | 'short' | 'stopped';

/**
 * Buys what one cell lacks, call by call. After every call the rest is priced again: a bundle may have brought more than
 * was known, another run may have answered, a key may have lost a scope.
 *
 * A topic that a bundle reports as unavailable is asked for once more, as a single; never by another bundle. A bundle that
 * was answered here is not bought here again, for whatever topic; after one that was given up, which may well have been paid,
 * no other is.
 */
export async function buyCell(
  buying: Buying,
  cell: Cell,
  lacking: readonly TopicSlug[],
): Promise<{ end: CellEnd; spent: number }> {
  const spending = { credits: 0 };
  const end = await buyCalls(buying, cell, lacking, spending);
  return { end, spent: spending.credits };
}

async function buyCalls(
  buying: Buying,
  cell: Cell,
  lacking: readonly TopicSlug[],
  spending: { credits: number },
): Promise<CellEnd> {
  const { freshness, store, source, places, represents, hadNoData } = buying.parts;
  const number = places.cells.numberOf(cell);
  const represented = represents.get(number) ?? 0;
  // A bundle is not bought for what will probably not be in it; a single that brings nothing is free.
  const alone = topicsIn(hadNoData.get(number) ?? 0).filter((topic) => buying.priceList.singles(topic));
  const known = buying.unfinished.get(number) ?? { closed: new Set(), secondLook: new Set(alone), had: new Set() };
  buying.unfinished.set(number, known);
  const { closed, secondLook, had } = known;
  const close = (topics: Iterable<TopicSlug>) => {
    for (const topic of topics) closed.add(topic);
  };
  const done = (): CellEnd => {
    buying.unfinished.delete(number);
    return 'done';
  };
  for (;;) {
    if (buying.stopped) return 'stopped';
    const missing = lacking.filter((topic) => !closed.has(topic));
    const next = nextCall(buying, missing, secondLook, had);
    if (next === null) return done();
    const { call, topics } = next;
    const wanted = topics.map((topic) => ({ topic, freshSince: freshness.freshSince(topic) }));
    const isSecondLook = call.kind === 'single' && secondLook.has(call.topic);
    const policy = isSecondLook ? SECOND_LOOK_POLICY : RETRY_POLICY;
    const areas = represented === 0 ? [] : areasToClaim(places.areas, number, represented, wanted);
    const result = await buyCall(buying, { cell, call, wanted, areas, policy }, spending);
    if (call.kind !== 'single' && result.end === 'answered') had.add(call.kind);
    if (call.kind !== 'single' && result.end === 'failed') for (const kind of BUNDLES) had.add(kind);
    switch (result.end) {
      case 'answered':
        for (const [topic, reading] of result.results) {
          if (reading.ok || reading.reason === 'no_data' || call.kind === 'single') close([topic]);
          else secondLook.add(topic);
        }
        break;
      case 'failed':
        close(topics);
        break;
      case 'changed': {
        const [record] = await store.read(source, [cell]);
        const served = await answeredMeanwhile(places.areas, number, represented, store, source, freshness);
        close(
          missing.filter(
            (topic) =>
              missingTopics(record ?? null, [topic], freshness).length === 0 || inBoth(served, topicSet([topic])) > 0,
          ),
        );
        break;
      }
      case 'rejected':
        return done();
      case 'claimed':
        return 'claimed';
      default:
        return buying.stopped ? 'stopped' : 'short';
    }
  }
}

type BundleKind = Exclude<Call['kind'], 'single'>;
const BUNDLES: readonly BundleKind[] = ['standard', 'enterprise'];

/** The next call to make, and the topics it is made for; null when none can be made. */
function nextCall(
  buying: Buying,
  missing: readonly TopicSlug[],
  secondLook: ReadonlySet<TopicSlug>,
  had: ReadonlySet<BundleKind>,
): { call: Call; topics: TopicSlug[] } | null {
  const priceList = priceListWithout(buying.priceList, had);
  const planned = missing.filter((topic) => !secondLook.has(topic) && !isTopicDown(buying.breaker, topic));
  const [first] = cheapestCalls(planned, priceList).calls;
  if (first !== undefined) {
    const brings = (topic: TopicSlug) =>
      first.kind === 'single' ? first.topic === topic : priceList[first.kind].has(topic);
    return { call: first, topics: planned.filter(brings) };
  }
  const again = missing.find(
    (topic) => secondLook.has(topic) && priceList.singles(topic) && !isTopicDown(buying.breaker, topic),
  );
  return again === undefined ? null : { call: { kind: 'single', topic: again }, topics: [again] };
}
