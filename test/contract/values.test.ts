import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Call, CREDITS, formatPath, scopeOf } from '../../src/contract/credits.ts';
import { bundleEnvelope, errorEnvelope, singleEnvelope } from '../../src/contract/envelopes.ts';
import { customSubscription, SUBSCRIPTIONS } from '../../src/contract/subscriptions.ts';
import { AIR_QUALITY_DAYS, RATINGS, resultSchemaOf } from '../../src/contract/topic-values.ts';
import { PAID_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import { resultOf } from '../client/answers.ts';
import { fc } from '../properties.ts';

const accepts = (slug: TopicSlug, result: unknown): boolean =>
  resultSchemaOf(slug).safeParse(result).success;

// biome-ignore lint/suspicious/noExplicitAny: values are bent freely
const valueFor = (slug: TopicSlug): any => resultOf(slug).value;
const [natural, airQuality, pollutant] = (['hail', 'airQuality', 'ozone'] as const).map(valueFor);
const collection = { type: 'FeatureCollection', features: [] };
const good = PAID_SLUGS.map((slug) => ({ slug, ...resultOf(slug) }));

test('each of the 37 topics accepts what the contract promises, and what a provider may add beside it', () => {
  assert.equal(good.length, 37);
  assert.deepEqual(AIR_QUALITY_DAYS, [
    ...[
      'daysWithAqi',
      'goodDays',
      'moderateDays',
      'unhealthyForSensitiveGroupsDays',
      'unhealthyDays',
    ],
    ...['veryUnhealthyDays', 'hazardousDays', 'maxAqi', 'medianAqi'],
  ]);
  for (const { slug, value, details } of good) {
    assert.ok(accepts(slug, { value, details }), slug);
    assert.ok(accepts(slug, { value }), `${slug} without details`);
    const more = typeof value === 'object' ? { ...value, addedLater: [1] } : value;
    assert.ok(accepts(slug, { value: more, details, confidence: 0.5 }), slug);
  }
});

test('each promised field is required, and its type is checked', () => {
  for (const { slug, value, details } of good) {
    for (const wrong of [undefined, null, 'text', true, []]) {
      assert.ok(!accepts(slug, { value: wrong, details }), `${slug}: ${JSON.stringify(wrong)}`);
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const name of Object.keys(value)) {
      const { [name]: _, ...less } = value as Record<string, unknown>;
      assert.ok(!accepts(slug, { value: less, details }), `${slug} without ${name}`);
      assert.ok(
        !accepts(slug, { value: { ...value, [name]: [] }, details }),
        `${slug} with a list for ${name}`,
      );
    }
  }
});

test('a rating is exactly one of the eight, a count whole and not below 0, a concentration in µg/m³', () => {
  assert.equal(
    RATINGS.join(),
    'Very Low,Relatively Low,Relatively Moderate,Relatively High,Very High,No Rating,Insufficient Data,Not Applicable',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constantFrom(...RATINGS)), (rating) => {
      const isOne = (RATINGS as readonly string[]).includes(rating);
      assert.equal(accepts('hail', { value: { ...natural, rating } }), isOne);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.maxSafeInteger(), fc.double()), (value) => {
      assert.equal(accepts('park', { value }), Number.isSafeInteger(value) && value >= 0);
    }),
  );
  assert.ok(
    accepts('ozone', {
      value: { ...pollutant, measurement: { value: 12.5, unit: '\u00b5g/m\u00b3' } },
    }),
  );
  for (const unit of ['\u03bcg/m\u00b3', 'ug/m3', 'ppb', '']) {
    assert.ok(
      !accepts('ozone', { value: { ...pollutant, measurement: { value: 1, unit } } }),
      unit,
    );
  }
  const timed = ['2026-03-15T11:00:00+01:00', '2026-03-15'].map((timestamp) =>
    accepts('ozone', { value: { ...pollutant, timestamp } }),
  );
  assert.deepEqual(timed, [true, false]);
  assert.ok(
    !accepts('airQuality', {
      value: { ...airQuality, additionalInfo: { ...airQuality.additionalInfo, maxAqi: 'x' } },
    }),
  );
});

const details: readonly (readonly [slug: TopicSlug, accepted: unknown[], refused: unknown[]])[] = [
  ['drought', [null, undefined, [], {}, 'anything'], []],
  ['hail', [null, undefined, [], [{}, 1]], [{}, 'text', 5]],
  ['earthquake', [null, undefined, {}, { features: [] }, []], ['text', 5]],
  [
    'wildfire',
    [null, undefined, {}, { current: [] }, { current: null, other: 1 }],
    ['text', { current: 5 }],
  ],
  [
    'park',
    [null, undefined, collection, { ...collection, bbox: [1] }],
    [[], {}, { type: 'Feature', features: [] }],
  ],
];

