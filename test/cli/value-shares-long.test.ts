import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { perilbook, wordsIn } from './command-line.ts';

/** Rows in Nebraska with values whose sum as floating-point numbers depends on the order of the additions. */
function portfolio(rows: number): string {
  const lines = Array.from({ length: rows }, (_, row) => {
    const value = ((row * 7_919) % 100_003) / 100 + row / 10;
    return `${row + 1},${(40.05 + 0.003 * (row % 60)).toFixed(4)},${(-99.95 + 0.003 * (row % 7)).toFixed(4)},${value.toFixed(2)}\n`;
  });
  return `id,lat,lng,TIV\n${lines.join('')}`;
}

test('plan, run, report and terminal give a complete file 100 % of its value, whatever order they add in', async (t) => {
  const folder = folderWith(t, { 'book.csv': portfolio(420) }, 'store.db');
  const words = wordsIn(
    'book.csv -t hail,wildfire --service sample --store store.db -o out.csv --order-by tiv',
  );
  const plan = JSON.parse((await perilbook(['plan', ...words, '--json'], { folder })).stdout);
  assert.deepEqual([plan.this_run.share_of_value, plan.after_run.share_of_value], [1, 1]);
  const ran = await perilbook(['run', ...words, '--json', '--yes', '--report', 'page.html'], {
    folder,
  });
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(JSON.parse(ran.stdout).complete, { rows: 1, value: 1 });
  const page = readFileSync(join(folder, 'page.html'), 'utf8');
  assert.ok(page.includes('<small>of locations, 100 % of value'), /<dt>Answered.*/.exec(page)?.[0]);
  assert.equal(page.search(/[<>&;]99\.9 %/), -1, 'no share is a little less than all');
});
