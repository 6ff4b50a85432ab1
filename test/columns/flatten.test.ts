import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerFields, areaAnswer, areaSuffices, columnsOf, flatten } from '../../src/columns/topic-columns.ts';
import type { Field } from '../../src/contract/answer.ts';
import { RATINGS, RATINGS_WITHOUT_SCORE, type TopicResult } from '../../src/contract/topic-values.ts';
import { NATURAL_SLUGS, POLLUTANTS, PROXIMITY_SLUGS, type TopicSlug, topicOf } from '../../src/contract/topics.ts';
import { fc } from '../properties.ts';

const HERE = { lat: 40, lng: -100 };
const NOTHING = { title: 'A hazard', rating: 'Not Applicable', score: null, frequency: null } as const;
const ZERO = { title: 'A hazard', rating: 'Very Low', score: 0, frequency: 0 } as const;

const fields = (slug: TopicSlug, value: unknown, ...details: unknown[]): Field[] =>
  flatten(slug, { value, ...(details.length > 0 ? { details: details[0] } : {}) } as TopicResult, HERE);

test('a natural answer is its rating, score and frequency, but what has no score gets none; null is never 0', () => {
  for (const slug of NATURAL_SLUGS.filter((name) => topicOf(name).details === 'none')) {
    assert.deepEqual(fields(slug, ZERO, null), ['Very Low', 0, 0], slug);
    for (const rating of ['Not Applicable', 'Insufficient Data']) {
      assert.deepEqual(fields(slug, { ...ZERO, rating }, null), [rating, null, null], slug);
    }
    assert.deepEqual(fields(slug, { ...ZERO, rating: 'No Rating' }, null), ['No Rating', 0, 0], slug);
    assert.deepEqual(fields(slug, { ...ZERO, score: -1.5, frequency: 1e-9 }), ['Very Low', -1.5, 1e-9], slug);
  }
});

const arrays = ['hail', 'hurricane', 'tornado'] as const;

for (const slug of arrays) {
  test(`${slug}: the records are counted; no details is not the same as no records`, () => {
    const last = (...details: unknown[]) => fields(slug, ZERO, ...details).at(-1);
    assert.equal(last([{}, {}, {}]), 3);
    assert.equal(last([]), 0);
    assert.equal(last(null), null);
    assert.equal(last(), null);
    assert.equal(fields(slug, ZERO, []).length, 4);
  });
}

const earthquakes: readonly (readonly [says: string, details: unknown, records: number | null])[] = [
  ['a FeatureCollection beside another list', { features: [{}], bbox: [1, 2, 3, 4] }, 1],
  ['an object of lists', { recent: [{}, {}], historical: [{}], radius: 100 }, 3],
  ['null', null, null],
];

for (const [says, details, records] of earthquakes) {
  test(`earthquake: records of ${says}`, () => {
    assert.deepEqual(fields('earthquake', ZERO, details), ['Very Low', 0, 0, records]);
  });
}

const wildfires: readonly (readonly [says: string, details: unknown, counts: (number | null)[]])[] = [
  ['three lists', { current: [{}], historical: [{}, {}], perimeters: [{}, {}, {}] }, [1, 2, 3]],
  ['a list that is missing and one that is null', { historical: [{}], perimeters: null }, [null, 1, null]],
  ['the contract’s empty object', {}, [0, 0, 0]],
  ['null', null, [null, null, null]],
];

for (const [says, details, counts] of wildfires) {
  test(`wildfire: the three counts of ${says}`, () => {
    assert.deepEqual(fields('wildfire', NOTHING, details), ['Not Applicable', null, null, ...counts]);
  });
}

const point = (lng: number, lat: number) => ({ geometry: { type: 'Point', coordinates: [lng, lat] }, properties: {} });

test('a proximity answer is the count and the whole metres to the nearest feature', () => {
  const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features });
  for (const slug of PROXIMITY_SLUGS) {
    // A degree of latitude is 111,195 m on the sphere that distances are measured on.
    assert.deepEqual(fields(slug, 2, collection(point(-100, 41), point(-100, 40.01))), [2, 1112], slug);
    assert.deepEqual(fields(slug, 0, collection()), [0, null], slug);
    assert.deepEqual(fields(slug, 1, collection(point(-100, 40))), [1, 0], slug);
    assert.deepEqual(fields(slug, 5, null), [5, null], slug);
    assert.deepEqual(fields(slug, 5), [5, null], slug);
    assert.deepEqual(fields(slug, 3, collection({ geometry: null }, null, {})), [3, null], slug);
  }
});

