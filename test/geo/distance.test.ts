import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWithin, distanceMeters, unitVectorOf } from '../../src/geo/distance.ts';
import { fc } from '../properties.ts';

test('a place is within a radius exactly when its distance is at most the radius', () => {
  const lat = fc.double({ min: -90, max: 90, noNaN: true });
  const lng = fc.double({ min: -180, max: 180, noNaN: true });
  const location = fc.record({ lat, lng });
  const within = (from: { lat: number; lng: number }, meters: number, to: { lat: number; lng: number }) =>
    createWithin(from, meters)({ ...to, ...unitVectorOf(to) });
  fc.assert(
    fc.property(location, location, fc.double({ min: 1, max: 500_000, noNaN: true }), (from, to, meters) => {
      assert.equal(within(from, meters, to), distanceMeters(from, to) <= meters);
    }),
    { seed: 1, numRuns: 300 },
  );
  // On the edge, and a rounding error to each side of it.
  const near = fc.double({ min: -3, max: 3, noNaN: true });
  fc.assert(
    fc.property(location, near, near, fc.constantFrom(-1e-9, 0, 1e-9, -1e-6, 1e-6), (from, north, east, share) => {
      const to = { lat: Math.max(-90, Math.min(90, from.lat + north)), lng: from.lng + east };
      const distance = distanceMeters(from, to);
      const meters = distance * (1 + share);
      if (meters >= 1) assert.equal(within(from, meters, to), distance <= meters);
    }),
    { seed: 2, numRuns: 500 },
  );
});
