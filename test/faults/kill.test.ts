import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killTrial } from './kill-trial.ts';

/* The long version, with seeds of the day, is `npm run soak`. */

const KILLS = 10;

test(`a job killed at ${KILLS} random instants ends as an undisturbed one, and the books agree`, {
  timeout: 120_000,
}, async (t) => {
  let kills = 0;
  for (let seed = 5; kills < KILLS; seed++) {
    const trial = await killTrial(t, seed);
    t.diagnostic(`${trial.drawn}; killed at ${trial.kills.join(', ')}; ${trial.unknown.credits} credits unknown`);
    assert.deepEqual(trial.wrong, [], trial.drawn);
    kills += trial.kills.length;
  }
});
