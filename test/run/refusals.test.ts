import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT, exitCodeOfRun } from '../../src/cli/exit-codes.ts';
import { noColor } from '../../src/cli/messages/color.ts';
import { runMessages } from '../../src/cli/messages/run-messages.ts';
import { casesOf } from '../tier.ts';
import { standBetween } from './between.ts';
import { column, openHarness, places } from './harness.ts';

/** Answers that say nothing of a location: some have a code, some only name their status. */
const FOREIGN: readonly (readonly [string, number, unknown])[] = [
  ['no such route', 404, { statusCode: 404, error: 'Not Found', message: 'Route GET:/v1 not found' }],
  ['no such route, with a code', 404, { error: { code: 'NOT_FOUND', message: 'No such route' } }],
  ['a topic that the service does not know', 404, { error: { code: 'UNKNOWN_TOPIC' } }],
  ['a request that cannot be', 400, { statusCode: 400, error: 'Bad Request', message: 'Header too large' }],
  ['a validation', 422, { detail: [{ loc: ['header'], msg: 'field required' }] }],
  ['a conflict', 409, { error: { code: 'CONFLICT' } }],
  ['a gateway that is being set up', 421, { error: 'Misdirected Request' }],
  ['a body that is too large', 413, { error: { code: 'TOO_LARGE' } }],
  ['a rate', 420, { error: { code: 'ENHANCE_YOUR_CALM' } }],
  ['a lock', 423, { error: { code: 'LOCKED' } }],
  ['too early', 425, { error: { code: 'TOO_EARLY' } }],
  ['a client that went', 499, { error: { code: 'CLIENT_CLOSED' } }],
  ['a bill that was not paid', 402, { error: { code: 'PAYMENT_REQUIRED' } }],
  ['a proxy', 407, { error: { code: 'PROXY_AUTH_REQUIRED' } }],
  ['the law', 451, { error: { code: 'UNAVAILABLE_FOR_LEGAL_REASONS' } }],
];

for (const [name, status, body] of casesOf(FOREIGN, ([, status]) => String(Math.floor(status / 10)))) {
  test(`a refusal that passes is no fact about a location: ${status}, ${name}`, async (t) => {
    const harness = await openHarness(t, { factor: 100 });
    harness.writeInput(places(6));
    let asked = 0;
    const baseUrl = await standBetween(t, harness.url, (_, answer) =>
      ++asked > 2 && asked <= 5 ? { status, body: JSON.stringify(body) } : answer,
    );
    const job = { topics: ['wildfire' as const], concurrency: 1 };
    const first = await harness.run(job, { baseUrl });
    assert.equal(first.summary.status.rejected, 0);
    // A refusal that ends a run ends three of them here.
    let again = first;
    for (let run = 0; run < 4 && again.state !== 'complete'; run++) again = await harness.run(job, { baseUrl });
    assert.equal(again.state, 'complete');
    assert.deepEqual(column(harness.output(), 'hazard_status'), Array(6).fill('ok'));
  });
}

for (const [status, does] of [
  [402, /asks for payment \(402 SOME_CODE\).*account/],
  [407, /proxy.*\(407 SOME_CODE\)/],
  [451, /legal reasons \(451 SOME_CODE\).*provider/],
] as const) {
  test(`${status} ends the run at once, with what to do, and nothing is called rejected`, async (t) => {
    const harness = await openHarness(t, { factor: 50 });
    harness.writeInput(places(40));
    let refused = 0;
    const baseUrl = await standBetween(t, harness.url, (_, answer) => {
      refused++;
      return refused > 10 ? { status, body: '{"error":{"code":"SOME_CODE"}}' } : answer;
    });
    const ended = await harness.run({ topics: ['wildfire'], concurrency: 2 }, { baseUrl });
    assert.deepEqual([ended.state, exitCodeOfRun(ended)], ['stopped', EXIT.keyRefused]);
    assert.match(ended.stop?.message ?? '', does);
    assert.ok(refused <= 10 + 2, `${refused - 10} requests after the service refused`);
    const { ok, deferred, rejected } = ended.summary.status;
    assert.deepEqual([rejected, ok + deferred, ok], [0, 40, 10]);
    assert.equal((await harness.ledger()).charged, 10);
  });
}

for (const [status, code] of [
  [422, 'OUTSIDE_COVERAGE'],
  [400, 'invalid-coordinates'],
  [404, 'LocationNotCovered'],
] as const) {
  test(`a refusal of the location is a fact about it: ${status} ${code}`, async (t) => {
    const harness = await openHarness(t, { factor: 50 });
    harness.writeInput(places(6));
    let asked = 0;
    const baseUrl = await standBetween(t, harness.url, (_, answer) =>
      ++asked === 3 ? { status, body: JSON.stringify({ error: { code } }) } : answer,
    );
    const job = { topics: ['wildfire' as const, 'hail' as const], concurrency: 1 };
    const first = await harness.run(job, { baseUrl });
    assert.equal(exitCodeOfRun(first), EXIT.complete);
    const statuses = column(harness.output(), 'hazard_status');
    assert.deepEqual(statuses.toSorted(), ['ok', 'ok', 'ok', 'ok', 'ok', 'rejected']);
    assert.match(harness.output(), new RegExp(`rejects this location \\(${status} ${code}\\)`));
    await harness.run(job, { baseUrl });
    assert.equal(asked, 5 * 2 + 1, 'a location that was refused is asked for again, be it for another topic');
  });
}

test('a run in which every location is rejected ends with exit code 3, again too, until the rejections are forgotten', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(6));
  let isOutside = true;
  const baseUrl = await standBetween(t, harness.url, (_, answer) =>
    isOutside ? { status: 422, body: '{"error":{"code":"OUTSIDE_COVERAGE"}}' } : answer,
  );
  const job = { topics: ['wildfire' as const] };
  for (const run of [1, 2]) {
    const ended = await harness.run(job, { baseUrl });
    assert.deepEqual([ended.summary.status.rejected, exitCodeOfRun(ended)], [6, EXIT.someFailed], `run ${run}`);
    const { next } = runMessages(ended, 'perilbook run x', '/', { width: 100, color: noColor });
    assert.match(next.join(' '), /rejected all 6 .*perilbook cache prune --rejected/);
  }
  isOutside = false;
  assert.equal(await harness.store.forgetRejections(), 6);
  assert.equal(await harness.store.forgetRejections(), 0);
  assert.equal((await harness.run(job, { baseUrl })).summary.status.ok, 6);
});

test('a key that no header can carry is refused before any call is in the ledger', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(30));
  const bad = { secret: 'abc def “x”', fingerprint: 'abc', scopes: null };
  await assert.rejects(harness.run({ topics: 'natural' }, { keys: [bad] }), { code: 'KEY_REFUSED' });
  assert.deepEqual(await harness.ledger(), { charged: 0, unknown: 0, open: 0 });
  assert.deepEqual(await harness.store.runs(), []);
});
