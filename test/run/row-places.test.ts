import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PerilbookError } from '../../src/base/errors.ts';
import { ColumnTypes } from '../../src/run/scan/column-types.ts';
import type { KeptColumn, Layout } from '../../src/run/scan/layout.ts';
import { asDiskFull, otherRows } from '../../src/run/scan/numbers-of-rows.ts';
import { RowPlaces } from '../../src/run/scan/row-places.ts';

const CHUNK = 256 * 1024;

test('each row keeps its place, in memory or in the temporary file, wherever reading begins', () => {
  for (const [inMemory, rows] of [
    [1, 3.5 * CHUNK],
    [1, 3 * CHUNK],
    [2, 2 * CHUNK],
  ] as const) {
    using places = new RowPlaces(inMemory);
    const isUnlocated = (row: number) => row % 7 === 3;
    for (let row = 0; row < rows; row++) {
      if (isUnlocated(row)) places.addUnlocated('unreadable', row % 2 === 0 ? 'even' : 'odd');
      else places.addCell(row);
    }
    assert.equal(places.rows, rows);
    const cells = 10 * CHUNK;
    // The first of them is row 3.
    const expected = (row: number) => (isUnlocated(row) ? cells + (row % 2 === 0 ? 1 : 0) : row);
    for (const [from, step] of [
      [0, rows],
      [CHUNK + 5, CHUNK - 1],
      [rows - 1, 1],
    ] as const) {
      const read = places.placesFrom(cells, from);
      for (let at = from; at < rows; at += step) {
        const wrong = read(Math.min(step, rows - at)).findIndex(
          (place, i) => place !== expected(at + i),
        );
        assert.equal(
          wrong,
          -1,
          `${inMemory} chunks, ${rows} rows, from ${from}: row ${at + wrong}`,
        );
      }
      assert.throws(() => read(1), { code: 'INPUT_UNREADABLE', message: /more than the \d+ rows/ });
    }
    places[Symbol.dispose]();
    assert.throws(() => places.placesFrom(cells)(1), { code: 'INPUT_UNREADABLE' });
  }
});

test('the reasons of rows without a location are counted; beyond 16,384 of them one is for all others', () => {
  using places = new RowPlaces();
  for (let reason = 0; reason < 16_384 + 2; reason++)
    places.addUnlocated('unreadable', `${reason}`);
  places.addUnlocated('unreadable', '5');
  const { unlocated } = places;
  assert.deepEqual([unlocated.length, unlocated[5]!.rows], [16_385, 2]);
  assert.deepEqual(unlocated[16_384], {
    finding: 'unreadable',
    note: 'The row cannot be read.',
    rows: 2,
  });
  assert.deepEqual([...places.placesFrom(100)(16_387)].slice(-4), [16_483, 16_484, 16_484, 105]);
});

test('a finding is replaced where there is one; a file that was changed is refused', () => {
  using places = new RowPlaces();
  places.addUnlocated('empty', 'none');
  places.replaceFinding('swapped', 'outside_us');
  assert.deepEqual(places.unlocated, [{ finding: 'empty', note: 'none', rows: 1 }]);
  places.replaceFinding('empty', 'outside_us');
  assert.deepEqual(places.unlocated, [
    { finding: 'outside_us', note: 'The place is outside the US.', rows: 1 },
  ]);
  for (const code of ['ENOSPC', 'EFBIG', 'EDQUOT']) {
    const error = asDiskFull(Object.assign(new Error('write'), { code })) as PerilbookError;
    assert.match(
      `${error.code} ${error.message}`,
      /^INPUT_UNREADABLE The temporary folder is full/,
    );
  }
  const other = Object.assign(new Error('write'), { code: 'EIO' });
  assert.equal(asDiskFull(other), other);
  const { message, context } = otherRows('a.csv', 5, 4);
  assert.deepEqual(
    [message, context],
    ['a.csv has 5 rows now, where 4 were scanned', { file: 'a.csv' }],
  );
});

/** The types after some rows of latitude, longitude, a value, a currency, and columns that stay. */
function typed(
  rows: readonly (readonly string[])[],
  kept: readonly string[] = [],
  isPair = false,
): ColumnTypes {
  const stays = kept.map((type, at) => ({ name: `k${at}`, type, keeps: 4 + at }) as KeptColumn);
  const types = new ColumnTypes({
    columns: [0, 1, 2, 3],
    values: 1,
    kept: stays,
    pair: isPair ? {} : null,
  } as unknown as Layout);
  for (const row of rows) types.note(row);
  return types;
}

