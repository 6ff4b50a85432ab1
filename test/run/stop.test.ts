import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { limitReached, rowsAreDone, storeMovedStop } from '../../src/run/stop.ts';

test('a run that ends at a limit says which, and how much of it may have been charged for nothing', () => {
  const lost = ': 1 call without a usable answer may have cost 15 of them';
  for (const [budget, creditsSpent, callsUnknown, reason, message] of [
    [40, 0, 0, 'budget', 'Budget (40 credits) is too small for even one location.'],
    [40, 30, 0, 'budget', 'The budget of 40 credits is reached.'],
    [40, 15, 1, 'budget', `The budget of 40 credits is reached${lost}.`],
    [40, 0, 1, 'budget', `The budget of 40 credits is reached${lost}.`],
    [null, 30, 0, 'limit', "The run's limit of 40 credits (the plan and its retries) is reached."],
    [90, 30, 1, 'limit', `The run's limit of 40 credits (the plan and its retries) is reached${lost}.`],
  ] as const) {
    const progress = { creditsSpent, callsUnknown, creditsUnknown: 15 * callsUnknown };
    assert.deepEqual(limitReached({ budget }, { budget: 40 }, progress), { reason, message, resumeAfter: null });
  }
  assert.equal(rowsAreDone(1).message, 'The limit of 1 row is reached.');
  const moved = storeMovedStop(new PerilbookError('STORE_MOVED', 'The store was moved', 'Open it again.'));
  assert.deepEqual([moved.reason, moved.message], ['store_moved', 'The store was moved. Open it again.']);
});
