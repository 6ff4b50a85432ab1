import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { geoContains } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { isCovered, isForeign, isOffshore } from '../../src/geo/us-coverage.ts';
import { fc } from '../properties.ts';
import { LONG } from '../tier.ts';
import { placesOf } from './listed-places.ts';

for (const [kind, expected] of [
  ['capital', true],
  ['territory', true],
  ['edge', true],
  ['island', true],
  ['abroad', false],
  ['neighbour', false],
] as const) {
  const places = placesOf(kind);
  test(`${places.length} listed places, each ${kind}, are ${expected ? '' : 'not '}covered`, () => {
    const wrong = places.filter(([, lat, lng]) => isCovered({ lat, lng }) !== expected).map(([name]) => name);
    assert.deepEqual(wrong, []);
    assert.ok(places.length > 2);
  });
}

test('locations off the drawn coast are distinguished from those on land and foreign ones', () => {
  const told = (lat: number, lng: number) => [isOffshore({ lat, lng }), isForeign({ lat, lng })];
  assert.deepEqual(told(43.7645, -69.3154), [true, false], 'Monhegan');
  assert.deepEqual(told(39.7392, -104.9903), [false, false], 'Denver');
  assert.deepEqual(told(42.3149, -83.0364), [false, true], 'Windsor');
  assert.deepEqual(told(51.5, -0.12), [false, false], 'London, which is no neighbour');
  assert.deepEqual(told(32.4, -117.4), [false, true], 'the sea off Tijuana');
});

test('islands far from any drawn coast are covered', () => {
  const islands = {
    Necker: [23.575, -164.7],
    Lisianski: [26.064, -173.966],
    Kure: [28.394, -178.294],
    Pajaros: [20.545, 144.893],
  };
  for (const [name, [lat, lng]] of Object.entries(islands)) assert.ok(isOffshore({ lat: lat!, lng: lng! }), name);
});

test('NaN and infinite coordinates are not covered', () => {
  for (const lat of [Number.NaN, Infinity, -Infinity]) assert.equal(isCovered({ lat, lng: -100 }), false);
  for (const lng of [Number.NaN, Infinity, -Infinity]) assert.equal(isCovered({ lat: 40, lng }), false);
});

test('the interior is covered, the open sea is not', () => {
  const inside = fc.record({
    lat: fc.double({ min: 33, max: 48, noNaN: true }),
    lng: fc.double({ min: -116, max: -97, noNaN: true }),
  });
  const sea = fc.record({
    lat: fc.double({ min: 25, max: 40, noNaN: true }),
    lng: fc.double({ min: -65, max: -20, noNaN: true }),
  });
  fc.assert(fc.property(inside, isCovered));
  fc.assert(fc.property(sea, (place) => !isCovered(place)));
});

test('what was found about a tile of land holds for no other tile', () => {
  // North Dakota, and Manitoba 18 tiles to the north.
  for (const lat of [48.525, 48.575, 48.625, 48.675, 48.725]) {
    assert.ok(isCovered({ lat, lng: -100.525 }));
    for (const lng of [-100.475, -100.525, -100.575]) assert.ok(!isCovered({ lat: lat + 0.9, lng }), `${lat},${lng}`);
  }
});

test('west of the Pacific coast about 25 km are covered, as far as the outline of the nation itself says', LONG, () => {
  const atlas: Topology<{ nation: GeometryCollection }> = createRequire(import.meta.url)('us-atlas/states-10m.json');
  const nation = feature(atlas, atlas.objects.nation);
  for (const lat of [43, 44, 45, 46.5, 47]) {
    const first = (from: number, isThere: (lng: number) => boolean) => {
      let lng = from;
      while (!isThere(lng)) lng += 0.002;
      return lng;
    };
    const covered = first(-126, (lng) => isCovered({ lat, lng }));
    const land = first(covered, (lng) => geoContains(nation, [lng, lat]));
    const km = (land - covered) * Math.cos((lat * Math.PI) / 180) * 111.195;
    // A coast that runs aslant is nearer than the parallel says.
    assert.ok(km > 24.9 && km < 36, `${km} km at ${lat}`);
  }
});
