import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contractPrice } from '../../../src/contract/credits.ts';
import { TOPIC_SLUGS } from '../../../src/contract/topics.ts';
import { ASSUMED_CALL_MS, callPace, callTimes, forecast } from '../../../src/run/plan/forecast.ts';
import { purchasesFor, reachedBy } from '../../../src/run/plan/reach.ts';
import { BODY_BYTES, weigh } from '../../../src/run/plan/spending.ts';
import { CellTable } from '../../../src/run/scan/cell-table.ts';
import { TopicSets, topicSet } from '../../../src/store/answers/topic-set.ts';

const calls = (kind: 'single' | 'standard', times: readonly number[]) =>
  times.map((ms) => ({ kind, ms }));

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
  const times = {
    ms: { single: 100, standard: 400, enterprise: 2_000 },
    measured: new Set(['single'] as const),
  };
  assert.deepEqual(callPace({ single: 30, standard: 10, enterprise: 0 }, 180, times, 8), {
    ...{ msPerCall: 175, msPerCredit: 7_000 / 8 / 180, measured: false },
  });
  assert.equal(callPace({ single: 30, standard: 0, enterprise: 0 }, 30, times, 8).measured, true);
  const none = callPace({ single: 0, standard: 0, enterprise: 0 }, 0, times, 8);
  assert.deepEqual([none.msPerCall, none.msPerCredit], [0, 0]);
});

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
    assert.deepEqual(
      made,
      { fits, minutes, periods, finishBy },
      `${credits} ${JSON.stringify(account)}`,
    );
  }
});

test('a way is weighed by its calls and their bytes; overage is paid for what is bought beyond the allowance now, in whole cents', () => {
  const calls = { single: 7, standard: 5, enterprise: 3 };
  const price = { calls, credits: 187, retryCredits: 0, unobtainable: new Map() };
  const until = forecast(187, starter, now);
  const bytes = 7 * BODY_BYTES.single + 5 * BODY_BYTES.standard + 3 * BODY_BYTES.enterprise;
  for (const [available, withinAllowance, overageRate, overageDollars] of [
    [1_000, 187, 0.04, 0],
    [1_000, 184, 0.04, 0.12],
    // No more than may be spent now.
    [150, 100, 0.04, 2],
    [1_000, 0, 0.05, 9.35],
    [1_000, 0, null, 0],
  ] as const) {
    const way = weigh(price, { available, withinAllowance, overageRate }, until);
    assert.deepEqual(way, { price, calls: 15, bytes, forecast: until, overageDollars });
  }
});

test('cells are bought in order as far as credits reach, cheaper ones after one that is too dear; all that then lack nothing are counted', () => {
  const singles = {
    ...{ standard: new Set<never>(), enterprise: new Set<never>() },
    credits: contractPrice,
    most: contractPrice,
    bundles: false,
    singles: () => true,
  };
  const cells = new CellTable();
  const missing = new TopicSets(4);
  // They lack so many topics of a credit each; the first is worth 1, the next 2.
  for (const [cell, count] of [0, 4, 7, 2].entries()) {
    cells.add({ lat7: cell, lng7: 0 }, cell + 1);
    missing.set(cell, topicSet(TOPIC_SLUGS.slice(0, count)));
  }
  const demand = {
    cells,
    missing,
    order: [1, 2, 3],
    priceList: { ...singles, optimize: 'credits' as const },
  };
  const reach = reachedBy(
    { ...demand, creditsPerMinute: 300, msPerCredit: 0 },
    purchasesFor(demand, 6),
  );
  const complete = { cells: 3, value: 1 + 2 + 4 };
  assert.deepEqual(reach, { credits: 6, cells: 2, value: 4 + 2, minutes: 0, complete });
});
