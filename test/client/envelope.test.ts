import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEnvelope } from '../../src/client/envelope.ts';
import type { Call } from '../../src/contract/credits.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import {
  ENTERPRISE,
  envelopeOf,
  PLACE,
  REQUEST_ID,
  received,
  resultOf,
  STANDARD,
  WILDFIRE,
} from './answers.ts';

const read = (call: Call, body: unknown, place = PLACE) =>
  readEnvelope(call, place, received(200, body), (_, result) => result as never);

type Bundle = { data: { location: unknown; topics: Record<string, unknown> }; meta: unknown };
const bundle = (call = ENTERPRISE) => envelopeOf(call) as Bundle;

function readWith(topic: string, entry: unknown) {
  const envelope = bundle();
  Object.defineProperty(envelope.data.topics, topic, {
    value: entry,
    enumerable: true,
    configurable: true,
  });
  const reading = read(ENTERPRISE, envelope);
  assert.ok(reading.ok);
  return reading;
}

test('reads a single of each topic', () => {
  for (const topic of TOPIC_SLUGS) {
    const reading = read({ kind: 'single', topic }, envelopeOf({ kind: 'single', topic }));
    assert.ok(reading.ok);
    assert.deepEqual([...reading.results], [[topic, { ok: true, result: resultOf(topic) }]]);
    assert.equal(reading.requestId, REQUEST_ID);
    assert.equal(reading.timestamp, Date.UTC(2026, 0, 15, 12));
    assert.equal(reading.metaNote, null);
  }
  assert.ok(
    read(WILDFIRE, `\ufeff${JSON.stringify(envelopeOf(WILDFIRE))}`).ok,
    'a byte order mark is no fault',
  );
});

test('reads both bundles whole, and without avalanche', () => {
  for (const [call, size] of [
    [STANDARD, 18],
    [ENTERPRISE, 37],
  ] as const) {
    const envelope = bundle(call);
    for (const more of [0, 1]) {
      const reading = read(call, envelope);
      assert.ok(reading.ok);
      assert.equal(reading.results.size, size - more);
      assert.ok([...reading.results.values()].every(({ ok }) => ok));
      delete envelope.data.topics.avalanche;
    }
  }
});

const HAIL = resultOf('hail');
const ENTRIES: readonly (readonly [entry: unknown, outcome: string])[] = [
  // A value beside an error is never read.
  ...['unavailable', '', 'boom', 7, true, { code: 'unavailable' }, []].flatMap((error) =>
    [HAIL.value, undefined, 'anything'].map(
      (value) => [{ value, details: null, error }, 'unavailable'] as const,
    ),
  ),
  // There is nothing, which is no failure.
  [{ error: 'unavailable', reason: 'no_data' }, 'no_data'],
  [{ ...HAIL, reason: 'no_data' }, 'ok'],
  [{ ...HAIL, error: null }, 'ok'],
  [{ error: null }, 'malformed'],
  // What is malformed is tried for each topic in test/contract/values.test.ts.
  [null, 'malformed'],
  [{ value: 3 }, 'malformed'],
  [{ ...HAIL, details: {} }, 'malformed'],
];

test('a topic of a bundle is answered, unavailable, without data or malformed, and spoils itself only', () => {
  for (const [entry, outcome] of ENTRIES) {
    const { results } = readWith('hail', entry);
    const reading = results.get('hail')!;
    assert.equal(reading.ok ? 'ok' : reading.reason, outcome, JSON.stringify(entry));
    assert.equal([...results.values()].filter(({ ok }) => ok).length, outcome === 'ok' ? 37 : 36);
    if (!reading.ok && outcome === 'malformed')
      assert.match(reading.message, /^hail is malformed: /);
  }
  // A number beyond all numbers is no score.
  const text = JSON.stringify(bundle()).replace('"score":12.5', '"score":1e999');
  const reading = read(ENTERPRISE, text);
  assert.equal(reading.ok && reading.results.get('avalanche')?.ok, false);
});

test('unknown topics are left out', () => {
  const envelope = bundle();
  envelope.data.topics['sharks\u001b[31m'] = resultOf('hail');
  for (let nth = 0; nth < 100; nth++) envelope.data.topics[`new${nth}`] = 1;
  const text = JSON.stringify(envelope).replace(
    '"topics":{',
    '"topics":{"__proto__":{"value":1},"constructor":1,',
  );
  const reading = read(ENTERPRISE, text);
  assert.ok(reading.ok);
  assert.equal(reading.results.size, 37);
});

test('a body that is no answer to the call is malformed, and the message says how', () => {
  const without = (topics: object) => ({ ...bundle(), data: { location: PLACE, topics } });
  const texts = [
    '',
    ' ',
    'null',
    '7',
    '[]',
    '{}',
    '{"data":null,"meta":null}',
    '{"data":',
    '\u0000',
    '\ud800',
  ];
  for (const [call, body, reason, message] of [
    ...texts.flatMap((text) =>
      [WILDFIRE, STANDARD, ENTERPRISE].map((call) => [call, text, null, /./] as const),
    ),
    [ENTERPRISE, without({}), 'shape', /./],
    [ENTERPRISE, without({ sharks: 1 }), 'shape', /./],
    [WILDFIRE, '<!doctype html><h1>Sign in</h1>', 'not-json', /HTML/],
    [WILDFIRE, envelopeOf(STANDARD), null, /./],
    [STANDARD, envelopeOf(WILDFIRE), null, /./],
    [
      WILDFIRE,
      envelopeOf({ kind: 'single', topic: 'hail' }),
      'wrong-topic',
      /hail instead of wildfire/,
    ],
  ] as const) {
    const reading = read(call, body);
    assert.ok(!reading.ok && reading.reason === (reason ?? reading.reason), JSON.stringify(body));
    assert.match(reading.message, message);
    assert.ok(reading.message.length <= 250);
  }
});

