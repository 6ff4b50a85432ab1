import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellOf, locationOf, MAX_PRECISION } from '../../src/geo/coordinates.ts';
import { fc } from '../properties.ts';

test('a location is rounded to its decimals as by hand, halves upwards, and its cell is asked about at the same place', () => {
  for (const [lat, precision, expected] of [
    [34.00005, 4, 340_001_000],
    [-34.00005, 4, -340_000_000],
    [-0.00004, 4, 0],
    [38.8977, 0, 390_000_000],
    [38.123_456_78, 7, 381_234_568],
  ] as const) {
    const { lat7, lng7 } = cellOf({ lat, lng: 2 * lat }, precision);
    assert.ok(Object.is(lat7, expected), `${lat} to ${precision}: ${lat7}`);
    assert.equal(lng7, cellOf({ lat: 2 * lat, lng: 0 }, precision).lat7);
  }
  const degrees = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 });
  const half = degrees.map((units) => Math.trunc(units / 10) * 10 + 5);
  fc.assert(
    fc.property(fc.oneof(degrees, half), fc.integer({ min: 0, max: MAX_PRECISION }), (units, precision) => {
      const step = 10 ** (MAX_PRECISION - precision);
      const cell = cellOf(locationOf({ lat7: units, lng7: -units }), precision);
      const byHand = (all: number) => Math.floor((2 * all + step) / (2 * step)) * step + 0;
      assert.deepEqual(cell, { lat7: byHand(units), lng7: byHand(-units) });
      assert.deepEqual(cellOf(locationOf(cell), precision), cell);
    }),
    { numRuns: 1_000 },
  );
});
