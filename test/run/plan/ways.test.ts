import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forecast } from '../../../src/run/plan/forecast.ts';
import type { Price } from '../../../src/run/plan/prices.ts';
import { BODY_BYTES, weigh } from '../../../src/run/plan/spending.ts';

const forecast: Forecast = { fits: true, minutes: 0, periods: 1, finishBy: 0 };
const price: Price = {
  calls: { single: 7, standard: 5, enterprise: 3 },
  credits: 187,
  retryCredits: 0,
  unobtainable: new Map(),
};
const dollars = (available: number, withinAllowance: number, overageRate: number | null) =>
  weigh(price, { available, withinAllowance, overageRate }, forecast).overageDollars;

test('a way is weighed by all its calls, and by the bytes of each kind', () => {
  const way = weigh(price, { available: 1_000, withinAllowance: 1_000, overageRate: null }, forecast);
  assert.equal(way.calls, 15);
  assert.equal(way.bytes, 7 * BODY_BYTES.single + 5 * BODY_BYTES.standard + 3 * BODY_BYTES.enterprise);
  assert.deepEqual([way.price, way.forecast, way.overageDollars], [price, forecast, 0]);
});

test('overage is paid for what lies beyond the allowance and is bought in this period, in whole cents', () => {
  assert.equal(dollars(1_000, 187, 0.04), 0);
  assert.equal(dollars(1_000, 184, 0.04), 0.12);
  assert.equal(dollars(150, 100, 0.04), 2, 'no more than may be spent now');
  assert.equal(dollars(1_000, 0, 0.05), 9.35);
  assert.equal(dollars(1_000, 0, null), 0);
});
