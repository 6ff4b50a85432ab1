import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgress } from '../../src/run/buy/progress.ts';
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
