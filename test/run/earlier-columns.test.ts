import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRowFile } from '../../src/rows/open-row-file.ts';
import { column, type Harness, openHarness } from './harness.ts';

const PLACES: [number, number][] = [
  [40.1, -99.9],
  [40.2, -99.8],
];

/** Buys avalanche and hail for two places and a row without one; gives the output's text. */
async function firstRun(harness: Harness): Promise<string> {
  harness.writeInput([...PLACES, ['n/a' as unknown as number, 1]]);
  await harness.run({ topics: ['hail', 'radon'] });
  return harness.output();
}

const later = (harness: Harness, input: string, output: string, topics: string[]) =>
  harness.run({ input, output, topics: topics as ['hail'] });

const read = (harness: Harness, name: string) => readFileSync(join(harness.folder, name), 'utf8');

test('enriching an output with other topics keeps the columns that were bought, and buys only the new ones', async (t) => {
  const harness = await openHarness(t);
  const first = await firstRun(harness);
  const spent = harness.charged();
  await later(harness, 'output.csv', 'second.csv', ['wildfire']);
  assert.equal(harness.charged(), spent + PLACES.length);
  const second = read(harness, 'second.csv');
  const [head, again] = [first, second].map((text) => text.split('\n')[0]!.split(','));
  assert.deepEqual(again!.slice(0, head!.length), head);
  assert.deepEqual(again!.slice(head!.length), [
    'wildfire_rating',
    'wildfire_score',
    'wildfire_frequency',
    'wildfire_current',
    'wildfire_historical',
    'wildfire_perimeters',
  ]);
  for (const name of head!.filter((one) => /^(?:id|lat|hail|radon)/.test(one))) {
    assert.deepEqual(column(second, name), column(first, name), name);
  }
  assert.deepEqual(column(second, 'hazard_status'), ['ok', 'ok', 'invalid']);
  assert.notDeepEqual(column(second, 'wildfire_rating'), ['', '', '']);
  // One of the earlier topics again, with a new one: it is refreshed in its place, the others stay.
  await later(harness, 'second.csv', 'third.csv', ['radon', 'drought']);
  const third = read(harness, 'third.csv').split('\n')[0]!.split(',');
  assert.deepEqual(third.slice(0, again!.length), again);
  assert.deepEqual(third.slice(again!.length), ['drought_rating', 'drought_score', 'drought_frequency']);
  assert.equal(harness.charged(), spent + 2 * PLACES.length);
});

test('an edited value stays in a kept column and is written anew in a column of the run', async (t) => {
  const harness = await openHarness(t);
  const first = await firstRun(harness);
  const rating = column(first, 'hail_rating')[1]!;
  const zone = column(first, 'radon_zone')[1]!;
  const lines = first.split('\n');
  lines[2] = lines[2]!.replace(rating, '=mine').replace(`,${zone},`, ',checked,');
  writeFileSync(join(harness.folder, 'edited.csv'), lines.join('\n'));
  await later(harness, 'edited.csv', 'kept.csv', ['radon']);
  assert.deepEqual(column(read(harness, 'kept.csv'), 'hail_rating')[1], '=mine');
  assert.deepEqual(column(read(harness, 'kept.csv'), 'radon_zone'), column(first, 'radon_zone'));
  await later(harness, 'output.csv', 'same.csv', ['radon', 'hail']);
  assert.equal(read(harness, 'same.csv'), first);
});

for (const format of ['ndjson', 'parquet', 'xlsx']) {
  test(`columns of earlier topics stay in ${format}`, async (t) => {
    const harness = await openHarness(t);
    await firstRun(harness);
    const [one, two] = [`one.${format}`, `two.${format}`];
    await harness.run({ topics: ['hail', 'radon'], output: one });
    await later(harness, one, two, ['wildfire']);
    const rowsOf = async (name: string) => {
      const book = await openRowFile(join(harness.folder, name));
      const rows: Record<string, string>[] = [];
      for await (const batch of book.read([...book.columns.keys()])) {
        for (const { fields } of batch)
          rows.push(Object.fromEntries(fields.map((text, i) => [book.columns[i]!, text])));
      }
      return { columns: book.columns, rows };
    };
    const [before, after] = [await rowsOf(one), await rowsOf(two)];
    assert.deepEqual(after.columns.slice(0, before.columns.length), before.columns);
    for (const [i, row] of before.rows.entries()) {
      const { hazard_as_of: _, ...same } = row;
      assert.deepEqual({ ...after.rows[i], ...same }, after.rows[i]);
      assert.equal(after.rows[i]!.wildfire_rating === '', i === 2);
    }
    const typed = await openRowFile(join(harness.folder, two));
    if (format === 'ndjson') assert.match(read(harness, two), /"hail_score":[\d.]+,.*"wildfire_score":[\d.]+/);
    assert.equal(typed.columns.includes('radon_caption'), true);
  });
}
