import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobFile } from '../../src/job/job-file.ts';
import { compareWithOutput } from '../../src/report/compare/compare-outputs.ts';
import { makeCellClasses, ratedTopics } from '../../src/report/figures/cell-classes.ts';
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

test('the currency that only the amounts say is that of scan, report and losses, of texts in Parquet too', async (t) => {
  const harness = await openHarness(t);
  const path = (name: string) => join(harness.folder, name);
  const fileOf = (column: string, ...amounts: readonly string[]) => {
    const rows = places(amounts.length).map((place, row) => `${place.join()},"${amounts[row]}",`);
    return `lat,lng,${column},currency\n${rows.join('\n')}\n`;
  };
  const found = async (input: string) => {
    const settings: JobFile = { input, topics: ['hail'], order_by: { column: 'price' } };
    using prepared = await prepare(await harness.open(settings));
    const { scan } = prepared.plan;
    const { shown, totals, valueOfCell } = sumCurrencies(prepared.job, scan);
    const unit = 10 ** scan.cells.decimals;
    const sums = totals.map(({ currency, value }) => [currency, value / unit]);
    const problems = scan.findings.map(({ finding }) => finding);
    return [scan.currency, shown, sums, valueOfCell(0) / unit, problems];
  };
  for (const [amounts, code] of [
    [['€1,000', '2000', '€3,000'], 'EUR'],
    [['£1,000', '£2,000', '£3,000'], 'GBP'],
    [['C$1,000', 'C$2,000', 'CA$3,000'], 'CAD'],
    [['1,000', '2,000', '3,000'], null],
  ] as const) {
    // With a column of currencies without a code, and without such a column.
    const whole = fileOf('price', ...amounts);
    writeFileSync(path('with.csv'), whole);
    writeFileSync(path('bare.csv'), whole.replaceAll(/,(?:currency)?$/gm, ''));
    const all = [code, code, [[code, 6_000]], 1_000, []];
    for (const file of ['with.csv', 'bare.csv']) {
      assert.deepEqual(await found(file), all, `${code} in ${file}`);
      const output = file.replace('csv', 'parquet');
      await harness.run({ input: file, topics: ['wildfire'], output, types: 'text' });
      assert.deepEqual(await found(output), all, `${code} in ${output}`);
    }
  }
});

test('the sign of most amounts decides, wherever they stand, in one thread and beside another', async (t) => {
  const harness = await openHarness(t);
  /** So many rows are looked at before all are read. */
  const first = 1_000;
  const bookOf = (amounts: readonly string[]) => {
    const at = places(amounts.length);
    const rows = amounts.map((amount, row) => `${at[row]!.join()},${amount}\n`);
    writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,price\n${rows.join('')}`);
  };
  const times = (count: number, amount: string) => Array<string>(count).fill(amount);
  const found = async (settings: JobFile = {}, rowThreads = 0) => {
    const asked: JobFile = { topics: ['hail'], order_by: { column: 'price' }, ...settings };
    using prepared = await prepare(await harness.open(asked, { rowThreads }));
    const { scan } = prepared.plan;
    const problems = scan.findings.map(({ finding, rows, firstLine }) => [
      finding,
      rows,
      firstLine,
    ]);
    return [scan.currency, scan.cells.total() / 10 ** scan.cells.decimals, problems];
  };
  const other = (rows: number, line: number) => [['value_in_other_currency', rows, line]];
  bookOf([...times(first, '$1'), ...times(first + 200, '€2')]);
  assert.deepEqual(await found({ currency: 'USD' }), ['USD', 1_000, other(1_200, first + 2)]);
  // To start a thread takes longer than all else.
  for (const rowThreads of [0, 1])
    assert.deepEqual(await found({}, rowThreads), ['EUR', 2_400, other(first, 2)]);
  bookOf([...times(first, '1'), ...times(10, '€2'), '$3']);
  assert.deepEqual(await found(), ['EUR', 1_020, other(1, first + 12)]);
  bookOf([...times(first, '1'), ...times(10, '$2')]);
  assert.deepEqual(await found(), ['USD', 1_020, []]);
  // A row whose currency another column says tells nothing by its sign.
  const at = places(5);
  const rows = ['$1,CAD', '$1,CAD', '$1,CAD', '€5,', '€7,'].map(
    (row, index) => `${at[index]!.join()},${row}\n`,
  );
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,price,currency\n${rows.join('')}`);
  assert.deepEqual((await found())[2], []);
});

test('an earlier output is read as its run read it: in the currency of most of its amounts', async (t) => {
  const harness = await openHarness(t);
  const file = (name: string) => join(harness.folder, name);
  const amounts = [...Array<string>(1_000).fill('$1'), ...Array<string>(1_200).fill('€2')];
  const at = places(amounts.length);
  const rows = amounts.map((amount, row) => `${row},${at[row]!.join()},${amount}\n`);
  writeFileSync(file('input.csv'), `id,lat,lng,price\n${rows.join('')}`);
  const settings: JobFile = { topics: ['hail'], order_by: { column: 'price' }, budget: 10 };
  await harness.run({ ...settings, output: 'earlier.csv' });
  using prepared = await prepare(await harness.open(settings));
  const classes = makeCellClasses(ratedTopics(prepared.job), prepared.plan.scan.groups.size);
  const earlier = { name: 'earlier.csv', input: file('earlier.csv'), parts: null };
  const { currency, before, now } = await compareWithOutput(earlier, prepared, classes);
  assert.deepEqual([currency, before], ['EUR', now]);
  assert.deepEqual(before, {
    rows: amounts.length,
    value: 2_400,
    withoutValue: 1_000,
    otherCurrencies: [],
  });
});
