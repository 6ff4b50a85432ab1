import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHarness, places } from './harness.ts';

const timeout = 300_000;

test('the time of a plan counts how long the calls take, not only the credits of a minute', { timeout }, async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(4_800));
  const planned = await harness.plan({ topics: 'hail' });
  // 100,000 credits a minute allow all at once. 4,800 calls of 0.4 s (assumed), 8 at once: 240 s.
  assert.ok(planned.credits === 4_800 && planned.fits);
  assert.deepEqual([planned.minutes, planned.this_run.minutes, planned.tiers.planned.minutes], [4, 4, 4]);
  assert.deepEqual(planned.latency, { seconds: 0.4, measured: false });
  assert.equal((await harness.plan({ topics: 'hail', concurrency: 2 })).minutes, 16);
  assert.equal((await harness.plan({ topics: 'hail', max_minutes: 2 })).this_run.cells, 2_400, '2 of the 4 minutes');
});

test('after some calls the time is that of this source, by the ledger', { timeout }, async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(4_800));
  await harness.run({ topics: 'hail', budget: 24 });
  const { latency, minutes } = await harness.plan({ topics: 'hail' });
  assert.ok(latency!.measured && latency!.seconds < 0.3, JSON.stringify(latency));
  assert.equal(minutes, Math.round((4_776 * latency!.seconds) / 8 / 60));
});