test('the count is what the service says, even where its list is shorter', () => {
  assert.deepEqual(fields('park', 12, { type: 'FeatureCollection', features: [point(-100, 40)] }), [12, 0]);
});

test('air quality: eleven fields in the contract’s order', () => {
  const value = {
    metric: 'Good',
    progressValue: 0,
    additionalInfo: {
      ...{ medianAqi: 9, maxAqi: 8, hazardousDays: 7, veryUnhealthyDays: 6, unhealthyDays: 5 },
      ...{ unhealthyForSensitiveGroupsDays: 4, moderateDays: 3, goodDays: 2, daysWithAqi: 1 },
    },
  };
  assert.deepEqual(fields('airQuality', value, null), ['Good', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const unknown = { ...value, progressValue: null, additionalInfo: { ...value.additionalInfo, maxAqi: null } };
  assert.deepEqual(fields('airQuality', unknown, null), ['Good', null, 1, 2, 3, 4, 5, 6, 7, null, 9]);
});

test('a pollutant: value, unit, rating, time as the service wrote them', () => {
  const timestamp = '2026-03-15T11:00:00.000Z';
  for (const slug of POLLUTANTS) {
    const value = { measurement: { value: 0, unit: 'µg/m³' }, rating: 'Good', timestamp };
    assert.deepEqual(fields(slug, value, null), [0, 'µg/m³', 'Good', timestamp]);
    const silent = { ...value, measurement: { value: null, unit: 'µg/m³' } };
    assert.deepEqual(fields(slug, silent, null), [null, 'µg/m³', 'Good', timestamp]);
  }
});

test('radon: zone, title and caption; the advisory text, which is the same everywhere, is left out', () => {
  const value = { title: 'Radon Zone', value: 'Zone 2', caption: 'Moderate', description: 'Test your home.' };
  assert.deepEqual(fields('radon', value, null), ['Zone 2', 'Radon Zone', 'Moderate']);
});

const numberOrNull = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }));
const anyDetails = fc.oneof(
  fc.constant(undefined),
  fc.jsonValue(),
  fc.record({ features: fc.array(fc.jsonValue()) }),
  fc.record({ current: fc.array(fc.jsonValue()), perimeters: fc.jsonValue() }, { requiredKeys: [] }),
);

test('whatever details hold, an answer has as many fields as its topic has columns, and counts are whole or empty', () => {
  const natural = fc.record({
    title: fc.string(),
    rating: fc.constantFrom(...RATINGS),
    score: numberOrNull,
    frequency: numberOrNull,
  });
  fc.assert(
    fc.property(fc.constantFrom(...NATURAL_SLUGS), natural, anyDetails, (slug, value, details) => {
      const flat = fields(slug, value, details);
      assert.equal(flat.length, columnsOf(slug).length);
      const numbers = RATINGS_WITHOUT_SCORE.has(value.rating) ? [null, null] : [value.score, value.frequency];
      assert.deepEqual(flat.slice(0, 3), [value.rating, ...numbers]);
      for (const count of flat.slice(3)) assert.ok(count === null || (Number.isInteger(count) && Number(count) >= 0));
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...PROXIMITY_SLUGS), fc.nat(), fc.array(fc.jsonValue()), (slug, value, features) => {
      const flat = fields(slug, value, { type: 'FeatureCollection', features });
      assert.equal(flat.length, 2);
      assert.equal(flat[0], value);
      assert.ok(flat[1] === null || (Number.isInteger(flat[1]) && Number(flat[1]) >= 0));
    }),
  );
});

test('the answer of an area is all but the counts of the place, and suffices where these are not wanted', () => {
  const ofPlace = fields('hail', ZERO, [1, 2]);
  assert.deepEqual(areaAnswer({ topic: 'hail', asOf: 1, fields: ofPlace }), {
    ...{ topic: 'hail', asOf: 1 },
    fields: ofPlace.slice(0, 3),
  });
  assert.deepEqual(answerFields('hail', { value: ZERO, counts: null, nearestMeters: null }), ofPlace.slice(0, 3));
  const suffices = (counts: boolean) =>
    (['hail', 'avalanche', 'radon', 'ozone', 'park'] as const).filter((slug) => areaSuffices(slug, counts));
  assert.deepEqual(suffices(true), ['avalanche', 'radon']);
  assert.deepEqual(suffices(false), ['hail', 'avalanche', 'radon']);
});
