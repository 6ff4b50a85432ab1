import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobFile } from '../../src/job/job-file.ts';
import { sumCurrencies } from '../../src/report/figures/sums.ts';
import { type Prepared, prepare } from '../../src/run/prepare.ts';
import { openHarness, places } from '../run/harness.ts';

/** Rows at three places, with the currencies in turn. The first row names none. */
const CODES = ['', 'USD', 'usd', 'CAD', 'EUR', 'USD', 'CAD'];
const ROWS = Array.from({ length: 70 }, (_, row) => ({
  place: row % 3,
  cents: 10 ** (row % 9) + row,
  code: CODES[row % CODES.length]!,
}));

const sumOf = (code: string, place?: number) =>
  ROWS.filter(
    (row) => row.code.toUpperCase() === code && (place === undefined || row.place === place),
  ).reduce((sum, { cents }) => sum + cents, 0);

test('a report of several currencies has the sums of each', async (t) => {
  const harness = await openHarness(t);
  const at = places(3).map((place) => place.join());
  const lines = ROWS.map(
    ({ place, cents, code }) => `${at[place]},${(cents / 100).toFixed(2)},${code}\n`,
  );
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,value,currency\n${lines.join('')}`);
  const preparedWith = async (settings: JobFile): Promise<Prepared> => {
    const prepared = await prepare(
      await harness.open({ topics: ['hail'], order_by: { column: 'value' }, ...settings }),
    );
    t.after(() => prepared[Symbol.dispose]());
    return prepared;
  };
  for (const [currency, shown] of [
    [undefined, 'USD'],
    ['CAD', 'CAD'],
    ['EUR', 'EUR'],
  ] as const) {
    const prepared = await preparedWith(currency === undefined ? {} : { currency });
    const { scan } = prepared.plan;
    const unit = 10 ** (scan.cells.decimals - 2);
    const { totals, valueOfCell, shown: found } = sumCurrencies(prepared.job, scan);
    assert.equal(found, shown);
    for (const { currency, value } of totals) assert.equal(value / unit, sumOf(currency ?? ''));
    assert.deepEqual(
      new Set(totals.map(({ currency }) => currency)),
      new Set([null, 'USD', 'CAD', 'EUR']),
    );
    for (const place of [0, 1, 2]) assert.equal(valueOfCell(place) / unit, sumOf(shown, place));
  }
});
