import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSchema } from '../../src/rows/parquet/schema.ts';
import { binary, i32 } from '../../src/rows/parquet/thrift.ts';
import { textForm } from '../../src/rows/parquet/value-text.ts';
import { fc } from '../properties.ts';

test('doubles and floats have the shortest text that reads back to them', () => {
  const elements = [
    { fields: [binary(4, 'root'), i32(5, 2)] },
    { fields: [i32(1, 5), binary(4, 'double')] },
    { fields: [i32(1, 4), binary(4, 'float')] },
  ];
  const [double, float] = readSchema(elements).leaves.map(textForm);
  const coordinates = fc.integer({ min: -400_000_000, max: 400_000_000 }).map((value) => value / 1e6);
  fc.assert(
    fc.property(fc.oneof(fc.double(), coordinates), (value) => {
      assert.equal(double!(value), Object.is(value, -0) ? '-0' : String(value));
    }),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.float(), (value) => {
      const text = float!(value);
      assert.ok(Object.is(Math.fround(Number(text)), value), text);
      assert.ok(Object.is(value, -0) || text.length <= String(value).length);
    }),
    { numRuns: 2000 },
  );
  const texts = ['0.1', '2.5', '24.316275', '10.0560255', '-1e-10', '16777216'];
  assert.deepEqual(
    texts.map((text) => float!(Math.fround(Number(text)))),
    texts,
  );
});