for (const [slug, accepted, refused] of details) {
  test(`details of ${slug}`, () => {
    const value = valueFor(slug);
    for (const one of accepted)
      assert.ok(accepts(slug, { value, details: one }), JSON.stringify(one));
    for (const one of refused)
      assert.ok(!accepts(slug, { value, details: one }), JSON.stringify(one));
  });
}

const meta = {
  request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
  timestamp: '2026-03-15T12:00:00.250Z',
  credit_cost: 1,
};
const location = { lat: 40, lng: -100 };

test('envelopes: promised fields are required, additional ones are accepted', () => {
  const single = {
    data: { topic: 'hail', location, result: { value: natural, details: [] } },
    meta,
  };
  assert.ok(singleEnvelope.safeParse({ ...single, links: {} }).success);
  for (const wrong of [{ topic: 'snow' }, { location: { lat: 40 } }, { result: { details: [] } }]) {
    assert.ok(!singleEnvelope.safeParse({ ...single, data: { ...single.data, ...wrong } }).success);
  }
  assert.ok(!singleEnvelope.safeParse({ data: single.data }).success);
  for (const wrong of [
    { request_id: 'seven' },
    { timestamp: '2026-03-15T12:00:00Z' },
    { timestamp: '2026-03-15T12:00:00.250+01:00' },
    { credit_cost: -1 },
    { credit_cost: '1' },
  ]) {
    assert.ok(
      !singleEnvelope.safeParse({ ...single, meta: { ...meta, ...wrong } }).success,
      JSON.stringify(wrong),
    );
  }
  const topics = {
    hail: { value: natural, details: [] },
    park: { error: 'unavailable' },
    snow: { value: 1 },
  };
  assert.ok(
    bundleEnvelope.safeParse({ data: { location, topics }, meta: { ...meta, credit_cost: 15 } })
      .success,
  );
  assert.ok(!bundleEnvelope.safeParse({ data: { location, topics: [] }, meta }).success);
  assert.ok(
    !bundleEnvelope.safeParse({ data: { location, topics: { hail: { error: 5 } } }, meta }).success,
  );
  const failure = {
    error: { code: 'OUTSIDE_COVERAGE', message: 'at sea' },
    meta: { ...meta, credit_cost: 0 },
  };
  assert.ok(errorEnvelope.safeParse(failure).success);
  assert.ok(!errorEnvelope.safeParse({ ...failure, meta }).success, 'a failure that costs');
  assert.ok(!errorEnvelope.safeParse({ ...failure, error: { code: 'QUOTA_EXCEEDED' } }).success);
});

test('credits, scopes and subscriptions are those of the contract', () => {
  assert.deepEqual(CREDITS, { single: 1, standard: 15, enterprise: 35 });
  const calls: readonly Call[] = [
    { kind: 'standard' },
    { kind: 'enterprise' },
    { kind: 'single', topic: 'park' },
  ];
  assert.deepEqual(calls.map(scopeOf), ['bundle', 'bundle', 'park']);
  const [starter, professional] = [SUBSCRIPTIONS.starter, SUBSCRIPTIONS.professional].map(
    Object.values,
  );
  assert.deepEqual(starter, ['starter', 10_000, 300, 0.04]);
  assert.deepEqual(professional, ['professional', 100_000, 1_200, 0.03]);
  assert.equal(customSubscription(1, 2).overageRate, null);
});

test('the coordinates of a path are plain decimals that give the cell back to the digit', () => {
  const call = fc.constantFrom<Call>({ kind: 'standard' }, { kind: 'single', topic: 'park' });
  const units = (most: number) => fc.integer({ min: -most * 1e7, max: most * 1e7 });
  fc.assert(
    fc.property(call, units(90), units(180), (asked, lat7, lng7) => {
      const url = new URL(formatPath(asked, lat7 / 1e7, lng7 / 1e7), 'http://h.example');
      assert.equal(url.pathname, asked.kind === 'single' ? '/v1/park/risk' : '/v1/bundle/standard');
      const [lat, lng] = [url.searchParams.get('lat')!, url.searchParams.get('lng')!];
      for (const text of [lat, lng]) assert.match(text, /^-?\d{1,3}(\.\d{0,6}[1-9])?$/);
      assert.deepEqual(
        [Math.round(Number(lat) * 1e7), Math.round(Number(lng) * 1e7)],
        [lat7 + 0, lng7 + 0],
      );
      assert.ok(lat !== '-0' && lng !== '-0');
    }),
  );
});
