import assert from 'node:assert/strict';
import { test } from 'node:test';
import { measureLoad } from '../../../bench/loads.ts';

test('a file whose rows are grouped by site is loaded within a heap of 48 MB', () => {
  // Held in memory, its facilities would take 35 MB beside the program's 21; `npm run bench -- loads` measures 300 MB.
  const { rows, sites } = measureLoad(5, ['--max-old-space-size=48']);
  assert.deepEqual([rows, sites], [7_695, 2_565]);
});
