import assert from 'node:assert/strict';
import test from 'node:test';
import type { Position } from 'geojson';
import {
  makeOutline,
  metersToEdges,
  outlineHolds,
  packRings,
  relationToBox,
} from '../../src/geo/outline.ts';
import { fc } from '../properties.ts';

const UNIT = 1e7;
const WEST = -90 * UNIT;
const SOUTH = 35 * UNIT;

/** On a small grid, so that corners, edges and places often meet. */
const corner = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 }));

const positionOf = ([x, y]: readonly [number, number]): Position => [
  (WEST + 100 * x) / UNIT,
  (SOUTH + 100 * y) / UNIT,
];

/** Far from all places that are asked. With it, an outline has two rings, which are read edge by edge. */
const FAR_RING = [
  [10, 60],
  [11, 60],
  [11, 61],
];

test('a ring says of a place the same alone as beside a ring that is far away', () => {
  const rings = fc.oneof(
    fc.array(corner, { minLength: 3, maxLength: 12 }),
    fc.array(corner, { minLength: 66, maxLength: 80 }),
  );
  const box = fc.constantFrom(0.5, 50, 100, 500);
  const meters = fc.constantFrom(0, 0.5, 2, 100);
  fc.assert(
    fc.property(rings, corner, box, meters, (corners, place, half, most) => {
      const ring = corners.map(positionOf);
      const [alone, beside] = [[ring], [ring, FAR_RING]].map((all) => makeOutline(packRings(all)));
      const [lng, lat] = positionOf(place);
      const location = { lng: lng!, lat: lat! };
      const [x, y] = [WEST + 100 * place[0], SOUTH + 100 * place[1]];
      const told = [alone!, beside!].map((outline) => [
        outlineHolds(outline, location),
        relationToBox(outline, x, y, half),
        metersToEdges(outline, location, most),
      ]);
      assert.deepEqual(told[0], told[1]);
    }),
    { numRuns: 2_000 },
  );
});
