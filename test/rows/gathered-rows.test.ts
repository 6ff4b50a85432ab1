import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Field } from '../../src/contract/answer.ts';
import { listedPlaces, numberedTexts } from '../../src/formats/packed/output-places.ts';
import { FieldPacker } from '../../src/formats/packed/packed-fields.ts';
import {
  type GatheredRows,
  rangesToGather,
  rowGatherer,
} from '../../src/rows/parquet/gathered-rows.ts';
import { fc } from '../properties.ts';

test('the ranges of columns to gather follow each other, also where a row group is large', () => {
  const bands = (columns: number, rows: number) => [...rangesToGather(columns, rows)];
  fc.assert(
    fc.property(fc.nat(120), fc.integer({ min: 1, max: 10_000_000 }), (columns, rows) => {
      let next = 0;
      for (const ranges of bands(columns, rows)) {
        assert.ok(ranges.length > 0);
        for (const { from, to } of ranges) {
          assert.equal(from, next);
          assert.ok(to > from);
          next = to;
        }
      }
      assert.equal(next, columns);
    }),
  );
  assert.equal(bands(57, 122_880).length, 1);
  assert.ok(bands(57, 1_048_576).length > 1);
});

const WIDTH = 14;
const drawnField: fc.Arbitrary<Field> = fc.oneof(
  fc.constant(null),
  fc.string(),
  fc.constant('Relatively High'),
  fc.double({ noNaN: true }),
  fc.integer({ min: -1_000_000, max: 1_000_000 }).map((millionths) => millionths / 1e6),
  fc.nat(300),
);
const drawnRow = fc.array(drawnField, { minLength: WIDTH, maxLength: WIDTH });

test('gathered rows have the fields of their places in each range of columns', () => {
  const listed = listedPlaces(WIDTH);
  // Its memory is used again, for more rows and for fewer.
  let memory: GatheredRows | null = null;
  fc.assert(
    fc.property(
      fc.array(drawnRow, { minLength: 1, maxLength: 20 }),
      fc.array(fc.nat(19), { minLength: 1, maxLength: 40 }),
      fc.nat(2),
      (rows, drawn, first) => {
        listed.fill(rows);
        const { places } = listed;
        const numbers = Int32Array.from(drawn, (number) => number % rows.length);
        const ranges = [...rangesToGather(WIDTH, 1)][0]!.slice(first);
        const gathered = rowGatherer(places)({ numbers, ranges, memory });
        memory = gathered;
        const unpacker = new FieldPacker(numberedTexts(places));
        const bytes = Buffer.from(gathered.bytes.buffer);
        for (const [range, { from, to }] of ranges.entries()) {
          for (const [row, number] of numbers.entries()) {
            const start = gathered.starts[range * numbers.length + row]!;
            const fields = unpacker.unpack(bytes, start, to - from);
            assert.deepEqual(fields, rows[number]!.slice(from, to));
          }
        }
      },
    ),
  );
});
