import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LONGEST_NUMBER, writeNumber } from '../../src/rows/csv/number.ts';

function written(value: number): string {
  const bytes = Buffer.alloc(LONGEST_NUMBER + 1, '#');
  const end = writeNumber(bytes, 1, value);
  assert.equal(bytes[0], '#'.charCodeAt(0));
  return bytes.toString('latin1', 1, end);
}

test('a number is written as JavaScript itself writes it', () => {
  const scaled = fc.tuple(fc.maxSafeInteger(), fc.nat(16)).map(([digits, shift]) => digits / 10 ** shift);
  const decimal = fc.tuple(fc.integer(), fc.nat(12)).map(([digits, shift]) => digits / 10 ** shift);
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.integer(), scaled, decimal), (value) => {
      assert.equal(written(value), String(value));
    }),
    { numRuns: 20_000 },
  );
});

test('the edges of the fast ways are written as JavaScript writes them', () => {
  const edges = [
    0, 1e-6, 1e-7, 9.99e-7, 1e9, 999_999_999, 999_999_999.999999, 999.999999999999, 1000.000000000001, 1e21,
  ];
  const more = [0.1 + 0.2, 5e-324, 1.7976931348623157e308, 2 ** 31, 2 ** 32, 2 ** 53, 64.76324764, 0.000001000001];
  for (const edge of [...edges, ...more]) {
    for (const value of [edge, -edge, edge + Number.EPSILON, edge * (1 - Number.EPSILON)]) {
      assert.equal(written(value), String(value));
    }
  }
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -0]) assert.equal(written(value), String(value));
});
