import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signalTrial } from './signal-trial.ts';

test('SIGINT, SIGTERM and SIGHUP at random moments: once, all rows are written and 130 is told; twice, nothing is half done', {
  timeout: 300_000,
}, async (t) => {
  const runs = 6;
  for (let seed = 21; seed < 25; seed++) {
    const { drawn, signals, wrong } = await signalTrial(t, seed, runs);
    t.diagnostic(`${drawn}: ${signals.join('; ')}`);
    assert.deepEqual(wrong, [], drawn);
  }
});
