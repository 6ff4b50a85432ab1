import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalTrial } from './signal-trial.ts';

test('SIGINT, SIGTERM and SIGHUP at random moments: once, all rows are written and 130 is told; twice, nothing is half done', {
  timeout: 90_000,
}, async (t) => {
  for (const seed of [21, 22]) {
    const { drawn, signals, wrong } = await signalTrial(t, seed);
    t.diagnostic(`${drawn}: ${signals.join('; ')}`);
    assert.deepEqual(wrong, [], drawn);
  }
});
