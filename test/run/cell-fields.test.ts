import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeFields } from '../../src/columns/row.ts';
import type { Field } from '../../src/contract/answer.ts';
import { placeFields } from '../../src/rows/placed-fields.ts';
import { CellCache } from '../../src/run/write/cell-cache.ts';
import { putCells } from '../../src/run/write/cell-reader.ts';
import { FieldPacker } from '../../src/store/answers/packed-fields.ts';

test('cells come from the cache, or are read once each, in the order asked', async () => {
  const complete = completeFields([], false, () => false);
  const cache = new CellCache(() => complete, 2);
  for (const cell of [3, 5, 7]) cache.put(cell, () => [`cached ${cell}`]);
  const reads: (readonly number[])[] = [];
  const readCells = async (numbers: readonly number[]) => {
    reads.push(numbers);
    return numbers.map((number) => () => [`read ${number}`]);
  };
  const texts: Field[] = [];
  const sink = placeFields((_, fields) => texts.push(...fields));
  const read = await putCells([7, 3, 1, 5], cache, readCells, sink);
  assert.deepEqual(texts, ['read 7', 'cached 3', 'read 1', 'cached 5']);
  assert.deepEqual(reads, [[7, 1]]);
  assert.deepEqual([...read.keys()], [7, 1]);
});

const TEXTS = ['Very High', 'Low'];
const packer = new FieldPacker({ numberOf: (text) => TEXTS.indexOf(text), textOf: (number) => TEXTS[number]! });

test('a sink gets the fields that an array of them has, and no memory is held after a release', () => {
  const complete = completeFields(['hail', 'wildfire'], false, () => false);
  const cache = new CellCache(() => complete);
  const rows: Field[][] = [
    ['Low', 12.5, 0.001, 'Very High', 100, -0.25],
    [null, null, null, 'Low', 1 / 3, 0],
    ['Low', null, 2_000_000, null, 3, 4],
    ['an own text', 1e-7, 300, '2026-03-10T12:00:00.000Z', 0.5, null],
  ];
  for (const [cell, fields] of rows.entries()) {
    const packed = Buffer.from(packer.pack(fields));
    cache.putComplete(cell, { asOf: 1e12 + cell, packed, width: 6, packer, fields: () => fields });
  }
  for (const [cell, fields] of rows.entries()) {
    const taken: Field[] = [];
    const put = (field: Field) => taken.push(field);
    cache.putFields(cell, { put, putMillionths: (count) => put(count / 1e6), putText: put, endPlace: () => {} });
    assert.deepEqual(taken, cache.fields(cell));
    assert.deepEqual(taken.slice(3), fields);
    assert.equal(taken[1], cell === 1 ? 'no data here: hail' : null);
  }
  cache.release();
  assert.equal(cache.has(0), false);
});
