import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { newProgress } from '../../src/run/buy/progress.ts';
import { LONG } from '../tier.ts';
import { openHarness, places } from './harness.ts';

test('a run that waits for the minute that an earlier run has used knows why', LONG, async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 10), factor: 50 });
  harness.writeInput(places(10));
  await harness.run({ topics: ['wildfire'], budget: 10 });
  harness.writeInput(places(12));
  const progress = newProgress();
  await harness.run({ topics: ['wildfire'], budget: 2 }, { progress });
  assert.ok(progress.minuteUsedUntil > 0);
  assert.equal(harness.charged(), 12);
});
