import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  COUNTED_MS,
  isUsedUp,
  RecentCalls,
  refusal,
  type Usage,
} from '../../src/store/ledger/admission.ts';

const NOW = 1_000_000;
const LIMITS = { periodLimit: 1_000, creditsPerMinute: 10, budget: 1_000 };
const NOTHING = { open: 0, charged: 0, unknown: 0 };

/** The usage of an account whose calls settled at these times, with 10 credits each. */
function usageOf(...settledAt: number[]): Usage {
  const recent = new RecentCalls();
  recent.add(settledAt.map((at) => ({ run: 1, settledAt: at, credits: 10 })));
  const period = {
    ...NOTHING,
    exhaustedAt: null,
    exhaustedLeft: null,
    elsewhere: null,
    correctedAt: null,
  };
  return {
    period: period as unknown as Usage['period'],
    run: NOTHING as unknown as Usage['run'],
    inFlight: 0,
    recent,
  };
}

test('a call that leaves the minute at this very moment is waited for a millisecond, not for nothing', () => {
  const wait = (settledAt: number) => refusal(usageOf(settledAt), LIMITS, 1, NOW, 'key');
  assert.deepEqual(wait(NOW - COUNTED_MS + 500), { outcome: 'wait', for: 'minute', ms: 500 });
  // A wait of 0 or less would ask the ledger again at once, in a loop.
  for (const settledAt of [NOW - COUNTED_MS, NOW - COUNTED_MS - 5])
    assert.deepEqual(wait(settledAt), { outcome: 'wait', for: 'minute', ms: 1 });
});

test('calls that left the window are in no sum, and are not waited for', () => {
  const recent = new RecentCalls();
  const calls = Array.from({ length: 10 }, (_, at) => ({ run: at % 2, settledAt: at, credits: 1 }));
  recent.add(calls);
  for (let until = 0; until < 10; until++) {
    recent.forget(until);
    const left = calls.slice(until + 1);
    assert.deepEqual([...recent.calls()], left);
    assert.equal(recent.credits, left.length);
    assert.equal(recent.creditsOf(1), left.filter(({ run }) => run === 1).length);
    assert.equal(recent.latest, left.length > 0 ? 9 : 0);
  }
  recent.add(calls.slice(8));
  assert.deepEqual([...recent.calls()], calls.slice(8));
});

test('a used-up quota holds under the limit and for the keys of which the service said so', () => {
  const period = usageOf().period;
  const said = { ...period, exhaustedAt: NOW, exhaustedTerms: { limit: 1_000, key: 'a' } };
  assert.equal(isUsedUp(said, 1_000), true);
  assert.equal(isUsedUp(said, 1_000, ['b', 'a']), true);
  assert.equal(isUsedUp(said, 1_000, ['b']), false, 'another key');
  assert.equal(isUsedUp(said, 2_000, ['a']), false, 'another limit');
  assert.equal(isUsedUp({ ...period, exhaustedAt: NOW }, 2_000, ['b']), true, 'nothing is known');
  assert.equal(isUsedUp({ ...said, exhaustedAt: null }, 1_000, ['a']), false);
});
