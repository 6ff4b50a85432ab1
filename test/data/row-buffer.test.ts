import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowBuffer } from '../../src/data/tables/row-buffer.ts';

test('a row buffer returns rows in order, alone or by group, and nothing when empty or disposed of', () => {
  const filled = () => {
    const buffer = new RowBuffer();
    for (const [group, row] of [
      [1, 'b'],
      [0, 'é "a"'],
      [1, 'c'],
    ] as const) {
      buffer.add(group, row);
    }
    return buffer;
  };
  using plain = filled();
  assert.deepEqual([...plain.rows()], ['b', 'é "a"', 'c']);
  using grouped = filled();
  assert.deepEqual([...grouped.groups()], [['é "a"'], ['b', 'c']]);
  using empty = new RowBuffer();
  assert.deepEqual([[...empty.rows()], [...empty.groups()]], [[], []]);
  const ended = filled();
  ended[Symbol.dispose]();
  ended[Symbol.dispose]();
  assert.deepEqual([...ended.rows()], []);
});
