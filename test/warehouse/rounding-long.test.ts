import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, MAX_PRECISION } from '../../src/geo/coordinates.ts';
import { halfWith, keySql } from '../../src/warehouse/rounding.ts';
import { dialectNamed } from '../../src/warehouse/sql-dialects.ts';
import { fc } from '../properties.ts';

/** What the SQL does, in the same double precision. */
function keyOf(degrees: number, precision: number): number {
  const scaled = degrees * 10 ** precision;
  let digits = 0;
  while (digits < precision + 3 && Math.abs(scaled) >= 10 ** digits) digits++;
  const up = scaled - Math.floor(scaled) >= Number(halfWith(digits)) ? 1 : 0;
  return (Math.floor(scaled) + up) * 10 ** (MAX_PRECISION - precision) + 0;
}

const bits = new DataView(new ArrayBuffer(8));
/** The double that is so many doubles away. */
function stepped(value: number, steps: number): number {
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(steps));
  return bits.getFloat64(0);
}

function assertSame(degrees: number, precision: number): void {
  const { lat7 } = cellOf({ lat: degrees, lng: 0 }, precision);
  if (keyOf(degrees, precision) !== lat7) assert.equal(keyOf(degrees, precision), lat7, `${degrees} at ${precision}`);
}

test('the SQL rounding is ours around every half, limit and power of two, of both signs, at every precision', () => {
  for (let precision = 0; precision <= MAX_PRECISION; precision++) {
    const size = 180 * 10 ** precision;
    for (let binade = 1; binade <= size; binade *= 2) {
      for (let sample = 0; sample < 60; sample++) {
        const half = Math.floor(binade + ((sample * 0.618) % 1) * binade) - 0.5;
        if (half > size) continue;
        // At a half, and half a unit of the 15th digit below it and above.
        const digits = Math.max(0, Math.floor(Math.log10(half)) + 1);
        for (const offset of [0, -0.5, 0.5]) {
          const scaled = half + offset * 10 ** (digits - 15);
          for (let steps = -6; steps <= 6; steps++) {
            assertSame(stepped(scaled / 10 ** precision, steps), precision);
            assertSame(-stepped(scaled / 10 ** precision, steps), precision);
          }
        }
      }
    }
  }
});

test('the SQL rounding is ours for any double, tie, tiny number and zero', () => {
  const any = fc.double({ min: -180, max: 180, noNaN: true });
  const tie = fc.tuple(fc.integer({ min: -180e7, max: 180e7 }), fc.integer({ min: 0, max: 8 }));
  for (let precision = 0; precision <= MAX_PRECISION; precision++) {
    for (const value of [0, -0, 1e-7, -1e-7, 1e-300, -1e-300, 5e-324, 0.5, -0.5, 34.00005, -34.00005, 180, -180]) {
      assertSame(value, precision);
    }
    fc.assert(
      fc.property(any, (value) => assertSame(value, precision)),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(tie, ([whole, places]) => assertSame(Number(`${whole}5e-${places}`) % 180, precision)),
      { numRuns: 2_000 },
    );
  }
});

test('a wrong limit would be found', () => {
  assert.equal(halfWith(0), '4.999999999999995e-1');
  assert.equal(halfWith(6), '4.999999995e-1');
  assert.match(keySql('x', 4, dialectNamed('duckdb')), /\* 1000$/);
  // With 0.5 itself as the limit this tie would go down.
  assert.ok(34.00055 * 1e4 - Math.floor(34.00055 * 1e4) < 0.5);
  assert.equal(cellOf({ lat: 34.00055, lng: 0 }, 4).lat7, 340006000);
});
