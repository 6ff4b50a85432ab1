import assert from 'node:assert/strict';
import { test } from 'node:test';
import { times } from '../tier.ts';
import { partKillTrial } from './part-kill-trial.ts';

const TRIALS = times({ long: 3, soak: 60 });
/** Processes of one job that are killed, one after the other. */
const ROUNDS = 4;

test(`part files, with one of two processes killed ${TRIALS * ROUNDS} times: every part whole, nothing bought twice`, {
  timeout: 1_800_000,
}, async (t) => {
  for (let seed = 1; seed <= TRIALS; seed++) {
    const trial = await partKillTrial(t, seed, ROUNDS);
    t.diagnostic(`${trial.drawn}; killed at ${trial.kills.join(', ')}`);
    assert.deepEqual(trial.wrong, [], trial.drawn);
  }
});
