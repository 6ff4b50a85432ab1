import assert from 'node:assert/strict';
import test from 'node:test';
import { creditsAtMost, creditsWithin, nearestBound } from '../../../src/run/plan/spending.ts';

test('time bounds what a run buys, and is no promise of what it does not spend', () => {
  const bounds = { run: 100, quota: 80, time: 10 };
  assert.equal(creditsWithin(bounds), 10);
  assert.equal(creditsAtMost(bounds), 80);
  assert.equal(creditsAtMost({ ...bounds, run: 70 }), 70);
});

test('of equal bounds the first is told that a user can change', () => {
  const all = { run: 10, quota: 10, time: 10 };
  assert.equal(nearestBound(all, 10), null);
  assert.equal(nearestBound(all, 11), 'run');
  assert.equal(nearestBound({ ...all, run: 11 }, 11), 'time');
  assert.equal(nearestBound({ run: 11, quota: 10, time: 11 }, 11), 'quota');
});
