import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseValue, valueColumns } from '../../src/job/scan/value.ts';
import { fc } from '../properties.ts';

const tiv = { kind: 'tiv' } as const;

test('the value of a row is the sum of the columns of OED or CEDE, else the column called TIV', () => {
  const columns = (names: readonly string[]) => valueColumns(names, tiv, 'book.csv');
  assert.deepEqual(columns(['id', 'BuildingTIV', 'ContentsTIV', 'TIV']), [1, 2]);
  assert.deepEqual(columns(['BuildingValue', 'lat', 'timeelementvalue']), [0, 2]);
  assert.deepEqual(columns(['id', 'tiv', 'lat']), [1]);
  assert.deepEqual(columns(['TIV', 'lat']), [0]);
  assert.throws(() => columns(['id', 'value']), { code: 'INPUT_COLUMNS', hint: /--order-by COLUMN/ });
});

test('a value column that is not there is refused with the name that was meant', () => {
  const order = { kind: 'column', column: 'Premum', direction: 'desc' } as const;
  assert.throws(() => valueColumns(['id', 'Premium'], order, 'book.csv'), { message: /did you mean Premium/ });
  assert.deepEqual(valueColumns(['id', 'PREMUM'], order, 'book.csv'), [1]);
  assert.deepEqual(valueColumns(['premum', 'id'], order, 'book.csv'), [0]);
});

test('values: digits, with thousands and a dollar or without; nothing is 0, anything else is no number', () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ['', 0],
    [' 1250000 ', 1_250_000],
    ['1,250,000', 1_250_000],
    ['$1,250,000.50', 1_250_000.5],
    ['-$3', -3],
    ['1e6', 1_000_000],
    ['1,25', null],
    ['1.250.000', null],
    ['n/a', null],
    ['.', null],
    ['1e999', null],
  ];
  for (const [text, value] of cases) assert.equal(parseValue(text), value, text);
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (value) => {
      assert.equal(parseValue(String(value)), value);
      assert.equal(parseValue(value.toLocaleString('en-US')), value);
    }),
  );
});
