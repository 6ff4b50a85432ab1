import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from '../../../src/run/plan/forecast.ts';
import { fc } from '../../properties.ts';

const now = Date.UTC(2026, 0, 30, 12);
const starter = { available: 10_000, perPeriod: 10_000, creditsPerMinute: 300, anniversaryDay: 31 };

test('what fits into the first minute takes none', () => {
  assert.deepEqual(forecast(300, starter, now), { fits: true, minutes: 0, periods: 1, finishBy: now });
  assert.deepEqual(forecast(0, starter, now), { fits: true, minutes: 0, periods: 0, finishBy: now });
});

test('the rate limit makes minutes', () => {
  assert.deepEqual(forecast(301, starter, now), { fits: true, minutes: 1, periods: 1, finishBy: now + 60_000 });
  assert.equal(forecast(9_000, starter, now).minutes, 29);
  assert.deepEqual(
    [10_000, 10_001].map((credits) => forecast(credits, starter, now).fits),
    [true, false],
  );
});

test('calls that take longer than the minute limit make the minutes', () => {
  // 54,072 calls of 426 ms, 8 at once.
  const plenty = { available: 100_000, perPeriod: 100_000, creditsPerMinute: 60_000, anniversaryDay: 31 };
  const slow = forecast(54_072, plenty, now, 426 / 8);
  assert.deepEqual(slow, { fits: true, minutes: 48, periods: 1, finishBy: now + 48 * 60_000 });
  assert.equal(forecast(9_000, starter, now, 426 / 8).minutes, 29, 'the minute limit is slower');
  assert.equal(forecast(9_000, { ...starter, available: 3_000 }, now, 600).minutes, 30 + 60, 'each period');
});

test('what does not fit goes on at the next anniversaries: 31 January, then 28 February', () => {
  const twice = forecast(10_300, starter, now);
  assert.deepEqual(twice, { fits: false, minutes: 33, periods: 2, finishBy: Date.UTC(2026, 0, 31) });
  const thrice = forecast(20_301, starter, now);
  assert.deepEqual(
    [thrice.periods, thrice.finishBy, thrice.minutes],
    [3, Date.UTC(2026, 1, 28) + 60_000, 33 + 33 + 1],
    'each period has its own minutes',
  );
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
  const never = { fits: false, minutes: 1, periods: null, finishBy: null };
  assert.deepEqual(forecast(301, { ...starter, available: 0, perPeriod: 0 }, now), never);
  assert.deepEqual(forecast(301, { ...starter, available: 300, perPeriod: -5 }, now), never);
});

test('what takes more than a hundred years is never done', () => {
  const slow = { ...starter, available: 0, perPeriod: 1 };
  assert.equal(forecast(1_200, slow, now).periods, 1_200);
  const never = { fits: false, minutes: 4, periods: null, finishBy: null };
  assert.deepEqual(forecast(1_201, slow, now), never);
});

test('periods and the day of finishing agree with a naive clock that goes day by day', () => {
  const day = 86_400_000;
  fc.assert(
    fc.property(
      fc.record({
        credits: fc.nat({ max: 3_000 }),
        available: fc.nat({ max: 500 }),
        perPeriod: fc.integer({ min: 20, max: 400 }),
        anniversaryDay: fc.integer({ min: 1, max: 31 }),
        today: fc.integer({ min: 0, max: 3_650 }),
      }),
      ({ credits, available, perPeriod, anniversaryDay, today }) => {
        const start = Date.UTC(2024, 0, 1) + today * day;
        // Each morning: is it an anniversary? Then the allowance is whole again. Whatever is there is spent at once.
        let left = credits;
        let periods = 0;
        let at = start;
        for (let credit = available; ; at += day) {
          const date = new Date(at);
          const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
          if (at > start && date.getUTCDate() === Math.min(anniversaryDay, last)) credit = perPeriod;
          const spent = Math.min(credit, left);
          if (spent > 0) periods++;
          left -= spent;
          credit -= spent;
          if (left === 0) break;
        }
        const said = forecast(credits, { available, perPeriod, creditsPerMinute: 1e9, anniversaryDay }, start);
        assert.deepEqual([said.periods, said.finishBy, said.fits], [periods, at, credits <= available]);
      },
    ),
  );
});
