import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memo } from '../../src/base/memo.ts';

test('results are remembered, and of too many the oldest is forgotten', () => {
  const made: number[] = [];
  const of = (most?: number) => memo((value: number) => made.push(value) && value * 2, most);
  for (const [most, ...again] of [[undefined], [3], [2, 1, 2, 3]]) {
    const double = of(most);
    assert.deepEqual([1, 1, 2, 2, 3, 3, 1, 2, 3].map(double), [2, 2, 4, 4, 6, 6, 2, 4, 6]);
    assert.deepEqual(made.splice(0), [1, 2, 3, ...again]);
  }
});
