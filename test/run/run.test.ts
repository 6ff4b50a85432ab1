import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepare } from '../../src/run/prepare.ts';
import { newProgress } from '../../src/run/progress.ts';
import { run } from '../../src/run/run-job.ts';
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

test('after some calls the time of a plan is that which they took, by the ledger', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(4_800));
  await harness.run({ topics: 'hail', budget: 24 });
  const { latency, minutes, this_run } = await harness.plan({ topics: 'hail' });
  assert.ok(latency!.measured && latency!.seconds !== 0.4, 'not what is assumed');
  const expected = Math.round((4_776 * latency!.seconds) / 8 / 60);
  assert.deepEqual([minutes, this_run.minutes], [expected, expected]);
});
