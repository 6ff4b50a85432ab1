import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Location } from '../../src/geo/coordinates.ts';
import { heaviestCircles, type WeightedCells } from '../../src/report/figures/circles.ts';
import { fc } from '../properties.ts';

const MILE = 1609.344;

interface Place extends Location {
  readonly value: number;
}

function tableOf(places: readonly Place[]): WeightedCells {
  return {
    size: places.length,
    location: (place) => places[place]!,
    rows: () => 1,
    value: (place) => places[place]!.value,
  };
}

function isNear(a: Location, b: Location): boolean {
  const shrink = Math.cos((a.lat * Math.PI) / 180);
  return (b.lat - a.lat) ** 2 + ((b.lng - a.lng) * shrink) ** 2 <= (MILE / 111_195) ** 2;
}

/** Tries every place as the middle, ten times over. */
function naively(places: readonly Place[], most: number): number[] {
  const left = new Set(places.keys());
  const values: number[] = [];
  while (values.length < most) {
    const circles = [...left].map((middle) => [...left].filter((other) => isNear(places[middle]!, places[other]!)));
    const sums = circles.map((circle) => circle.reduce((sum, place) => sum + places[place]!.value, 0));
    const best = sums.indexOf(Math.max(...sums));
    if (best < 0 || sums[best]! <= 0) break;
    values.push(sums[best]!);
    for (const place of circles[best]!) left.delete(place);
  }
  return values;
}

test('the heaviest circles are those that trying every place finds, near the equator and in the north', () => {
  // Distinct powers make every sum different, so that no tie is broken in two ways.
  const place = (south: number) =>
    fc.record({ north: fc.nat(60), east: fc.nat(60) }).map(({ north, east }) => ({
      lat: south + north / 1000,
      lng: -100 + east / 1000,
    }));
  fc.assert(
    fc.property(fc.constantFrom(14, 27, 48.99, 70), fc.nat(20), (south, more) => {
      const [locations] = fc.sample(fc.array(place(south), { minLength: more, maxLength: more }), {
        numRuns: 1,
        seed: more,
      });
      const places = locations!.map((location, index) => ({ ...location, value: 2 ** index }));
      const found = heaviestCircles(tableOf(places), (index) => places[index]!.value, MILE, 10);
      assert.deepEqual(
        found.map(({ value }) => value),
        naively(places, 10),
      );
    }),
    { seed: 1, numRuns: 60 },
  );
});

test('a circle counts each place once, and places without weight make none', () => {
  const places = [
    { lat: 40, lng: -75, value: 5 },
    { lat: 40.005, lng: -75, value: 7 },
    { lat: 41, lng: -75, value: 0 },
  ];
  const found = heaviestCircles(tableOf(places), (index) => places[index]!.value, MILE, 10);
  assert.deepEqual(found, [{ cell: 1, places: 2, rows: 2, value: 12 }]);
});
