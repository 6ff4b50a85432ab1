import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JobFile } from '../../src/job/settings/job-file.ts';
import { type Harness, openHarness, places } from './harness.ts';

const ROWS = 12_000;

/** Rows of every kind, with fields that hold line ends: 3 MB, so that there are several segments. */
function messyRows(): string {
  const known = places(30);
  const filler = `"line one\nline ""two""\r\n${'x'.repeat(200)}"`;
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const [lat, lng] = known[(index * 7919) % known.length]!;
    if (index % 997 === 0) return `${index},n/a,${lng},${filler},1`;
    if (index % 1_499 === 0) return `${index},48.85,2.35,,12`;
    if (index % 2_003 === 0) return `${index},${lat}`;
    if (index % 501 === 0) return `${index},${lat},${lng},${filler},many`;
    return `${index},${lat},${lng},${filler},${index % 9}.25`;
  });
  return `id,lat,lng,text,tiv\n${rows.join('\n')}`;
}

async function outcome(harness: Harness, rowThreads: number, settings: JobFile) {
  const { summary } = await harness.run(
    { input: 'messy.csv', topics: ['hail', 'tornado'], ...settings },
    { rowThreads },
  );
  const { rows, located, invalid, outside_us, findings, columns, status, credits_spent } = summary;
  return {
    output: readFileSync(join(harness.folder, 'output.csv'), 'utf8'),
    figures: { rows, located, invalid, outside_us, findings, columns, status, credits_spent },
  };
}

test('threads read and write the same rows, findings and sums as one thread does', async (t) => {
  const harness = await openHarness(t);
  writeFileSync(join(harness.folder, 'messy.csv'), messyRows());
  const settings: JobFile = { order_by: 'tiv' };
  const bought = await harness.run({ input: 'messy.csv', topics: ['hail', 'tornado'], ...settings }, { rowThreads: 2 });
  assert.equal(bought.summary.credits_spent, harness.charged());
  const [one, two] = [await outcome(harness, 0, settings), await outcome(harness, 2, settings)];
  assert.equal(two.figures.rows, ROWS);
  assert.equal(two.figures.credits_spent, 0);
  assert.deepEqual(two.figures, one.figures);
  assert.ok(two.output === one.output, 'the same bytes');
  // An output is an input again: its own columns are dropped, and its values are compared with the store.
  writeFileSync(join(harness.folder, 'messy.csv'), two.output);
  const [again, andAgain] = [await outcome(harness, 0, settings), await outcome(harness, 2, settings)];
  assert.deepEqual(andAgain.figures, again.figures);
  assert.ok(andAgain.output === again.output, 'the same bytes again');
});
