import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEnvelope } from '../../src/client/envelope.ts';
import type { Call } from '../../src/contract/credits.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { ENTERPRISE, envelopeOf, PLACE, REQUEST_ID, received, resultOf, STANDARD, WILDFIRE } from './answers.ts';

const read = (call: Call, body: unknown, place = PLACE) =>
  readEnvelope(call, place, received(200, body), (_, result) => result as never);

type Bundle = { data: { location: unknown; topics: Record<string, unknown> }; meta: unknown };
const bundle = (call = ENTERPRISE) => envelopeOf(call) as Bundle;

function readWith(topic: string, entry: unknown) {
  const envelope = bundle();
  Object.defineProperty(envelope.data.topics, topic, { value: entry, enumerable: true, configurable: true });
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
});

test('reads both bundles whole', () => {
  for (const [call, size] of [
    [STANDARD, 18],
    [ENTERPRISE, 37],
  ] as const) {
    const reading = read(call, envelopeOf(call));
    assert.ok(reading.ok);
    assert.equal(reading.results.size, size);
    assert.ok([...reading.results.values()].every(({ ok }) => ok));
  }
});

test('a bundle without avalanche is a bundle', () => {
  const envelope = bundle(STANDARD);
  delete envelope.data.topics.avalanche;
  const reading = read(STANDARD, envelope);
  assert.ok(reading.ok);
  assert.equal(reading.results.size, 17);
  assert.ok(!reading.results.has('avalanche'));
});

for (const error of ['unavailable', '', 'boom', 7, true, { code: 'unavailable' }, []]) {
  test(`a value beside error ${JSON.stringify(error)} is never read`, () => {
    for (const value of [resultOf('hail').value, undefined, 'anything']) {
      const reading = readWith('hail', { value, details: null, error }).results.get('hail');
      assert.ok(reading?.ok === false);
      assert.equal(reading.reason, 'unavailable');
    }
  });
}

test('an error with the reason no_data says that there is nothing, not that something failed', () => {
  const reading = readWith('ozone', { error: 'unavailable', reason: 'no_data' }).results.get('ozone');
  assert.ok(reading?.ok === false && reading.reason === 'no_data');
  assert.equal(readWith('ozone', { ...resultOf('ozone'), reason: 'no_data' }).results.get('ozone')?.ok, true);
});

test('an error that is null is no error, and the value must be whole', () => {
  assert.equal(readWith('hail', { ...resultOf('hail'), error: null }).results.get('hail')?.ok, true);
  assert.equal(readWith('hail', { error: null }).results.get('hail')?.ok, false);
});

// What is malformed is tried for each topic in test/contract/values.test.ts.
for (const [topic, entry] of [
  ['hail', null],
  ['hail', { value: 3 }],
  ['hail', { ...resultOf('hail'), details: {} }],
  ['park', { value: -1, details: null }],
  ['ozone', { value: { measurement: { value: 1, unit: 'ppm' }, rating: 'Good', timestamp: '2026-01-15T11:00:00Z' } }],
] as const) {
  test(`a malformed ${topic} spoils itself only: ${JSON.stringify(entry)}`, () => {
    const { results } = readWith(topic, entry);
    const reading = results.get(topic);
    assert.ok(reading?.ok === false);
    assert.equal(reading.reason, 'malformed');
    assert.match(reading.message, new RegExp(`^${topic} is malformed: `));
    assert.equal([...results.values()].filter(({ ok }) => ok).length, 36);
  });
}

test('a number beyond all numbers is no score', () => {
  const text = JSON.stringify(bundle()).replace('"score":12.5', '"score":1e999');
  const reading = read(ENTERPRISE, text);
  assert.ok(reading.ok);
  assert.equal(reading.results.get('avalanche')?.ok, false);
});

test('unknown topics are left out', () => {
  const envelope = bundle();
  envelope.data.topics['sharks\u001b[31m'] = resultOf('hail');
  for (let nth = 0; nth < 100; nth++) envelope.data.topics[`new${nth}`] = 1;
  const text = JSON.stringify(envelope).replace('"topics":{', '"topics":{"__proto__":{"value":1},"constructor":1,');
  const reading = read(ENTERPRISE, text);
  assert.ok(reading.ok);
  assert.equal(reading.results.size, 37);
});

test('a bundle with no topic that is known is malformed', () => {
  for (const topics of [{}, { sharks: 1 }]) {
    const reading = read(ENTERPRISE, { ...bundle(), data: { location: PLACE, topics } });
    assert.ok(!reading.ok && reading.reason === 'shape');
  }
});

for (const body of ['', ' ', 'null', '7', '[]', '{}', '{"data":null,"meta":null}', '{"data":', '\u0000', '\ud800']) {
  test(`${JSON.stringify(body)} is malformed`, () => {
    for (const call of [WILDFIRE, STANDARD, ENTERPRISE]) {
      const reading = read(call, body);
      assert.ok(!reading.ok);
      assert.ok(reading.message.length > 0 && reading.message.length <= 250);
    }
  });
}

test('HTML is called HTML', () => {
  const reading = read(WILDFIRE, '<!doctype html><h1>Sign in</h1>');
  assert.ok(!reading.ok && reading.reason === 'not-json');
  assert.match(reading.message, /HTML/);
});

test('a bundle in place of a single, and the other way round, is malformed', () => {
  assert.equal(read(WILDFIRE, envelopeOf(STANDARD)).ok, false);
  assert.equal(read(STANDARD, envelopeOf(WILDFIRE)).ok, false);
});

test('another topic than was asked is malformed', () => {
  const reading = read(WILDFIRE, envelopeOf({ kind: 'single', topic: 'hail' }));
  assert.ok(!reading.ok && reading.reason === 'wrong-topic');
  assert.match(reading.message, /hail instead of wildfire/);
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
  assert.ok(!onceAround.ok && onceAround.reason === 'elsewhere', 'as near as can be, and no longitude');
});

test('what is wrong is named by its place in the answer, and an error that says nothing is called failed', () => {
  const messageOf = (entry: unknown) => {
    const reading = readWith('hail', entry).results.get('hail');
    return reading?.ok === false ? reading.message : null;
  };
  assert.equal(messageOf({ error: 'unavailable' }), 'hail: unavailable');
  for (const error of ['', 5, { code: 'x' }]) assert.equal(messageOf({ error }), 'hail: failed');
  assert.match(messageOf({ value: { title: 1 } })!, /^hail is malformed: value\.title: /);
  assert.match(messageOf('x')!, /^hail is malformed: [^:]+: expected object/);
});

test('the date line does not make a place another one', () => {
  assert.ok(read(WILDFIRE, envelopeOf(WILDFIRE, { lat: 52, lng: -180 }), { lat: 52, lng: 180 }).ok);
});

test('a paid answer is not thrown away for its meta, but noted', () => {
  const { data } = envelopeOf(WILDFIRE);
  for (const meta of [undefined, null, {}, 'x', { request_id: 'abc', timestamp: 'yesterday', credit_cost: '1' }]) {
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

test('a byte order mark is no fault', () => {
  assert.ok(read(WILDFIRE, `\ufeff${JSON.stringify(envelopeOf(WILDFIRE))}`).ok);
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
