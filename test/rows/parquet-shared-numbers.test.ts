import assert from 'node:assert/strict';
import { test } from 'node:test';
import { columnMemory, type NumberColumn } from '../../src/rows/parquet/column-builder.ts';
import { numberValues, reusableArrays } from '../../src/rows/parquet/encode.ts';
import { decodeHybrid } from '../../src/rows/parquet/hybrid.ts';
import { fc } from '../properties.ts';

/** The values of a column as a reader gets them. */
function readBack({ dictionary, encode }: ReturnType<typeof numberValues>, count: number) {
  const bytes = Buffer.concat(encode(0, count));
  const doubles = (from: Buffer) =>
    Array.from({ length: from.length / 8 }, (_, at) => from.readDoubleLE(8 * at));
  if (dictionary === null) return doubles(bytes);
  const entries = doubles(dictionary.bytes);
  assert.equal(entries.length, dictionary.count);
  return Array.from(decodeHybrid(bytes, 1, bytes[0]!, count), (index) => entries[index]!);
}

test('values that rows share are those of the rows, with a dictionary and where too many differ', () => {
  const kinds = new Set<boolean>();
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: -1, max: 60 }), { minLength: 1, maxLength: 60 }),
      fc.array(fc.option(fc.nat()), { minLength: 1, maxLength: 90 }),
      (shared, drawn) => {
        const ids = Uint32Array.from(drawn, (number) => (number ?? 0) % shared.length);
        const rows = Uint32Array.from(drawn.keys()).filter((row) => drawn[row] !== null);
        const read = (of: Uint32Array, into: Float64Array) =>
          into.set(Array.from(of, (id) => shared[id]!));
        const unused = new Float64Array(ids.length);
        const column: NumberColumn = {
          ...{ kind: 'number', name: 'rate', values: unused, present: null, nulls: 0 },
          shared: { ids, count: shared.length, read },
        };
        const isFull = rows.length === drawn.length;
        const filled = { count: rows.length, rows: isFull ? null : rows };
        const stored = numberValues(column, filled, reusableArrays());
        const expected = Array.from(rows, (row) => shared[ids[row]!]!);
        assert.deepEqual(readBack(stored, rows.length), expected);
        kinds.add(stored.dictionary !== null);
        const distinct = new Set(expected);
        if (stored.dictionary !== null) assert.equal(stored.dictionary.count, distinct.size);
        if (distinct.size === 0) return;
        // Readers skip row groups by these bounds.
        assert.equal(stored.least!.readDoubleLE() + 0, Math.min(...distinct));
        assert.equal(stored.greatest!.readDoubleLE(), Math.max(...distinct));
      },
    ),
    { numRuns: 300 },
  );
  assert.deepEqual(kinds, new Set([true, false]));
});

test('the memory of a column is used again by the next row group, if that is not longer', () => {
  const { ids, numbers } = columnMemory();
  for (const memoryOf of [ids, numbers]) {
    const [first, same, shorter, longer] = [10, 10, 9, 11].map((rows) => memoryOf(0, rows));
    assert.deepEqual(
      [same, shorter].map((array) => array!.buffer === first!.buffer),
      [true, true],
    );
    assert.deepEqual([longer!.length, memoryOf(1, 10).buffer === first!.buffer], [11, false]);
  }
});
