import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { metersToShape, shapeOf } from '../../src/data/tables/feature-shapes.ts';
import { nearestMeters } from '../../src/geo/nearest.ts';

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
  fc.record({ type: fc.constant('LineString'), coordinates: path }),
  fc.record({ type: fc.constantFrom('MultiLineString', 'Polygon'), coordinates: paths }),
  fc.record({ type: fc.constant('MultiPolygon'), coordinates: fc.array(paths, { maxLength: 3 }) }),
);

test('a shape laid out for measuring comes as near as its feature, to the last bit', () => {
  const near = fc.record({ lat: degrees(1), lng: degrees(1) });
  fc.assert(
    fc.property(geometry, fc.oneof(location, near), (shape, place) => {
      const expected = nearestMeters(place, [{ geometry: shape }]);
      assert.equal(metersToShape(shapeOf({ geometry: shape })!, place), expected ?? Number.POSITIVE_INFINITY);
    }),
    { seed: 6, numRuns: 3_000 },
  );
});

test('a shape is as far as its feature, wherever it lies', () => {
  const offset = degrees(3);
  const center = fc.record({ lat: fc.oneof(degrees(90), degrees(75)), lng: degrees(180) });
  fc.assert(
    fc.property(
      center,
      fc.array(fc.tuple(offset, offset), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('LineString', 'Polygon'),
      (place, offsets, type) => {
        const ring = offsets.map(([x, y]) => [place.lng + x, Math.max(-90, Math.min(90, place.lat + y))]);
        const feature = { geometry: { type, coordinates: type === 'Polygon' ? [ring] : ring } };
        assert.equal(metersToShape(shapeOf(feature)!, place), nearestMeters(place, [feature]));
      },
    ),
    { seed: 7, numRuns: 5_000 },
  );
});

test('what is not of lines and polygons alone is left to nearestMeters', () => {
  for (const type of ['Point', 'MultiPoint', 'GeometryCollection']) {
    assert.equal(shapeOf({ geometry: { type, coordinates: [[1, 2]] } }), null);
  }
  assert.equal(shapeOf({ geometry: null }), null);
  assert.equal(shapeOf(null), null);
});
