import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASSUMED_CALL_MS, callPace, callTimes } from '../../../src/run/plan/call-times.ts';

const calls = (kind: 'single' | 'standard', times: readonly number[]) => times.map((ms) => ({ kind, ms }));

test('a kind of call takes the median of those that were made, or what is assumed', () => {
  const { ms, measured } = callTimes(
    // Below zero: the clock was set back.
    [...calls('single', [-5, 90, 0, 120_000, 110, 95, -5]), ...calls('standard', [1, 2])],
    ASSUMED_CALL_MS,
  );
  assert.deepEqual(ms, { ...ASSUMED_CALL_MS, single: 95 });
  assert.deepEqual([...measured], ['single']);
});

test('the pace of calls of several kinds', () => {
  const times = { ms: { single: 100, standard: 400, enterprise: 2_000 }, measured: new Set(['single'] as const) };
  assert.deepEqual(callPace({ single: 30, standard: 10, enterprise: 0 }, 180, times, 8), {
    ...{ msPerCall: 175, msPerCredit: 7_000 / 8 / 180, measured: false },
  });
  assert.equal(callPace({ single: 30, standard: 0, enterprise: 0 }, 30, times, 8).measured, true);
  const none = callPace({ single: 0, standard: 0, enterprise: 0 }, 0, times, 8);
  assert.deepEqual([none.msPerCall, none.msPerCredit], [0, 0]);
});
