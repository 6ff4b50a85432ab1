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
  const value = fc.oneof(fc.constantFrom(Number.NaN, 0), fc.integer({ min: 1, max: 40 }));
  const kinds = new Set<boolean>();
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 60 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 90 }),
      (shared, drawn) => {
        const indexOf = Uint32Array.from(drawn, (number) => number % shared.length);
        const values = Float64Array.from(indexOf, (index) => shared[index]!);
        const rows = Uint32Array.from(values.keys()).filter((row) => !Number.isNaN(values[row]!));
        const unused = new Float64Array(indexOf.length);
        const column: NumberColumn = {
          ...{ kind: 'number', name: 'rate', values: unused, present: null, nulls: 0 },
          shared: { values: Float64Array.from(shared), indexOf },
        };
        const filled = { count: rows.length, rows };
        const stored = numberValues(column, filled, reusableArrays());
        const expected = Array.from(rows, (row) => values[row]!);
        assert.deepEqual(readBack(stored, rows.length), expected);
        kinds.add(stored.dictionary !== null);
        if (stored.dictionary !== null)
          assert.equal(
            stored.dictionary.count,
            new Set(shared.filter((one) => !Number.isNaN(one))).size,
          );
        const all = expected.toSorted((a, b) => a - b);
        if (all.length === 0) return;
        // Readers skip row groups by these bounds.
        assert.ok(stored.least!.readDoubleLE() <= all[0]!);
        assert.ok(stored.greatest!.readDoubleLE() >= all.at(-1)!);
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
