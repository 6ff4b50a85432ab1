import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PlaceLosses } from '../../src/formats/packed/place-losses.ts';
import { countLosses } from '../../src/report/figures/loss-facts.ts';
import { sumCurrencies } from '../../src/report/figures/sums.ts';
import { prepare } from '../../src/run/prepare.ts';
import { openHarness } from '../run/harness.ts';

const COUNTIES = 23;

test('the largest losses are named by county and by place, and the other counties are added up', async (t) => {
  const harness = await openHarness(t);
  // A degree apart: each is in a county of its own. The last one has no rates, and a place of two rows the least value.
  const values = [50, 50, ...Array.from({ length: COUNTIES }, (_, at) => 100 * (at + 2))];
  const rows = values.map((value, at) => `40,${Math.max(0, at - 1) - 101},${value}`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,price\n${rows.join('\n')}\n`);
  using prepared = await prepare(
    await harness.open({
      topics: ['hail', 'wildfire'],
      order_by: { column: 'price' },
      losses: true,
    }),
  );
  const rates = new Float64Array(new SharedArrayBuffer(4 * 8));
  rates.set([Number.NaN, Number.NaN, 0.01, 0.03]);
  const numberOf = new Uint32Array(new SharedArrayBuffer(4 * (COUNTIES + 1)));
  numberOf.fill(1, 0, COUNTIES);
  const losses: PlaceLosses = { topics: 2, rates, numberOf, hasAmounts: true };
  const currencies = sumCurrencies(prepared.job, prepared.plan.scan);
  const { counties, locations, perils, ...all } = countLosses(prepared, losses, currencies)!;
  assert.deepEqual(all, { valueName: 'price', annualLoss: 1_104, value: 27_600, allValue: 30_000 });
  assert.deepEqual(
    perils.map(({ topic, annualLoss }) => [topic, annualLoss]),
    [
      ['wildfire', 828],
      ['hail', 276],
    ],
  );
  assert.deepEqual([counties.count, counties.largest.length], [COUNTIES, 20]);
  assert.deepEqual(
    [counties.largest[0], counties.largest[19], counties.others],
    [
      { name: 'Somerset, Pennsylvania', locations: 1, value: 2_300, annualLoss: 92 },
      { name: 'Jewell, Kansas', locations: 1, value: 400, annualLoss: 16 },
      { name: '3 others', locations: 4, value: 600, annualLoss: 24 },
    ],
  );
  assert.deepEqual(
    locations.map(({ cell, annualLoss }) => [cell, annualLoss]),
    Array.from({ length: 10 }, (_, at) => [COUNTIES - 1 - at, 92 - 4 * at]),
  );
  assert.deepEqual(locations[0]!.peril, { topic: 'wildfire', annualLoss: 69 });
});
