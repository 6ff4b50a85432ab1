import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { prepare } from '../../src/run/prepare.ts';
import { newProgress } from '../../src/run/progress.ts';
import { run } from '../../src/run/run-job.ts';
import { fakeService } from '../fake-service.ts';
import { openHarness, places } from './harness.ts';

test('an interrupt lets calls in flight land, writes all rows, and the next run goes on', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(200));
  const interruption = new AbortController();
  const progress = newProgress();
  const watch = setInterval(() => progress.calls >= 20 && interruption.abort(), 1);
  t.after(() => clearInterval(watch));
  const ended = await harness.run({ topics: ['wildfire'] }, { interrupt: interruption.signal, progress });
  assert.deepEqual([ended.stop?.reason, ended.state], ['interrupted', 'interrupted']);
  const { ok, deferred } = ended.summary.status;
  assert.ok(ok >= 20 && deferred > 0 && ok + deferred === 200, JSON.stringify(ended.summary.status));
  assert.deepEqual(await harness.ledger(), { charged: ok, unknown: 0, open: 0 });
  assert.equal(harness.charged(), ok);
  assert.equal((await harness.run({ topics: ['wildfire'] })).state, 'complete');
  assert.equal(harness.charged(), 200);
});

test('a plan counts the time that the run has used before it: a short limit promises nothing that is over', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(400));
  const job = { topics: 'wildfire' as const, max_minutes: 0.5 };
  const inTime = await harness.plan(job);
  assert.equal(inTime.this_run.cells, 400);
  // Reading the input took longer than the run may take.
  const context = await harness.open(job);
  harness.clock.moveTo('2026-03-15T12:10:00Z');
  using late = await prepare(context);
  assert.deepEqual([late.plan.window, late.summary.this_run.cells, late.summary.fits], [0, 0, false]);
  const ended = await run(late);
  assert.deepEqual([ended.stop?.reason, ended.summary.credits_spent, harness.charged()], ['time', 0, 0]);
});

/** The credits that are left in the minute, each time that a call is settled. */
function leftInMinute() {
  const progress = newProgress();
  const left: number[] = [];
  let spent = 0;
  Object.defineProperty(progress, 'creditsSpent', {
    get: () => spent,
    set: (credits: number) => {
      spent = credits;
      left.push(progress.minuteLeft!());
    },
  });
  return { progress, left };
}

test('what another run of the store has spent in this minute is taken from the ledger, not from the throttle once more', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 300), factor: 1 });
  const go = async (from: number, to: number) => {
    harness.writeInput(places(to).slice(from));
    const { progress, left } = leftInMinute();
    await harness.run({ topics: ['wildfire'], budget: 100, concurrency: 1 }, { progress });
    return Math.min(...left);
  };
  assert.equal(await go(0, 60), 240);
  // The service counts 60 of the other run; the ledger withholds them.
  assert.equal(await go(60, 63), 297);
});

test('a call that cost nothing gives its credits back to the minute at once', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 300), factor: 1 });
  const { url, script } = await fakeService(t, harness.url);
  script([{ status: 422, body: { error: { code: 'OUTSIDE_COVERAGE' } } }]);
  harness.writeInput(places(4));
  const { progress, left } = leftInMinute();
  await harness.run({ topics: ['wildfire'], concurrency: 1 }, { baseUrl: url, progress });
  assert.deepEqual(left, [299, 299, 299, 299]);
});

test('where the service asks to wait, no other call is sent before', async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  const sentAt: number[] = [];
  const { url, script } = await fakeService(t, harness.url, (_, answer) => {
    sentAt.push(harness.clock.now());
    return answer;
  });
  script([{ requests: [1, 1], status: 429, headers: { 'retry-after': '30' } }]);
  harness.writeInput(places(4));
  const before = harness.clock.now();
  const ended = await harness.run({ topics: ['wildfire'], concurrency: 1 }, { baseUrl: url });
  assert.deepEqual([ended.state, sentAt.length], ['complete', 4]);
  assert.ok(Math.min(...sentAt) - before >= 30_000, `sent after ${Math.min(...sentAt) - before} ms`);
});
