import assert from 'node:assert/strict';
import test from 'node:test';
import { times } from '../tier.ts';
import { fuzzBooks, fuzzJobFiles, fuzzPlans } from './fuzz.ts';

const TIMES = times({ long: 4, soak: 20 });

for (const [name, fuzz, runs] of [
  ['books of text', fuzzBooks, 200],
  ['job files', fuzzJobFiles, 300],
  ['approved plans', fuzzPlans, 300],
] as const) {
  test(`${name} with bytes that are not theirs: each is taken or refused with a reason`, async (t) => {
    const { trials, taken } = await fuzz(runs * TIMES);
    t.diagnostic(`${trials} trials, ${taken} taken`);
    assert.ok(trials >= runs && taken > 0 && taken < trials);
  });
}
