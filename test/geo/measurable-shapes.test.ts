import assert from 'node:assert/strict';
import test from 'node:test';
import type { Location } from '../../src/geo/coordinates.ts';
import { distanceMeters } from '../../src/geo/distance.ts';
import { metersToShape, nearestMeters, shapeOf } from '../../src/geo/nearest.ts';
import { fc } from '../properties.ts';

type Pair = readonly [number, number];

const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
const location = fc.record({ lat: degrees(90), lng: degrees(180) });
/** Anywhere on the map, or within a degree of a place, so that outlines often hold it. */
const position = fc.oneof(
  fc.tuple(degrees(180), degrees(90)),
  fc.tuple(degrees(1), degrees(1)),
  fc.constantFrom([0, 0], [1, 1], [180, 0], [-180, 0], [null, 3], ['1', 2], [4]),
);
const path = fc.array(position, { maxLength: 8 });
const paths = fc.array(path, { maxLength: 3 });
const geometry = fc.oneof(
  fc.record({ type: fc.constant('Point'), coordinates: position }),
  fc.record({ type: fc.constantFrom('LineString', 'MultiPoint'), coordinates: path }),
  fc.record({ type: fc.constantFrom('MultiLineString', 'Polygon'), coordinates: paths }),
  fc.record({ type: fc.constant('MultiPolygon'), coordinates: fc.array(paths, { maxLength: 3 }) }),
);

test('one shape is as far as the list that holds only its feature, to the last bit', () => {
  const near = fc.record({ lat: degrees(1), lng: degrees(1) });
  fc.assert(
    fc.property(geometry, fc.oneof(location, near), (shape, place) => {
      const expected = nearestMeters(place, [{ geometry: shape }]);
      assert.equal(metersToShape(shapeOf(shape), place), expected ?? Number.POSITIVE_INFINITY);
    }),
    { seed: 6, numRuns: 1_000 },
  );
});

/** The same distance the slow way: each position as a pair on the plane. */
function plainMeters(place: Location, ring: readonly Pair[], isOutline: boolean): number {
  const stretch = Math.cos((place.lat * Math.PI) / 180);
  const flat = ring.map(([lng, lat]): Pair => [(((lng - place.lng + 540) % 360) - 180) * stretch, lat - place.lat]);
  const crossed = flat.filter(([bx, by], index) => {
    const [ax, ay] = flat.at(index - 1)!;
    return ay > 0 !== by > 0 && ax - (ay * (bx - ax)) / (by - ay) > 0;
  });
  if (isOutline && crossed.length % 2 === 1) return 0;
  let nearest = flat[0]!;
  for (const [index, [bx, by]] of flat.entries()) {
    const [ax, ay] = flat[Math.max(0, index - 1)]!;
    const [dx, dy] = [bx - ax, by - ay];
    const length = dx * dx + dy * dy;
    const share = length === 0 ? 0 : Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
    const at: Pair = [ax + share * dx, ay + share * dy];
    if (Math.hypot(...at) < Math.hypot(...nearest)) nearest = at;
  }
  return distanceMeters(place, { lat: nearest[1] + place.lat, lng: nearest[0] / (stretch || 1) + place.lng });
}

test('lines and outlines are measured to their nearest point, wherever they are', () => {
  const offset = degrees(3);
  const center = fc.record({ lat: fc.oneof(degrees(89), degrees(75)), lng: degrees(180) });
  fc.assert(
    fc.property(
      center,
      fc.array(fc.tuple(offset, offset), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (place, offsets, isOutline) => {
        const ring = offsets.map(([x, y]): Pair => [place.lng + x, Math.max(-90, Math.min(90, place.lat + y))]);
        const shape = shapeOf(
          isOutline ? { type: 'Polygon', coordinates: [ring] } : { type: 'LineString', coordinates: ring },
        );
        const expected = plainMeters(place, ring, isOutline);
        assert.ok(Math.abs(metersToShape(shape, place) - expected) <= 1e-6 * (1 + expected));
      },
    ),
    { seed: 7, numRuns: 1_000 },
  );
});

test('what holds no position is infinitely far', () => {
  for (const empty of [null, 'Point', {}, { type: 'Curve' }, { type: 'Polygon', coordinates: [] }]) {
    assert.equal(metersToShape(shapeOf(empty), { lat: 1, lng: 2 }), Number.POSITIVE_INFINITY);
  }
});
