import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobFile } from '../../src/job/job-file.ts';
import { madeParquet } from '../rows/parquet-fixture.ts';
import { type Harness, openHarness, places } from './harness.ts';

const ROWS = 6_000;

/** Rows of every kind, with fields that hold line ends: 1.5 MB, three segments. */
function messyRows(): string {
  const known = places(30);
  const filler = `"line one\nline ""two""\r\n${'x'.repeat(200)}"`;
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const [north, lng] = known[(index * 7919) % known.length]!;
    // Five locations of one place, which is told from others by its fourth decimal.
    const lat = (north + 0.0003 + (index % 5) * 0.00001).toFixed(5);
    if (index % 997 === 0) return `${index},n/a,${lng},${filler},1`;
    if (index % 1_499 === 0) return `${index},48.85,2.35,,12`;
    if (index % 2_003 === 0) return `${index},${lat}`;
    if (index % 501 === 0) return `${index},${lat},${lng},${filler},many`;
    return `${index},${lat},${lng},${filler},${index % 9}.25`;
  });
  return `id,lat,lng,text,tiv\n${rows.join('\n')}`;
}

async function outcome(harness: Harness, rowThreads: number, settings: JobFile) {
  const job: JobFile = { input: 'messy.csv', output: 'output.csv', topics: ['hail', 'tornado'], ...settings };
  const { summary } = await harness.run(job, { rowThreads });
  const { rows, located, invalid, outside_us, findings, columns, status, credits_spent } = summary;
  return {
    output: readFileSync(join(harness.folder, job.output!), 'latin1'),
    figures: { rows, located, invalid, outside_us, findings, columns, status, credits_spent },
  };
}

test('threads read and write the same rows, findings and sums as one thread does', async (t) => {
  const harness = await openHarness(t);
  writeFileSync(join(harness.folder, 'messy.csv'), messyRows());
  const settings: JobFile = { order_by: 'tiv' };
  const bought = await harness.run({ input: 'messy.csv', topics: ['hail', 'tornado'], ...settings }, { rowThreads: 1 });
  assert.equal(bought.summary.credits_spent, harness.charged());
  const [one, two] = [await outcome(harness, 0, settings), await outcome(harness, 1, settings)];
  assert.equal(two.figures.rows, ROWS);
  assert.equal(two.figures.credits_spent, 0);
  assert.deepEqual(two.figures, one.figures);
  assert.ok(two.output === one.output, 'the same bytes');
  // Without values a scan reads degrees as numbers.
  const [byTexts, byNumbers] = [await outcome(harness, 0, {}), await outcome(harness, 1, {})];
  assert.deepEqual(byNumbers.figures, byTexts.figures);
  assert.ok(byNumbers.output === byTexts.output, 'the same bytes without values');
  // An output is an input again: its own columns are dropped, and its values are compared with the store.
  writeFileSync(join(harness.folder, 'messy.csv'), two.output);
  const [again, andAgain] = [await outcome(harness, 0, settings), await outcome(harness, 1, settings)];
  assert.deepEqual(andAgain.figures, again.figures);
  assert.ok(andAgain.output === again.output, 'the same bytes again');
});

test('threads read and write the same row groups as one thread does', async (t) => {
  const harness = await openHarness(t);
  const known = places(30);
  const list = (axis: 0 | 1) => `[${known.map((place) => place[axis]).join()}]`;
  const lat = `CASE WHEN i % 997 = 0 THEN NULL WHEN i % 991 = 0 THEN 'nan'::DOUBLE WHEN i % 983 = 0 THEN 1e-9
    WHEN i % 977 = 0 THEN 4000 WHEN i % 971 = 0 THEN 48.85 ELSE ${list(0)}[1 + i % 30] + 0.0003 + (i % 5) * 0.00001 END`;
  for (const type of ['DOUBLE', 'VARCHAR']) {
    const query = `SELECT i AS id, (${lat})::${type} AS lat, (${list(1)}[1 + i % 30])::${type} AS lng,
      CASE WHEN i % 887 = 0 THEN NULL WHEN i % 883 = 0 THEN -5 WHEN i % 881 = 0 THEN 9007199254740993 ELSE i END AS tiv FROM range(0, ${ROWS}) r(i)`;
    await madeParquet(query, join(harness.folder, 'messy.parquet'), 'row_group_size 2048');
    const settings: JobFile = { input: 'messy.parquet', output: 'output.parquet' };
    await harness.run({ ...settings, topics: ['hail', 'tornado'] });
    const [one, two] = [await outcome(harness, 0, settings), await outcome(harness, 1, settings)];
    assert.equal(two.figures.rows, ROWS);
    assert.ok(two.figures.invalid > 15 && two.figures.located > 5_900);
    assert.deepEqual(two.figures, one.figures, type);
    assert.ok(two.output === one.output, 'the same bytes');
  }
});
