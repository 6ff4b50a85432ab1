import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longTrial } from './long-trial.ts';

/* 100,000 cells and an hour at full rate are parts of `npm run soak`. */

test('a job of three periods: waits for each quota, spends none of them beyond its end, and buys nothing twice', {
  timeout: 300_000,
}, async (t) => {
  const { periods, wrong } = await longTrial(t, 10_000);
  t.diagnostic(periods.map(({ start, charged, quota }) => `${start}: ${charged} of ${quota}`).join('; '));
  assert.deepEqual(wrong, []);
});
