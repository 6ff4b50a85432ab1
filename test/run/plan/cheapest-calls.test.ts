import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BundleKind, type Call, CREDITS } from '../../../src/contract/credits.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../../../src/contract/topics.ts';
import { makeJob } from '../../../src/job/settings.ts';
import type { ApiKeys } from '../../../src/run/plan/api-keys.ts';
import {
  ASSUMED_ENTERPRISE,
  ASSUMED_STANDARD,
  cheapestCalls,
  makePriceList,
  type PriceList,
  priceListWithout,
} from '../../../src/run/plan/cheapest-calls.ts';
import { fc } from '../../properties.ts';

const open: PriceList = {
  ...{ standard: ASSUMED_STANDARD, enterprise: ASSUMED_ENTERPRISE, bundles: true },
  ...{ singles: () => true, optimize: 'credits' },
};
const withAvalanche: PriceList = { ...open, standard: new Set(NATURAL_SLUGS) };

function price(missing: readonly TopicSlug[], priceList: PriceList): [credits: number, calls: number] {
  const { credits, calls } = cheapestCalls(missing, priceList);
  return [credits, calls.length];
}

test('all 37 topics: 35 in one call, or 34 in 20 once the standard bundle is known to return avalanche', () => {
  assert.deepEqual(price(TOPIC_SLUGS, open), [35, 1]);
  assert.deepEqual(price(TOPIC_SLUGS, withAvalanche), [34, 20]);
  assert.deepEqual(price(TOPIC_SLUGS, { ...withAvalanche, optimize: 'calls' }), [35, 1]);
});

test('bundles that were tried at a cell return nothing there any more', () => {
  const noSingles = { ...open, singles: () => false };
  const calls = (...tried: BundleKind[]) =>
    cheapestCalls(['wildfire'], priceListWithout(noSingles, new Set(tried))).calls.map(({ kind }) => kind);
  assert.deepEqual([calls(), calls('standard'), calls('enterprise')], [['standard'], ['enterprise'], ['standard']]);
  assert.deepEqual(calls('standard', 'enterprise'), []);
});

test('a run prices what the bundles were seen to return, what its keys may call, and no bundle beyond a whole minute', () => {
  const listOf = (credits_per_minute: number, scopes: readonly string[], standard: TopicSlug[] | null = null) => {
    const subscription = { credits_per_month: 100, credits_per_minute };
    const settings = { input: 'in.csv', service: { base_url: 'https://hazards.example' }, subscription };
    const job = makeJob([settings], { dataFolder: '/', workingFolder: '/' });
    const apiKeys = { keyFor: (scope: string) => (scopes.includes(scope) ? {} : null) } as ApiKeys;
    return makePriceList(job, { standard, enterprise: null }, apiKeys);
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
const FEW = ['avalanche', 'wildfire', 'hail', 'park', 'ozone', 'cellTower'] as const satisfies readonly TopicSlug[];
const someOf = fc.subarray([...FEW]);
const anyMarket: fc.Arbitrary<PriceList> = fc.record({
  standard: someOf.map((slugs) => new Set<TopicSlug>(slugs)),
  enterprise: someOf.map((slugs) => new Set<TopicSlug>(slugs)),
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
          calls.some((call) => (call.kind === 'single' ? call.topic === topic : priceList[call.kind].has(topic)));
        const credits = calls.reduce((sum, call) => sum + CREDITS[call.kind], 0);
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
