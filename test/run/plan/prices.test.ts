import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TopicSet, topicSet } from '../../../src/contract/topic-set.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../../../src/contract/topics.ts';
import { ASSUMED_ENTERPRISE, type PriceList } from '../../../src/run/plan/cheapest-calls.ts';
import { priceBundle, priceCheapest, purchaseBySet } from '../../../src/run/plan/prices.ts';

/** The standard bundle was seen to return all natural topics. */
const priceList: PriceList = {
  ...{ standard: new Set(NATURAL_SLUGS), enterprise: ASSUMED_ENTERPRISE, bundles: true },
  ...{ singles: () => true, optimize: 'credits' },
};

const lacking = (...sets: readonly (readonly [topics: readonly TopicSlug[], cells: number])[]) =>
  new Map<TopicSet, number>(sets.map(([topics, cells]) => [topicSet(topics), cells]));

test('a price is what one cell costs times the cells that lack the same, by kind of call', () => {
  const price = priceCheapest(
    lacking([NATURAL_SLUGS, 3], [['wildfire'], 2], [[], 10], [TOPIC_SLUGS, 1], [['wildfire', 'park'], 4]),
    priceList,
  );
  assert.deepEqual(price.calls, { single: 2 + 19 + 8, standard: 3 + 1, enterprise: 0 });
  assert.equal(price.credits, 3 * 15 + 2 + 34 + 4 * 2);
  assert.equal(price.retryCredits, 4 * 18, 'each topic of each bundle once more; a single has no such retry');
  assert.equal(price.unobtainable.size, 0);
});

test('topics that no key may buy are listed with the number of cells that lack them, and cost nothing', () => {
  const price = priceCheapest(lacking([['wildfire', 'park'], 4], [['park'], 2]), {
    ...priceList,
    bundles: false,
    singles: (topic) => topic !== 'park',
  });
  assert.deepEqual([...price.unobtainable], [['park', 6]]);
  assert.deepEqual([price.credits, price.calls.single], [4, 4]);
});

test('a bundle for each cell that lacks anything', () => {
  const cells = lacking([NATURAL_SLUGS, 3], [['wildfire'], 2], [[], 10]);
  assert.deepEqual(priceBundle('enterprise', cells), {
    calls: { single: 0, standard: 0, enterprise: 5 },
    credits: 175,
    retryCredits: 0,
    unobtainable: new Map(),
  });
  assert.equal(priceBundle('standard', cells).credits, 75);
});

test('a purchase is remembered as long as the priceList stays', () => {
  let now = priceList;
  const purchaseOf = purchaseBySet(() => now);
  const natural = topicSet(NATURAL_SLUGS);
  const first = purchaseOf(natural);
  assert.equal(first.credits, 15);
  assert.equal(purchaseOf(natural), first);
  now = { ...priceList, bundles: false };
  assert.equal(purchaseOf(natural).credits, 18);
});
