import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cell } from '../../src/geo/coordinates.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { fc } from '../properties.ts';

/** What the table does, with a Map of texts. */
function countedBy(cells: readonly Cell[]): Map<string, { number: number; rows: number; cell: Cell }> {
  const known = new Map<string, { number: number; rows: number; cell: Cell }>();
  for (const cell of cells) {
    const key = `${cell.lat7},${cell.lng7}`;
    const seen = known.get(key);
    if (seen) seen.rows++;
    else known.set(key, { number: known.size, rows: 1, cell });
  }
  return known;
}

function assertSameAsMap(cells: readonly Cell[]): void {
  const table = new CellTable();
  const numbers = cells.map((cell) => table.add(cell));
  const known = countedBy(cells);
  const numbered = cells.map(({ lat7, lng7 }) => known.get(`${lat7},${lng7}`)!.number);
  assert.deepEqual([numbers, table.size], [numbered, known.size]);
  const expected = [...known.values()];
  const first = expected.map(({ cell }) => cell);
  assert.deepEqual(table.cells(0, cells.length + 1), first);
  for (const { number, rows, cell } of expected) {
    assert.deepEqual([table.numberOf(cell), table.rows(number), table.cell(number)], [number, rows, cell]);
  }
  for (const { number, cell } of expected.toReversed()) assert.equal(table.numberOf(cell), number);
  assert.equal(table.numberOf({ lat7: 900_000_001, lng7: 0 }), -1);
}

const degrees = (most: number) => fc.integer({ min: -most * 1e7, max: most * 1e7 });
const anyCell = fc.tuple(degrees(90), degrees(180)).map(([lat7, lng7]): Cell => ({ lat7, lng7 }));
/** Cells of one street: many are the same, the others differ in their low digits only. */
const step = fc.integer({ min: 0, max: 7 });
const streetCell = fc
  .tuple(step, step)
  .map(([north, west]): Cell => ({ lat7: 340_000_000 + north * 1_000, lng7: -1_180_000_000 - west * 1_000 }));

test('any cells: numbered in the order of first sight, each with its rows', () => {
  fc.assert(fc.property(fc.array(fc.oneof(anyCell, streetCell), { maxLength: 400 }), assertSameAsMap));
});

test('the table grows: more cells than it began with, in a grid and scattered, each seen more than once', () => {
  const grid = Array.from({ length: 20_000 }, (_, i) => ({
    lat7: 250_000_000 + (i % 150) * 1_000,
    lng7: -1_200_000_000 + Math.floor(i / 150) * 1_000,
  }));
  assertSameAsMap([...grid, ...grid.slice(0, 5_000).reverse()]);
  // Steps of 2^32 / golden ratio reach every part of the earth, none of them twice.
  const scattered = Array.from({ length: 5_000 }, (_, i) => ({
    lat7: (Math.imul(i, 0x9e3779b1) % 900_000_000) + 0,
    lng7: (Math.imul(i + 1, 0x9e3779b1) % 1_800_000_000) + 0,
  }));
  assertSameAsMap([...scattered, ...scattered.slice(2_500)]);
});

test('corners of the earth are cells as others are, and exchanged halves are not the same cell', () => {
  const corners = [-900_000_000, 0, 900_000_000].flatMap((lat7) =>
    [-1_800_000_000, 0, 1_800_000_000].map((lng7) => ({ lat7, lng7 })),
  );
  assertSameAsMap([...corners, { lat7: 1, lng7: 2 }, { lat7: 2, lng7: 1 }, ...corners]);
});

test('the value of all cells is summed where the table is full to its last place', () => {
  const table = new CellTable();
  for (let cell = 0; cell < 1024; cell++) table.addAt(cell, 0, 1e9);
  table.roundValues();
  assert.deepEqual([table.decimals, table.total()], [2, 1024 * 1e11]);
});

test('a range of cells ends where the cells end', () => {
  const table = new CellTable();
  for (let lat7 = 0; lat7 < 5; lat7++) table.add({ lat7, lng7: -lat7 });
  const lats = (from: number, to: number) => table.cells(from, to).map(({ lat7 }) => lat7);
  assert.deepEqual([lats(1, 3), lats(3, 99), lats(5, 9), lats(2, 2)], [[1, 2], [3, 4], [], []]);
});
