import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  billingPeriod,
  CLOCKS_APART_MS,
  refusalHoldsUntil,
} from '../../src/contract/billing-period.ts';
import {
  isTopicSlug,
  NATURAL_SLUGS,
  PAID_TOPICS,
  TIME_TO_LIVE,
  TOPIC_SLUGS,
  TOPICS,
  type TopicSlug,
  topicOf,
} from '../../src/contract/topics.ts';
import {
  difference,
  hasTopic,
  intersection,
  NO_TOPICS,
  TopicSets,
  topicSet,
  topicsIn,
  union,
} from '../../src/store/answers/topic-set.ts';
import { fc } from '../properties.ts';

test('the paid contract has 37 topics: 18 natural, 14 proximity, 5 measurements; each topic is listed once', () => {
  const count = (category: string) =>
    PAID_TOPICS.filter((topic) => topic.category === category).length;
  assert.deepEqual(
    [PAID_TOPICS.length, count('natural'), count('proximity'), count('measurement')],
    [37, 18, 14, 5],
  );
  assert.equal(new Set(TOPIC_SLUGS).size, TOPICS.length);
  const of = (area: string) =>
    TOPICS.filter((topic) => topic.area === area).map(({ slug }) => slug);
  assert.deepEqual([of('tract'), of('county')], [NATURAL_SLUGS, ['airQuality', 'radon']]);
  for (const topic of TOPICS) assert.ok(isTopicSlug(topic.slug) && topicOf(topic.slug) === topic);
  assert.ok(!isTopicSlug('hall'));
});

test('time to live follows the cadence, and the cadences are those of the contract', () => {
  const of = (cadence: string) =>
    TOPICS.filter((topic) => topic.cadence === cadence).map(({ slug }) => slug);
  assert.deepEqual(['daily', 'near-real-time', 'rolling', 'release', 'static'].map(of), [
    ['alternativeFuels'],
    ['ozone', 'pm25', 'pm10'],
    ['brownfield', 'superfund', 'toxicReleaseInventory', 'floodZone'],
    NATURAL_SLUGS,
    ['nuclearReactors'],
  ]);
  const days = (slug: string) => {
    const seconds = TIME_TO_LIVE[TOPICS.find((topic) => topic.slug === slug)!.cadence];
    return seconds === null ? null : seconds / 86_400;
  };
  assert.deepEqual(
    ['alternativeFuels', 'ozone', 'pm25', 'pm10', 'superfund', 'wildfire', 'nuclearReactors'].map(
      days,
    ),
    [1, 1 / 24, 1 / 24, 1 / 24, 30, 365, null],
  );
});

test('a billing period contains its moment and agrees with a count day by day', () => {
  const day = 86_400_000;
  const isAnniversary = (anniversaryDay: number, ms: number): boolean => {
    const date = new Date(ms);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    return date.getUTCDate() === Math.min(anniversaryDay, last);
  };
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: Date.UTC(2023, 0, 1), max: Date.UTC(2033, 0, 1) }),
      (anniversaryDay, now) => {
        const today = Math.floor(now / day) * day;
        let start = today;
        while (!isAnniversary(anniversaryDay, start)) start -= day;
        let end = today + day;
        while (!isAnniversary(anniversaryDay, end)) end += day;
        assert.deepEqual(billingPeriod(anniversaryDay, now), { start, end });
      },
    ),
  );
});

test('a refusal for quota holds until the next anniversary; one right after an anniversary may be of the old period', () => {
  const { start, end } = billingPeriod(5, Date.UTC(2026, 2, 10));
  const certain = start + CLOCKS_APART_MS;
  for (const [at, until] of [
    [start, certain],
    [certain - 1, certain],
    [certain, end],
    [end - 1, end],
    [end, end + CLOCKS_APART_MS],
  ] as const) {
    assert.equal(refusalHoldsUntil(5, at), until);
  }
});

test('a set gives its topics in contract order, whatever their order and repetitions', () => {
  assert.deepEqual(topicsIn(topicSet([])), []);
  assert.deepEqual(topicsIn(topicSet(TOPIC_SLUGS)), TOPIC_SLUGS);
  assert.deepEqual(topicsIn(topicSet(['radon', 'hail', 'radon'])), ['hail', 'radon']);
});

test('union, intersection and difference are those of sets, beyond 32 bits too', () => {
  const someOf = fc.subarray([...TOPIC_SLUGS]);
  fc.assert(
    fc.property(someOf, someOf, (a, b) => {
      const [setA, setB] = [topicSet(a), topicSet(b)];
      const inOrder = (topics: readonly TopicSlug[]) =>
        TOPIC_SLUGS.filter((slug) => topics.includes(slug));
      const [common, own] = [
        a.filter((slug) => b.includes(slug)),
        a.filter((slug) => !b.includes(slug)),
      ];
      assert.deepEqual(topicsIn(intersection(setA, setB)), inOrder(common));
      assert.deepEqual(topicsIn(union(setA, setB)), inOrder([...a, ...b]));
      assert.deepEqual(topicsIn(difference(setA, setB)), inOrder(own));
      for (const slug of TOPIC_SLUGS) assert.equal(hasTopic(setA, slug), a.includes(slug));
      assert.equal(union(setA, setA), setA);
      assert.equal(difference(setA, setA), NO_TOPICS);
    }),
  );
});

test('a copy of many sets is independent of the original', () => {
  const sets = new TopicSets(2);
  sets.set(1, topicSet(TOPIC_SLUGS));
  const copy = sets.copy();
  copy.set(1, NO_TOPICS);
  assert.deepEqual(
    [sets.get(0), topicsIn(sets.get(1)).length, copy.get(1), copy.size],
    [0, TOPIC_SLUGS.length, 0, 2],
  );
});
