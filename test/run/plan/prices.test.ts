import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Call,
  callOfItem,
  contractPrice,
  priceItemOf,
} from '../../../src/contract/credits.ts';
import { NATURAL_SLUGS, PAID_SLUGS, type TopicSlug } from '../../../src/contract/topics.ts';
import { makeJob } from '../../../src/job/settings.ts';
import type { ApiKeys } from '../../../src/run/frame/api-keys.ts';
import {
  ASSUMED_ENTERPRISE,
  ASSUMED_STANDARD,
  cheapestCalls,
  expectedPrices,
  makePriceList,
  type PriceList,
  priceBundle,
  priceCheapest,
} from '../../../src/run/plan/cheapest-calls.ts';
import { type TopicSet, topicSet } from '../../../src/store/answers/topic-set.ts';
import { fc } from '../../properties.ts';

const open: PriceList = {
  ...{
    standard: ASSUMED_STANDARD,
    enterprise: ASSUMED_ENTERPRISE,
    credits: contractPrice,
    most: contractPrice,
    bundles: true,
  },
  ...{ singles: () => true, optimize: 'credits' },
};
/** The standard bundle was seen to return all natural topics. */
const priceList: PriceList = { ...open, standard: new Set(NATURAL_SLUGS) };

test('a run prices what the bundles were seen to return, what its keys may call, and no bundle beyond a whole minute', () => {
  const listOf = (
    credits_per_minute: number,
    scopes: readonly string[],
    standard: TopicSlug[] | null = null,
  ) => {
    const subscription = { credits_per_month: 100, credits_per_minute };
    const settings = {
      input: 'in.csv',
      service: { base_url: 'https://hazards.example' },
      subscription,
    };
    const job = makeJob([settings], { dataFolder: '/', workingFolder: '/' });
    const apiKeys = { keyFor: (scope: string) => (scopes.includes(scope) ? {} : null) } as ApiKeys;
    return makePriceList(job, { standard, enterprise: null }, apiKeys, expectedPrices(new Map()));
  };
  const list = listOf(35, ['bundle', 'hail']);
  assert.deepEqual([list.standard, list.enterprise], [ASSUMED_STANDARD, ASSUMED_ENTERPRISE]);
  assert.deepEqual([list.bundles, list.singles('hail'), list.singles('park')], [true, true, false]);
  assert.equal(list.optimize, 'credits');
  assert.equal(listOf(35, ['hail']).bundles, false);
  assert.deepEqual(listOf(35, [], ['hail']).standard, new Set(['hail']));
  const sizes = (perMinute: number) => {
    const { standard, enterprise } = listOf(perMinute, []);
    return `${standard.size} ${enterprise.size}`;
  };
  assert.deepEqual([34, 15, 14].map(sizes), ['17 0', '17 0', '0 0']);
});

// The proof: no set of calls out of all subsets of all calls is better. Few topics keep the subsets countable.
const FEW = [
  'avalanche',
  'wildfire',
  'hail',
  'park',
  'ozone',
  'cellTower',
] as const satisfies readonly TopicSlug[];
const someOf = fc.subarray([...FEW]);
const anyPrice = fc.integer({ min: 1, max: 40 });
const anyPrices = fc
  .record({
    bundles: fc.record({ standard: anyPrice, enterprise: anyPrice }),
    singles: fc.array(anyPrice, { minLength: FEW.length, maxLength: FEW.length }),
  })
  .map(({ bundles, singles }) => (call: Call): number => {
    if (call.kind !== 'single') return bundles[call.kind];
    return singles[(FEW as readonly TopicSlug[]).indexOf(call.topic)]!;
  });
const anyMarket: fc.Arbitrary<PriceList> = fc.record({
  standard: someOf.map((slugs) => new Set<TopicSlug>(slugs)),
  enterprise: someOf.map((slugs) => new Set<TopicSlug>(slugs)),
  credits: anyPrices,
  most: fc.constant(() => 40),
  bundles: fc.boolean(),
  singles: someOf.map((slugs) => (topic: TopicSlug) => (slugs as TopicSlug[]).includes(topic)),
  optimize: fc.constantFrom('credits', 'calls'),
});

