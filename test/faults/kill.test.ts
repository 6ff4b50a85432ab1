import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killTrial } from './kill-trial.ts';

/* The longest version, with seeds of the day, is `npm run soak`. */

const KILLS = 12;
/** Runs of one job that are to be killed. */
const RUNS = 8;

test(`a job killed at ${KILLS} random instants ends as an undisturbed one, and the books agree`, {
  timeout: 600_000,
}, async (t) => {
  let kills = 0;
  for (let seed = 5; kills < KILLS; seed++) {
    const trial = await killTrial(t, seed, RUNS);
    t.diagnostic(`${trial.drawn}; killed at ${trial.kills.join(', ')}; ${trial.unknown.credits} credits unknown`);
    assert.deepEqual(trial.wrong, [], trial.drawn);
    kills += trial.kills.length;
  }
});
