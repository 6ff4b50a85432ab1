import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from '../../src/plan/forecast.ts';

const now = Date.UTC(2026, 0, 30, 12);
const starter = { available: 10_000, perPeriod: 10_000, creditsPerMinute: 300, anniversaryDay: 31 };

test('what fits into the first minute takes none', () => {
  assert.deepEqual(forecast(300, starter, now), { fits: true, minutes: 0, periods: 1, finishBy: now });
  assert.deepEqual(forecast(0, starter, now), { fits: true, minutes: 0, periods: 0, finishBy: now });
});

test('the rate limit makes minutes', () => {
  assert.deepEqual(forecast(301, starter, now), { fits: true, minutes: 1, periods: 1, finishBy: now + 60_000 });
  assert.equal(forecast(9_000, starter, now).minutes, 29);
});

test('what does not fit goes on at the next anniversaries: 31 January, then 28 February', () => {
  const twice = forecast(10_300, starter, now);
  assert.deepEqual(twice, { fits: false, minutes: 33, periods: 2, finishBy: Date.UTC(2026, 0, 31) });
  const thrice = forecast(20_301, starter, now);
  assert.deepEqual([thrice.periods, thrice.finishBy], [3, Date.UTC(2026, 1, 28) + 60_000]);
});

test('a period that is used up counts for nothing', () => {
  assert.deepEqual(forecast(100, { ...starter, available: 0 }, now), {
    fits: false,
    minutes: 0,
    periods: 1,
    finishBy: Date.UTC(2026, 0, 31),
  });
});

test('an allowance that the reserve eats never suffices', () => {
  assert.deepEqual(forecast(100, { ...starter, available: 0, perPeriod: 0 }, now).finishBy, null);
});
