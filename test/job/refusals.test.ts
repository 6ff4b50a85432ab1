import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standBetween } from './between.ts';
import { column, openDesk, places } from './desk.ts';

/** Answers of frameworks and gateways that never saw the service: none has a code of the service's. */
const FOREIGN: readonly (readonly [string, number, unknown])[] = [
  ['no such route', 404, { statusCode: 404, error: 'Not Found', message: 'Route GET:/v1 not found' }],
  ['no such route, in other words', 404, { timestamp: '2026-03-15T12:00:00Z', status: 404, error: 'Not Found' }],
  ['a gateway that is being set up', 421, { error: 'Misdirected Request' }],
  ['a lock', 423, { error: 'Locked' }],
  ['too early', 425, { error: 'Too Early' }],
  ['a bill that was not paid', 402, { error: 'Payment Required' }],
];

for (const [name, status, body] of FOREIGN) {
  test(`a passing refusal that only names its status is no fact about a place: ${name}`, async (t) => {
    const desk = await openDesk(t, { factor: 500 });
    desk.book(places(6));
    let asked = 0;
    const baseUrl = await standBetween(t, desk.url, (_, answer) =>
      ++asked > 2 && asked <= 5 ? { status, body: JSON.stringify(body) } : answer,
    );
    await desk.run({ topics: ['wildfire'], sockets: 1 }, { baseUrl });
    const again = await desk.run({ topics: ['wildfire'], sockets: 1 }, { baseUrl });
    assert.equal(again.state, 'complete');
    assert.deepEqual(column(desk.output(), 'hazard_status'), Array(6).fill('ok'));
  });
}

for (const [name, status, body] of [
  ['the service’s own code', 404, { error: { code: 'NOT_FOUND', message: 'nothing is known here' } }],
  ['a request that cannot be', 400, { statusCode: 400, error: 'Bad Request', message: 'lat is out of range' }],
] as const) {
  test(`a refusal of the place is a fact about it: ${name}`, async (t) => {
    const desk = await openDesk(t, { factor: 500 });
    desk.book(places(6));
    let asked = 0;
    const baseUrl = await standBetween(t, desk.url, (_, answer) =>
      ++asked === 3 ? { status, body: JSON.stringify(body) } : answer,
    );
    await desk.run({ topics: ['wildfire'], sockets: 1 }, { baseUrl });
    const statuses = column(desk.output(), 'hazard_status');
    assert.deepEqual(statuses.toSorted(), ['ok', 'ok', 'ok', 'ok', 'ok', 'rejected']);
  });
}

test('a key that no header can carry is refused before any call is in the ledger', async (t) => {
  const desk = await openDesk(t);
  desk.book(places(30));
  const bad = { secret: 'abc def “x”', fingerprint: 'abc', scopes: null };
  await assert.rejects(desk.run({ topics: 'natural' }, { keys: [bad] }), { code: 'KEY_REFUSED' });
  assert.deepEqual(await desk.ledger(), { charged: 0, unknown: 0, open: 0 });
  assert.deepEqual(await desk.store.runs(), []);
});
