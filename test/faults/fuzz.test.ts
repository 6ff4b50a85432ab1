import assert from 'node:assert/strict';
import test from 'node:test';
import { fuzzBooks, fuzzJobFiles, fuzzPlans } from './fuzz.ts';

/** Bounded for every day; SOAK=1 tries twenty times as many. */
const TIMES = process.env.SOAK === '1' ? 20 : 1;

for (const [name, fuzz, runs] of [
  ['books of text', fuzzBooks, 400],
  ['job files', fuzzJobFiles, 800],
  ['approved plans', fuzzPlans, 800],
] as const) {
  test(`${name} with bytes that are not theirs: each is taken or refused with a reason`, async (t) => {
    const { trials, taken } = await fuzz(runs * TIMES);
    t.diagnostic(`${trials} trials, ${taken} taken`);
    assert.ok(trials >= runs && taken > 0 && taken < trials);
  });
}
