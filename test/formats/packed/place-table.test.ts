import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { test } from 'node:test';
import {
  makePlaceTable,
  type PlaceTable,
  placeFinder,
  placeWriter,
  takeBlocks,
} from '../../../src/formats/packed/place-table.ts';
import { openUnnamed } from '../../../src/rows/files/temporary-files.ts';
import { fc } from '../../properties.ts';

const PATTERN = Buffer.from(Array.from({ length: 251 }, (_, at) => at));

const bytesOf = (place: number, size: number): Buffer =>
  Buffer.alloc(size, PATTERN.subarray(place % 200));

/** Puts places by turns of two writers. @returns why they do not use the file */
function fill(table: PlaceTable, sizes: readonly number[]): (string | null)[] {
  const writers = [placeWriter(table), placeWriter(table)];
  for (const [place, size] of sizes.entries()) {
    const writer = writers[place % 2]!;
    writer.reserve(size);
    writer.room.bytes.set(bytesOf(place, size), writer.room.at);
    writer.end(place, size);
  }
  return writers.map((writer) => {
    const left = writer.flush();
    takeBlocks(table, left);
    return left.problem;
  });
}

function assertFound(table: PlaceTable, sizes: readonly number[], order: readonly number[]): void {
  const find = placeFinder(table);
  for (const place of order) {
    const { bytes, from } = find(place);
    const size = sizes[place]!;
    assert.ok(bytes.subarray(from, from + size).equals(bytesOf(place, size)), `place ${place}`);
  }
}

test('places are found in memory, in the file and beyond a block, in any order', () => {
  const file = openUnnamed();
  const size = fc.oneof(
    { weight: 20, arbitrary: fc.nat({ max: 2_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: 900_000, max: 2_300_000 }) },
  );
  const shape = fc.record({
    sizes: fc.array(size, { minLength: 1, maxLength: 20 }),
    megabytes: fc.nat({ max: 3 }),
    hasFile: fc.boolean(),
    step: fc.constantFrom(1, 7, 11),
  });
  fc.assert(
    fc.property(shape, ({ sizes, megabytes, hasFile, step }) => {
      const table = makePlaceTable(sizes.length, megabytes * 2 ** 20, hasFile ? file : null);
      assert.deepEqual(fill(table, sizes), [null, null]);
      assertFound(table, sizes, [...sizes.keys()]);
      const order = Array.from(sizes, (_, at) => (at * step) % sizes.length);
      assertFound(table, sizes, order);
    }),
    { numRuns: 30 },
  );
  closeSync(file);
});

test('many small places are read from the file, in its order and in another', () => {
  const file = openUnnamed();
  const sizes = Array.from({ length: 20_000 }, (_, place) => place % 300);
  const table = makePlaceTable(sizes.length, 2 ** 20, file);
  fill(table, sizes);
  assert.equal(table.more.size, 0);
  assertFound(table, sizes, [...sizes.keys()]);
  assertFound(
    table,
    sizes,
    Array.from(sizes, (_, at) => (at * 7_919) % sizes.length),
  );
  closeSync(file);
});

test('what does not fit on the disk stays in memory, and that is told', {
  skip: process.platform === 'win32' && 'no /dev/full',
}, () => {
  const full = openSync('/dev/full', 'w');
  const sizes = Array.from({ length: 9_000 }, () => 400);
  const table = makePlaceTable(sizes.length, 2 ** 20, full);
  for (const problem of fill(table, sizes)) assert.match(String(problem), /ENOSPC/);
  assertFound(table, sizes, [...sizes.keys()]);
  closeSync(full);
});
