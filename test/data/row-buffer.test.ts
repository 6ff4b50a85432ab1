import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowBuffer } from '../../src/data/tables/row-buffer.ts';

test('a row buffer returns rows by group and in order, and nothing when empty or disposed of', () => {
  using grouped = new RowBuffer();
  for (const [group, row] of [
    [1, 'b'],
    [0, 'é "a"'],
    [1, 'c'],
  ] as const) {
    grouped.add(group, row);
  }
  assert.deepEqual([...grouped.groups()], [['é "a"'], ['b', 'c']]);
  using empty = new RowBuffer();
  assert.deepEqual([...empty.groups()], []);
  const ended = new RowBuffer();
  ended.add(0, 'a');
  ended[Symbol.dispose]();
  ended[Symbol.dispose]();
  assert.deepEqual([...ended.groups()], []);
});
