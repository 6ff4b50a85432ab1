import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billingPeriod, CLOCKS_APART_MS, refusalHoldsUntil } from '../../src/contract/billing-period.ts';
import {
  isTopicSlug,
  NATURAL_SLUGS,
  PAID_TOPICS,
  TIME_TO_LIVE,
  TOPIC_SLUGS,
  TOPICS,
  topicOf,
} from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';

test('the paid contract has 37 topics: 18 natural, 14 proximity, 5 measurements; each topic is listed once', () => {
  const count = (category: string) => PAID_TOPICS.filter((topic) => topic.category === category).length;
  assert.deepEqual([PAID_TOPICS.length, count('natural'), count('proximity'), count('measurement')], [37, 18, 14, 5]);
  assert.equal(new Set(TOPIC_SLUGS).size, TOPICS.length);
  const of = (area: string) => TOPICS.filter((topic) => topic.area === area).map(({ slug }) => slug);
  assert.deepEqual([of('tract'), of('county')], [NATURAL_SLUGS, ['airQuality', 'radon']]);
  for (const topic of TOPICS) assert.ok(isTopicSlug(topic.slug) && topicOf(topic.slug) === topic);
  assert.ok(!isTopicSlug('hall'));
});

test('time to live follows the cadence, and the cadences are those of the contract', () => {
  const of = (cadence: string) => TOPICS.filter((topic) => topic.cadence === cadence).map(({ slug }) => slug);
  assert.deepEqual(['daily', 'near-real-time', 'rolling', 'release', 'static'].map(of), [
    ['alternativeFuels'],
    ['ozone', 'pm25', 'pm10'],
    ['brownfield', 'superfund', 'toxicReleaseInventory'],
    NATURAL_SLUGS,
    ['nuclearReactors'],
  ]);
  const days = (slug: string) => {
    const seconds = TIME_TO_LIVE[TOPICS.find((topic) => topic.slug === slug)!.cadence];
    return seconds === null ? null : seconds / 86_400;
  };
  assert.deepEqual(
    ['alternativeFuels', 'ozone', 'pm25', 'pm10', 'superfund', 'wildfire', 'nuclearReactors'].map(days),
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
