import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCovered } from '../../src/geo/us-coverage.ts';
import { COVERAGE_BOXES } from '../../src/warehouse/location-checks.ts';

function isInBoxes(lat: number, lng: number): boolean {
  return COVERAGE_BOXES.some(
    ([south, north, west, east]) => lat >= south && lat <= north && lng >= west && lng <= east,
  );
}

test('no place outside the boxes of the SQL is covered', () => {
  // Not every tile of 0.05 degrees, which takes 17 s: the boxes end at whole degrees.
  const step = 0.15;
  let outside = 0;
  for (let lat = -90; lat <= 90; lat += step) {
    for (let lng = -180; lng <= 180; lng += step) {
      if (isInBoxes(lat, lng)) continue;
      outside++;
      if (isCovered({ lat, lng })) assert.fail(`${lat} ${lng} is covered, and in no box`);
    }
  }
  assert.ok(outside > 10_000);
});

test('a place just outside each box is not covered', () => {
  const sides = [
    ...[24, 50, 50, 72, 54, 18, 29, 17, 19, 12, 21, -15, -10].map((lat) => ({ lat, lng: null })),
    ...[-126, -66, -129, 171, -179, -154, -69, -64, 144, 147, -172, -167].map((lng) => ({ lat: null, lng })),
  ];
  for (const side of sides) {
    for (let along = -180; along <= 180; along += 0.25) {
      for (const off of [-0.001, 0.001]) {
        const place = {
          lat: (side.lat ?? along) + (side.lat === null ? 0 : off),
          lng: (side.lng ?? along) + (side.lng === null ? 0 : off),
        };
        if (!isInBoxes(place.lat, place.lng)) assert.equal(isCovered(place), false, `${place.lat} ${place.lng}`);
      }
    }
  }
});
