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
    const circles = [...left].map((middle) =>
      [...left].filter((other) => isNear(places[middle]!, places[other]!)),
    );
    const sums = circles.map((circle) =>
      circle.reduce((sum, place) => sum + places[place]!.value, 0),
    );
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
      const values = found.map(({ value }) => value);
      assert.deepEqual(values, naively(places, 10));
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

test('the middle of a circle is none of the places that another circle has, and there are no more circles than asked for', () => {
  // In miles, near the equator: the circle around the fourth place would hold the last two, but the first circle has it.
  const places = [
    [0, 0, 2],
    [0, -0.8, 100],
    [0, 1.6, 10],
    [0, 0.8, 1],
    [0.9, 0.8, 20],
  ].map(([north, east, value]) => {
    return { lat: (north! * MILE) / 111_195, lng: -100 + (east! * MILE) / 111_195, value: value! };
  });
  const valuesOf = (most: number) =>
    heaviestCircles(tableOf(places), (index) => places[index]!.value, MILE, most).map(
      ({ value }) => value,
    );
  assert.deepEqual(valuesOf(3), [103, 20, 10]);
  assert.deepEqual(valuesOf(2), [103, 20]);
});
