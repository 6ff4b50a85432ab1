import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeFields } from '../../src/columns/row.ts';
import { CellCache, cachedFields } from '../../src/job/cell-fields.ts';

test('cells come from the cache, or are read once each, in the order asked', async () => {
  const cache = new CellCache(
    completeFields([], false, () => false),
    2,
  );
  for (const cell of [3, 5, 7]) cache.put(cell, () => [`cached ${cell}`]);
  const reads: (readonly number[])[] = [];
  const readCells = async (numbers: readonly number[]) => {
    reads.push(numbers);
    return numbers.map((number) => () => [`read ${number}`]);
  };
  const fields = await cachedFields([7, 3, 1, 7, 5, 3, 1], cache, readCells);
  const texts = ['read 7', 'cached 3', 'read 1', 'read 7', 'cached 5', 'cached 3', 'read 1'];
  assert.deepEqual(
    fields.map((make) => make()[0]),
    texts,
  );
  assert.deepEqual(reads, [[7, 1]]);
  // Rows of one cell share one function: a writer encodes it once.
  assert.equal(fields[0], fields[3]);
});
