import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forecast } from '../../../src/run/plan/forecast.ts';
import { fc } from '../../properties.ts';

const now = Date.UTC(2026, 0, 30, 12);
const starter = { available: 10_000, perPeriod: 10_000, creditsPerMinute: 300, anniversaryDay: 31 };

const MINUTE = 60_000;
const [JANUARY_31, FEBRUARY_28] = [Date.UTC(2026, 0, 31), Date.UTC(2026, 1, 28)];

type Row = readonly [
  credits: number,
  account: Partial<typeof starter>,
  of: readonly [fits: boolean, minutes: number, periods: number | null, finishBy: number | null],
  msPerCredit?: number,
];

test('the minutes, the billing periods and the end of a purchase', () => {
  const plenty = { available: 100_000, perPeriod: 100_000, creditsPerMinute: 60_000 };
  const rows: readonly Row[] = [
    [0, {}, [true, 0, 0, now]],
    // The first minute is there at once.
    [300, {}, [true, 0, 1, now]],
    [301, {}, [true, 1, 1, now + MINUTE]],
    [9_000, {}, [true, 29, 1, now + 29 * MINUTE]],
    [10_000, {}, [true, 33, 1, now + 33 * MINUTE]],
    [10_001, {}, [false, 33, 2, JANUARY_31]],
    [10_300, {}, [false, 33, 2, JANUARY_31]],
    // Each period has its own minutes.
    [20_301, {}, [false, 33 + 33 + 1, 3, FEBRUARY_28 + MINUTE]],
    [100, { available: 0 }, [false, 0, 1, JANUARY_31]],
    // The reserve eats the allowance.
    [301, { available: 0, perPeriod: 0 }, [false, 1, null, null]],
    [301, { available: 300, perPeriod: -5 }, [false, 1, null, null]],
    // A hundred years, and more.
    [1_200, { available: 0, perPeriod: 1 }, [false, 0, 1_200, Date.UTC(2125, 11, 31)]],
    [1_201, { available: 0, perPeriod: 1 }, [false, 4, null, null]],
    // 54,072 calls of 426 ms, 8 at once; then a slower minute limit; then calls that are slow in each period.
    [54_072, plenty, [true, 48, 1, now + 48 * MINUTE], 426 / 8],
    [9_000, {}, [true, 29, 1, now + 29 * MINUTE], 426 / 8],
    [9_000, { available: 3_000 }, [false, 30 + 60, 2, JANUARY_31 + 60 * MINUTE], 600],
  ];
  for (const [credits, account, [fits, minutes, periods, finishBy], msPerCredit] of rows) {
    const made = forecast(credits, { ...starter, ...account }, now, msPerCredit);
    assert.deepEqual(made, { fits, minutes, periods, finishBy }, `${credits} ${JSON.stringify(account)}`);
  }
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
