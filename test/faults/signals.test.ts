import assert from 'node:assert/strict';
import { test } from 'node:test';
import { times } from '../tier.ts';
import { signalTrial } from './signal-trial.ts';

test('SIGINT, SIGTERM and SIGHUP at random moments: once, all rows are written and 130 is told; twice, nothing is half done', {
  timeout: 300_000,
}, async (t) => {
  const runs = times({ short: 2, faults: 6 });
  for (let seed = 21; seed < times({ short: 22, faults: 27 }); seed++) {
    const { drawn, signals, wrong } = await signalTrial(t, seed, runs);
    t.diagnostic(`${drawn}: ${signals.join('; ')}`);
    assert.deepEqual(wrong, [], drawn);
  }
});