test('no subset of calls beats the chosen one (brute force)', () => {
  const all: Call[] = [
    { kind: 'standard' },
    { kind: 'enterprise' },
    ...FEW.map((topic): Call => ({ kind: 'single', topic })),
  ];
  fc.assert(
    fc.property(someOf, anyMarket, (missing, priceList) => {
      const chosen = cheapestCalls(missing, priceList);
      const rank = (credits: number, calls: number, lost: number) =>
        priceList.optimize === 'credits' ? [lost, credits, calls] : [lost, calls, credits];
      let best: number[] | null = null;
      for (let subset = 0; subset < 2 ** all.length; subset++) {
        const calls = all.filter((_, index) => Math.floor(subset / 2 ** index) % 2 === 1);
        const allowed = calls.every((call) =>
          call.kind === 'single' ? priceList.singles(call.topic) : priceList.bundles,
        );
        if (!allowed) continue;
        const brings = (topic: TopicSlug) =>
          calls.some((call) =>
            call.kind === 'single' ? call.topic === topic : priceList[call.kind].has(topic),
          );
        const credits = calls.reduce((sum, call) => sum + priceList.credits(call), 0);
        const found = rank(credits, calls.length, missing.filter((topic) => !brings(topic)).length);
        if (best === null || compare(found, best) < 0) best = found;
      }
      assert.deepEqual(rank(chosen.credits, chosen.calls.length, chosen.unobtainable.length), best);
    }),
    { numRuns: 300 },
  );
});

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, i) => value !== b[i]);
  return index < 0 ? 0 : a[index]! - b[index]!;
}

const lacking = (...sets: readonly (readonly [topics: readonly TopicSlug[], cells: number])[]) =>
  new Map<TopicSet, number>(sets.map(([topics, cells]) => [topicSet(topics), cells]));

test('a price is what one cell costs times the cells that lack the same, by kind of call', () => {
  const price = priceCheapest(
    lacking(
      [NATURAL_SLUGS, 3],
      [['wildfire'], 2],
      [[], 10],
      [PAID_SLUGS, 1],
      [['wildfire', 'park'], 4],
    ),
    priceList,
  );
  assert.deepEqual(price.calls, { single: 2 + 19 + 8, standard: 3 + 1, enterprise: 0 });
  assert.equal(price.credits, 3 * 15 + 2 + 34 + 4 * 2);
  assert.equal(
    price.retryCredits,
    4 * 18,
    'each topic of each bundle once more; a single has no such retry',
  );
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
  assert.deepEqual(priceBundle('enterprise', cells, priceList), {
    calls: { single: 0, standard: 0, enterprise: 5 },
    credits: 175,
    retryCredits: 0,
    unobtainable: new Map(),
  });
  assert.equal(priceBundle('standard', cells, { credits: () => 20 }).credits, 100);
});

const DAY_MS = 24 * 60 * 60_000;
const price = (credits: number, holdsMs = DAY_MS) => ({ credits, at: 0, holdsMs });
const hail = { kind: 'single', topic: 'hail' } as const;
const wildfire = { kind: 'single', topic: 'wildfire' } as const;
const standard = { kind: 'standard' } as const;

test("a topic has its own price while it holds; then the contract's is expected, and the first call claims what it may cost", () => {
  const { expected, most } = expectedPrices(new Map([['hail', price(3)]]));
  assert.deepEqual([hail, wildfire, standard].map(expected), [3, 1, 15]);
  assert.deepEqual([hail, wildfire, standard].map(most), [3, 1, 15]);
  const old = expectedPrices(
    new Map([
      ['standard', price(45, 0)],
      ['hail', price(3, -DAY_MS)],
    ]),
  );
  assert.deepEqual([hail, wildfire, standard].map(old.expected), [1, 1, 15]);
  assert.deepEqual([hail, wildfire, standard].map(old.most), [3, 1, 45]);
  const set = lacking([NATURAL_SLUGS, 10]);
  const dear = priceCheapest(set, { ...priceList, credits: old.expected, most: old.most });
  assert.equal(dear.credits, 150, 'bundles, as the contract says');
  assert.equal(dear.retryCredits, 180 + 30, 'the bound has the bundle that shows the price anew');
});

test('where no call can show a higher price anew, it is expected on', () => {
  const charged = new Map([['standard', price(45, 0)]] as const);
  assert.equal(expectedPrices(charged, 45).expected(standard), 15);
  assert.equal(expectedPrices(charged, 44).expected(standard), 45);
  assert.equal(
    expectedPrices(new Map([['standard', price(10, 0)]] as const), 5).expected(standard),
    15,
  );
});

test('where each single that was charged cost the same, two or more, the others are expected to', () => {
  const of = (...prices: (readonly [TopicSlug, ReturnType<typeof price>])[]) =>
    expectedPrices(new Map(prices)).expected(wildfire);
  assert.equal(of(['hail', price(3)]), 1);
  assert.equal(of(['hail', price(3)], ['park', price(3)]), 3);
  assert.equal(of(['hail', price(3)], ['park', price(1)]), 1);
  assert.equal(of(['hail', price(3)], ['park', price(3, 0)]), 1);
});

test('a price is that of a bundle or of a topic, and of no other call', () => {
  const calls: Call[] = [
    { kind: 'standard' },
    { kind: 'enterprise' },
    ...PAID_SLUGS.map((topic) => ({ kind: 'single', topic }) as const),
  ];
  assert.deepEqual(
    calls.map((call) => callOfItem(priceItemOf(call))),
    calls,
  );
});
