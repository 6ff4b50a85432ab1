import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RATINGS, type Rating } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS, type NaturalSlug } from '../../src/contract/topics.ts';
import { RATING_BANDS, ratingOf } from '../../src/data/sample/ratings.ts';
import { sampleDatasets } from '../../src/data/sample/sample-datasets.ts';
import type { NaturalRatingRecord } from '../../src/data/tables/records.ts';

const SEEDS = [1, 2, 3];

function ratingsOf(seed: number): NaturalRatingRecord[] {
  const datasets = sampleDatasets({ seed, now: Date.UTC(2026, 5, 1) });
  return [...[...datasets].find((dataset) => dataset.kind === 'nri')!.records];
}

test('every county is rated for all natural topics, once', () => {
  const byCounty = Map.groupBy(ratingsOf(1), ({ geoid }) => geoid);
  const areas = [...sampleDatasets({ seed: 1, now: 0 })].find((dataset) => dataset.kind === 'areas')!;
  for (const { geoid } of areas.records) {
    assert.deepEqual(
      byCounty.get(geoid)?.map(({ topic }) => topic),
      NATURAL_SLUGS,
      geoid,
    );
  }
});

test('every rating occurs', () => {
  assert.deepEqual(new Set(ratingsOf(1).map(({ rating }) => rating)), new Set(RATINGS));
});

test('scores, frequencies and ratings follow the rules of the index', () => {
  for (const { geoid, topic, rating, score, frequency } of ratingsOf(1)) {
    const what = `${geoid} ${topic} ${rating} ${score} ${frequency}`;
    if (rating === 'Not Applicable' || rating === 'Insufficient Data') {
      assert.deepEqual([score, frequency], [null, null], what);
      continue;
    }
    assert.ok(frequency !== null && Number.isFinite(frequency) && frequency >= 0, what);
    if (rating === 'No Rating') assert.equal(score, 0, what);
    else assert.ok(score !== null && score > 0 && score <= 100 && ratingOf(score) === rating, what);
  }
});

test('the bands of the ratings leave no gap', () => {
  assert.deepEqual([0.1, 19.99, 20, 40, 60, 79.9, 80, 100].map(ratingOf), [
    'Very Low',
    'Very Low',
    'Relatively Low',
    'Relatively Moderate',
    'Relatively High',
    'Relatively High',
    'Very High',
    'Very High',
  ]);
  assert.equal(RATING_BANDS.length, 5);
});

const HIGH: readonly Rating[] = ['Relatively High', 'Very High'];
const LOW: readonly Rating[] = ['No Rating', 'Very Low', 'Relatively Low'];
const NONE: readonly Rating[] = ['Not Applicable'];

const PLAIN_FACTS: readonly [place: string, geoid: string, topic: NaturalSlug, ratings: readonly Rating[]][] = [
  ['Miami-Dade, FL', '12086', 'hurricane', HIGH],
  ['Miami-Dade, FL', '12086', 'coastalFlood', HIGH],
  ['Miami-Dade, FL', '12086', 'winterWeather', NONE],
  ['Harris, TX', '48201', 'hurricane', HIGH],
  ['Harris, TX', '48201', 'riverineFlood', HIGH],
  ['Sedgwick, KS', '20173', 'avalanche', NONE],
  ['Sedgwick, KS', '20173', 'tsunami', NONE],
  ['Sedgwick, KS', '20173', 'hail', HIGH],
  ['Oklahoma, OK', '40109', 'tornado', HIGH],
  ['Los Angeles, CA', '06037', 'earthquake', HIGH],
  ['Los Angeles, CA', '06037', 'hurricane', NONE],
  ['Riverside, CA', '06065', 'wildfire', HIGH],
  ['New Madrid, MO', '29143', 'earthquake', HIGH],
  ['Cook, IL', '17031', 'tsunami', NONE],
  ['Cook, IL', '17031', 'earthquake', LOW],
  ['Maricopa, AZ', '04013', 'heatWave', HIGH],
  ['Cass, ND', '38017', 'coldWave', HIGH],
  ['Cass, ND', '38017', 'winterWeather', HIGH],
  ['Hawaii, HI', '15001', 'volcano', HIGH],
  ['Honolulu, HI', '15003', 'tsunami', HIGH],
  ['Honolulu, HI', '15003', 'coldWave', NONE],
  ['Pierce, WA', '53053', 'volcano', HIGH],
  ['Polk, FL', '12105', 'lightning', HIGH],
  ['San Juan, PR', '72127', 'hurricane', HIGH],
];

test('hazards are where they are known to be, whatever the seed', () => {
  for (const seed of SEEDS) {
    const ratings = new Map(ratingsOf(seed).map(({ geoid, topic, rating }) => [`${geoid}/${topic}`, rating]));
    for (const [place, geoid, topic, expected] of PLAIN_FACTS) {
      const rating = ratings.get(`${geoid}/${topic}`)!;
      // Any hazard may lack data, now and then.
      assert.ok(rating === 'Insufficient Data' || expected.includes(rating), `${seed}: ${place}, ${topic}: ${rating}`);
    }
  }
});