test('a place farther than a kilometre is another place', () => {
  const kilometre = 1 / 111.195;
  for (const [lat, ok] of [
    [PLACE.lat, true],
    [PLACE.lat + 0.99 * kilometre, true],
    [PLACE.lat + 1.01 * kilometre, false],
    [-PLACE.lat, false],
    [1e308, false],
    [91, false],
  ] as const) {
    const reading = read(WILDFIRE, envelopeOf(WILDFIRE, { lat, lng: PLACE.lng }));
    assert.equal(reading.ok, ok, String(lat));
    if (!reading.ok) assert.equal(reading.reason, 'elsewhere');
  }
  const swapped = read(WILDFIRE, envelopeOf(WILDFIRE, { lat: PLACE.lng, lng: PLACE.lat }));
  assert.ok(!swapped.ok && swapped.reason === 'elsewhere');
  const onceAround = read(WILDFIRE, envelopeOf(WILDFIRE, { lat: PLACE.lat, lng: PLACE.lng + 360 }));
  assert.ok(
    !onceAround.ok && onceAround.reason === 'elsewhere',
    'as near as can be, and no longitude',
  );
  const dateLine = read(WILDFIRE, envelopeOf(WILDFIRE, { lat: 52, lng: -180 }), {
    lat: 52,
    lng: 180,
  });
  assert.ok(dateLine.ok, 'the date line makes no other place');
});

test('what is wrong is named by its place in the answer, and an error that says nothing is called failed', () => {
  const messageOf = (entry: unknown) => {
    const reading = readWith('hail', entry).results.get('hail');
    return reading?.ok === false ? reading.message : null;
  };
  assert.equal(messageOf({ error: 'unavailable' }), 'hail: unavailable');
  for (const error of ['', 5, { code: 'x' }]) assert.equal(messageOf({ error }), 'hail: failed');
  assert.match(messageOf({ value: { title: 1 } })!, /^hail is malformed: value\.title: /);
  assert.match(messageOf('x')!, /^hail is malformed: expected a map, found a text$/);
});

test('a paid answer is not thrown away for its meta, but noted', () => {
  const { data } = envelopeOf(WILDFIRE);
  for (const meta of [
    undefined,
    null,
    {},
    'x',
    { request_id: 'abc', timestamp: 'yesterday', credit_cost: '1' },
  ]) {
    const reading = read(WILDFIRE, { data, meta });
    assert.ok(reading.ok);
    assert.equal(reading.timestamp, null);
    assert.match(reading.metaNote ?? '', /^meta is malformed: /);
  }
});

test('an answer with a time and no request id is told apart from others by its bytes', () => {
  const { data, meta } = envelopeOf(WILDFIRE);
  const fingerprint = (told: object) => {
    const reading = read(WILDFIRE, { data, meta: { credit_cost: 1, ...told } });
    return reading.ok && reading.fingerprint;
  };
  const { timestamp, request_id } = meta;
  const first = fingerprint({ timestamp });
  assert.match(String(first), /^[0-9a-f]{40}$/);
  assert.notEqual(fingerprint({ timestamp: '2026-01-15T12:00:01.000Z' }), first);
  assert.deepEqual([fingerprint({ timestamp, request_id }), fingerprint({})], [null, null]);
});

test('a malformed single is malformed, one with an error is unavailable', () => {
  const envelope = (result: unknown) => ({
    ...envelopeOf(WILDFIRE),
    data: { topic: 'wildfire', location: PLACE, result },
  });
  const bad = read(WILDFIRE, envelope({ value: 1 }));
  assert.ok(!bad.ok && bad.reason === 'shape');
  const gone = read(WILDFIRE, envelope({ error: 'unavailable' }));
  assert.ok(gone.ok);
  const reading = gone.results.get('wildfire');
  assert.ok(reading?.ok === false && reading.reason === 'unavailable');
});

test('what a service states of its data is kept in one line each, bounded; anything else is no statement and no fault', () => {
  const statedBy = (data: unknown) => {
    const reading = readWith('hail', { ...HAIL, data }).results.get('hail')!;
    return reading.ok ? (reading.stated ?? null) : 'malformed';
  };
  assert.equal(statedBy({ vintages: ['nri 2025'], more: 1 }), '[["nri 2025"],[]]');
  // Rates come from the index on this machine: whatever a service states of them changes nothing.
  for (const loss_rate of [0.0003, 'high', null, {}])
    assert.equal(statedBy({ vintages: ['nri 2025'], loss_rate }), '[["nri 2025"],[]]');
  assert.equal(
    statedBy({ vintages: ['a\n\u001b[31mb', ' '], remarks: ['of\tthe county'] }),
    '[["a [31mb"],["of the county"]]',
  );
  for (const none of [
    undefined,
    null,
    7,
    'nri',
    [],
    {},
    { vintages: 'nri' },
    { vintages: [] },
    { vintages: ['', ' '] },
    { vintages: [7] },
  ]) {
    assert.equal(statedBy(none), null, JSON.stringify(none));
  }
  const many = JSON.parse(statedBy({ vintages: Array(50).fill('x'.repeat(500)) })!);
  assert.deepEqual([many[0].length, many[0][0].length], [12, 80]);
});
