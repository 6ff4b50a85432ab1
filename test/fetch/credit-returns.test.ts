import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreditReturns } from '../../src/fetch/credit-returns.ts';
import { MovedClock, settled } from './clocks.ts';

function setUp() {
  const clock = new MovedClock();
  const start = clock.now();
  const given: [afterMs: number, credits: number][] = [];
  const returns = new CreditReturns(clock, (credits) => given.push([clock.now() - start, credits]));
  return { clock, given, returns, add: (afterMs: number, credits: number) => returns.add(start + afterMs, credits) };
}

test('credits come back in the order in which they fall due, whatever the order in which they were spent', async () => {
  const { clock, given, returns, add } = setUp();
  for (const afterMs of [300, 100, 200, 400, 250, 50]) add(afterMs, afterMs);
  add(100, 1);
  await settled();
  assert.equal(clock.sleeping, 1, 'one sleeper for all');
  // One that is due before what is slept for wakes the sleeper.
  add(25, 25);
  await settled();
  for (let ms = 0; ms < 500; ms += 25) await clock.move(25);
  assert.deepEqual(given, [
    [25, 25],
    [50, 50],
    [100, 101],
    [200, 200],
    [250, 250],
    [300, 300],
    [400, 400],
  ]);
  await returns.close();
});

test('what fell due together, or was slept through, comes back at once', async () => {
  const { clock, given, returns, add } = setUp();
  add(10, 1);
  add(20, 2);
  add(5_000, 4);
  await clock.move(60_000);
  assert.deepEqual(given, [[60_000, 7]]);
  add(60_500, 8);
  await clock.move(500);
  assert.deepEqual(given.slice(1), [[60_500, 8]]);
  await returns.close();
});

test('closed, it gives nothing back, takes nothing in and leaves no timer', async () => {
  const { clock, given, returns, add } = setUp();
  add(10, 1);
  await returns.close();
  add(20, 2);
  assert.equal(clock.sleeping, 0);
  await clock.move(100);
  assert.deepEqual(given, []);
});