test('a column is of numbers, counts or times where every text is, as each format writes it', () => {
  const wanted = ['number', 'count', 'time', 'text', 'point'];
  for (const [texts, types] of [
    ['1 -1 0 12.5 123456789.12345 4.2e-7 1234567890123456', 'number'],
    // Written again, these numbers would have another text.
    ['1 0.50', ''],
    ['1.123456789012345678', ''],
    ['NaN', ''],
    ['1,5', ''],
    ['1 -2147483648 2147483647', 'number count'],
    ['1 2147483648', 'number'],
    ['1  3', 'number count'],
    ['\t5', ''],
    ['1 01', ''],
    ['a1', ''],
    ['1a', ''],
    ['999.12345678901234', ''],
    ['1000.12345678901234', ''],
    ['1000.00000000000001', ''],
    ['2026-01-31T23:59:59Z 2026-01-31T23:59:59.123Z 2026-01-31T23:59:59.1Z', 'time'],
    ['x2026-01-31T23:59:59Z', ''],
    ['2026-01-31T23:59:59Zx', ''],
    ['2026-01-31T23:59:59Z 5', ''],
  ] as const) {
    for (const order of [texts.split(' '), texts.split(' ').toReversed()]) {
      const rows = order.map((text) => ['', '', '', '', ...wanted.map(() => text)]);
      const found = typed(rows, wanted);
      // Two parts of a file have the types of both.
      const one = typed(rows.slice(0, 1), wanted);
      one.add(typed(rows.slice(1), wanted).types);
      const expected = wanted.map((type) => (types.split(' ').includes(type) ? type : 'text'));
      for (const kept of [found.kept('point'), one.kept('point')])
        assert.deepEqual(
          kept.map(({ type }) => type),
          expected,
          texts,
        );
    }
  }
});

const MIXED = ['41.5', '1'];

test('location and value are numbers where there is any, and a comma is the decimal mark where no point is', () => {
  const numbers = (...rows: string[][]) => [...typed(rows).numbers()];
  assert.deepEqual(numbers(['1', '2.5', ''], ['', '3', '']), [0, 1]);
  assert.deepEqual(numbers(['x', '2.5', '7', '9']), [1, 2]);
  for (const [rows, isPair, mark] of [
    [[['40,5', '-99,5']], false, 'comma'],
    [[['40,5', '-99.5']], false, 'point'],
    [[['40,5', '1'], MIXED], false, 'point'],
    [[['40', '-99', '1,5']], false, 'point'],
    [[['40,5', '40,5']], true, 'point'],
    [[['40.5', '-99.5']], false, 'point'],
    [[], false, 'point'],
  ] as const) {
    assert.equal(typed(rows, [], isPair).decimal(), mark, JSON.stringify(rows));
    const added = typed([]);
    added.add(typed(rows).types);
    if (!isPair) assert.equal(added.decimal(), mark);
  }
  const decimals = typed([], ['number', 'count', 'time']);
  assert.deepEqual(decimals.columns, [0, 1, 2, 3, 4, 5, 6]);
  const note = (at: number, ...numbers: number[]) =>
    decimals.noteDecimals(at, numbers, new Uint8Array(numbers.length).fill(1));
  for (const at of [4, 5, 6]) note(at, 7);
  decimals.noteDecimals(5, [7.5, 7], Uint8Array.of(0, 1));
  const types = () => decimals.kept('point').map(({ type }) => type);
  assert.deepEqual([types(), decimals.decimal()], [['number', 'count', 'text'], 'point']);
  note(5, 7, 7.5);
  note(0, 7);
  assert.deepEqual([types(), [...decimals.numbers()]], [['number', 'text', 'text'], [0]]);
  const other = typed([]);
  other.add(decimals.types);
  assert.deepEqual([...other.numbers()], [0]);
  decimals.note(['', '40,5']);
  assert.equal(decimals.decimal(), 'comma');
  note(0, 40.5);
  assert.equal(decimals.decimal(), 'point');
});
