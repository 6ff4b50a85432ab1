import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOPICS } from '../../../src/contract/topics.ts';
import type { EnvelopeReading } from '../../../src/fetch/envelope.ts';
import { reducedBody } from '../../../src/fetch/reduced-body.ts';
import { type ParsedAnswer, parseAnswer } from '../../../src/job/reading/parsed-answer.ts';
import { ENTERPRISE, envelopeOf, PLACE, resultOf, WILDFIRE } from '../../fetch/answers.ts';
import { anyJson, bodyOf, listOf, objectOf, quoted, scalar } from '../../fetch/json-texts.ts';
import { fc } from '../../properties.ts';
import { times } from '../../tier.ts';

const json = (value: unknown) => fc.constant(JSON.stringify(value));

const degrees = (middle: number) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -3_000, max: 3_000 }).map((step) => String(middle + step / 1e4)) },
    { weight: 1, arbitrary: fc.integer({ min: -9_000, max: 9_000 }).map((step) => `${step}e-1`) },
    { weight: 1, arbitrary: scalar },
  );
const position = fc.oneof(
  { weight: 9, arbitrary: listOf([degrees(PLACE.lng), degrees(PLACE.lat)]) },
  { weight: 1, arbitrary: listOf([degrees(-PLACE.lng), degrees(PLACE.lat), degrees(0)]) },
  { weight: 1, arbitrary: anyJson },
);
const listsOf = (item: fc.Arbitrary<string>, maxLength = 5) =>
  fc.array(item, { maxLength }).chain((items) => listOf(items.map((text) => fc.constant(text))));
const path = listsOf(position);
const COORDINATES = {
  Point: position,
  MultiPoint: path,
  LineString: path,
  MultiLineString: listsOf(path, 3),
  Polygon: listsOf(path, 3),
  MultiPolygon: listsOf(listsOf(path, 2), 2),
  Nothing: position,
};
const simpleGeometry = fc.constantFrom(...Object.entries(COORDINATES)).chain(([type, coordinates]) =>
  membersOf([
    ['type', quoted(type)],
    ['coordinates', coordinates],
  ]),
);
const geometry = fc.oneof(
  { weight: 6, arbitrary: simpleGeometry },
  {
    weight: 1,
    arbitrary: membersOf([
      ['type', quoted('GeometryCollection')],
      ['geometries', listsOf(simpleGeometry, 3)],
    ]),
  },
  { weight: 1, arbitrary: anyJson },
);
const feature = fc.oneof(
  {
    weight: 8,
    arbitrary: membersOf([
      ['type', quoted('Feature')],
      ['geometry', geometry],
      ['properties', anyJson],
    ]),
  },
  { weight: 1, arbitrary: anyJson },
);
const details = fc.oneof(
  {
    weight: 6,
    arbitrary: membersOf([
      ['type', quoted('FeatureCollection')],
      ['features', listsOf(feature, 8)],
    ]),
  },
  { weight: 2, arbitrary: membersOf(['current', 'historical', 'perimeters'].map((name) => [name, listsOf(anyJson)])) },
  { weight: 2, arbitrary: listsOf(anyJson) },
  { weight: 1, arbitrary: anyJson },
);

/** An object with these members in any order; now and then one stands twice, or there is another. */
function membersOf(members: readonly (readonly [string, fc.Arbitrary<string>])[]): fc.Arbitrary<string> {
  const extra = fc.tuple(fc.constantFrom(...members.map(([name]) => name), 'more'), anyJson);
  return fc
    .tuple(
      fc.shuffledSubarray([...members], { minLength: members.length }),
      fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: extra }),
      fc.boolean(),
    )
    .chain(([ordered, added, isFirst]) => {
      const other = added === null ? [] : [[added[0], fc.constant(added[1])] as const];
      return objectOf(isFirst ? [...other, ...ordered] : [...ordered, ...other]);
    });
}

const entryOf = (topic: (typeof TOPICS)[number]) =>
  membersOf([
    ['value', json(resultOf(topic.slug).value)],
    ['details', details],
  ]);
const { meta } = envelopeOf(ENTERPRISE);
const location = json(PLACE);
const bundle = fc.shuffledSubarray([...TOPICS], { minLength: 1, maxLength: 4 }).chain((topics) => {
  const entries = membersOf(topics.map((topic) => [topic.slug, entryOf(topic)]));
  return membersOf([
    [
      'data',
      membersOf([
        ['location', location],
        ['topics', entries],
      ]),
    ],
    ['meta', json(meta)],
  ]);
});
const wildfire = TOPICS.find(({ slug }) => slug === 'wildfire')!;
const single = membersOf([
  [
    'data',
    membersOf([
      ['topic', quoted('wildfire')],
      ['location', location],
      ['result', entryOf(wildfire)],
    ]),
  ],
  ['meta', json({ ...meta, credit_cost: 1 })],
]);

/** With the details, every value of the body is parsed. */
function wholeReading(call: typeof ENTERPRISE, body: Buffer): EnvelopeReading<ParsedAnswer> {
  const reading = parseAnswer({ call, location: PLACE, keepDetails: true, keys: [] }, body);
  if (!reading.ok) return reading;
  const results = [...reading.results].map(([topic, found]) => {
    return [topic, found.ok ? { ok: found.ok, result: { fields: found.result.fields } } : found] as const;
  });
  return { ...reading, results: new Map(results) };
}

for (const [name, call, text] of [
  ['a bundle', ENTERPRISE, bundle],
  ['a single', WILDFIRE, single],
] as const) {
  test(`the fields of ${name} do not depend on whether its records are parsed`, () => {
    let [reduced, read, measured] = [0, 0, 0];
    const numRuns = times({ short: 300, faults: 2_000 });
    fc.assert(
      fc.property(bodyOf(text), (body) => {
        const reading = parseAnswer({ call, location: PLACE, keepDetails: false, keys: [] }, body);
        assert.deepEqual(reading, wholeReading(call, body));
        if (reducedBody(call, PLACE, body) !== null) reduced++;
        if (!reading.ok) return;
        read++;
        const results = [...reading.results.values()];
        if (results.some((one) => one.ok && one.result.fields.length === 2 && one.result.fields[1] !== null))
          measured++;
      }),
      { numRuns, seed: 8 },
    );
    // A generator that seldom makes a readable answer would prove little.
    assert.ok(reduced > numRuns / 3 && read > numRuns / 4, `${reduced} reduced, ${read} read`);
    assert.ok(call === WILDFIRE || measured > numRuns / 10, `${measured} measured`);
  });
}

test('of many records only what may be nearest is left', () => {
  const features = Array.from({ length: 5_000 }, (_, at) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [PLACE.lng + ((at * 7_919) % 5_003) / 1e5, PLACE.lat] },
    properties: { name: `Größe ${at}` },
  }));
  const envelope = envelopeOf(ENTERPRISE) as { data: { topics: Record<string, unknown> } };
  envelope.data.topics.park = { value: 5_000, details: { type: 'FeatureCollection', features } };
  const body = Buffer.from(JSON.stringify(envelope));
  const text = reducedBody(ENTERPRISE, PLACE, body)!;
  const kept = JSON.parse(text).data.topics.park.details.features as unknown[];
  assert.equal(kept.length, 5_000);
  assert.ok(kept.filter((one) => one !== 0).length < 50);
  const reading = parseAnswer({ call: ENTERPRISE, location: PLACE, keepDetails: false, keys: [] }, body);
  assert.ok(reading.ok);
  assert.deepEqual(reading.results.get('park'), { ok: true, result: { fields: [5_000, 0] } });
});
