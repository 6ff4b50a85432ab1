import assert from 'node:assert/strict';
import { test } from 'node:test';
import { geoContains } from 'd3-geo';
import { feature } from 'topojson-client';
import { type Location, UNITS_PER_DEGREE } from '../../src/geo/coordinates.ts';
import { usAtlas } from '../../src/geo/us-atlas.ts';
import { allCounties, countyAt, countyName } from '../../src/geo/us-counties.ts';
import {
  isCovered,
  isForeign,
  isOffshore,
  isOnDrawnLand,
  kmOffCoast,
  nationOutline,
} from '../../src/geo/us-coverage.ts';
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
    const wrong = places
      .filter(([, lat, lng]) => isCovered({ lat, lng }) !== expected)
      .map(([name]) => name);
    assert.deepEqual(wrong, []);
    assert.ok(places.length > 2);
  });
}

test('locations off the drawn coast are distinguished from those on land and foreign ones', () => {
  const told = (lat: number, lng: number) => [isOffshore({ lat, lng }), isForeign({ lat, lng })];
  assert.deepEqual(told(43.7645, -69.3154), [true, false], 'Monhegan');
  assert.deepEqual(told(23.575, -164.7), [true, false], 'Necker, far from any drawn coast');
  assert.deepEqual(told(26.064, -173.966), [true, false], 'Lisianski');
  assert.deepEqual(told(28.394, -178.294), [true, false], 'Kure');
  assert.deepEqual(told(20.545, 144.893), [true, false], 'Pajaros');
  assert.deepEqual(told(39.7392, -104.9903), [false, false], 'Denver');
  assert.deepEqual(told(42.3149, -83.0364), [false, true], 'Windsor');
  assert.deepEqual(told(51.5, -0.12), [false, false], 'London, which is no neighbour');
  assert.deepEqual(told(32.4, -117.4), [false, true], 'the sea off Tijuana');
});

test('how far off the coast a place is that is too far is told up to 50 km, and not beside a neighbour', () => {
  const told = (lat: number, lng: number) => kmOffCoast({ lat, lng });
  assert.equal(told(36.9, -75.7), 26, 'a wind farm off Virginia');
  assert.equal(told(36.9, -75.43), 47);
  assert.equal(told(36.9, -75.3), null, 'too far to be told');
  assert.equal(told(36.9, -75.95), null, 'covered');
  assert.equal(told(39.74, -104.99), null, 'Denver');
  assert.equal(told(42.3149, -83.0364), null, 'Windsor');
  assert.equal(told(32.4, -117.4), null, 'the sea off Tijuana');
  assert.equal(told(51.5, -0.12), null, 'London');
});

test('NaN and infinite coordinates are not covered', () => {
  for (const lat of [Number.NaN, Infinity, -Infinity])
    assert.equal(isCovered({ lat, lng: -100 }), false);
  for (const lng of [Number.NaN, Infinity, -Infinity])
    assert.equal(isCovered({ lat: 40, lng }), false);
});

test('a longitude east of 180 is not covered: the Aleutians at 190 are at -170', () => {
  assert.equal(isCovered({ lat: 52.7, lng: -170 }), true);
  for (const lng of [189, 190, 190.8]) assert.equal(isCovered({ lat: 52.7, lng }), false);
  assert.equal(isCovered({ lat: 52.7 + 180, lng: -170 }), false);
});

test('what a tile decides is what the edges say, around random corners, near neighbours, on the 180th meridian', () => {
  const { rings } = nationOutline();
  const first = 1 + rings[0]!;
  const offset = fc.double({ min: -0.6, max: 0.6, noNaN: true });
  const aroundCorners = fc
    .tuple(fc.nat((rings.length - first) / 2 - 1), offset, offset)
    .map(([corner, north, east]) => {
      const [lng, lat] = rings.subarray(first + 2 * corner);
      return { lat: lat! / UNITS_PER_DEGREE + north, lng: lng! / UNITS_PER_DEGREE + east };
    });
  const box = (south: number, north: number, west: number, east: number) =>
    fc.record({
      lat: fc.double({ min: south, max: north, noNaN: true }),
      lng: fc.double({ min: west, max: east, noNaN: true }),
    });
  const nearNeighbours = fc.oneof(
    box(48.98, 49.06, -120, -96),
    box(41.5, 43.5, -83.5, -78.5),
    box(47.9, 49.2, -124.8, -122.5),
    box(31.9, 32.8, -118, -116.5),
    box(18.2, 18.7, -65, -64.2),
    box(44.2, 45.4, -67.6, -66.4),
    box(31.3, 31.8, -108.5, -106.4),
    box(25.8, 26.6, -99.2, -97.1),
    box(47.1, 48.7, -93.5, -68.2),
  );
  const meridian = fc
    .tuple(box(50, 55, 0, 1), fc.constantFrom(-180, 180))
    .map(([{ lat }, lng]) => ({ lat, lng }));
  const byEdges = (place: Location) => isOnDrawnLand(place) || isOffshore(place);
  fc.assert(
    fc.property(fc.oneof(aroundCorners, nearNeighbours, meridian), (place) => {
      fc.pre(Math.abs(place.lng) <= 180);
      assert.equal(isCovered(place), byEdges(place));
    }),
    { numRuns: 8_000 },
  );
});

test(
  'west of the Pacific coast about 25 km are covered, as far as the outline of the nation itself says',
  LONG,
  () => {
    const atlas = usAtlas('states-10m');
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
  },
);

const COUNTIES: readonly [
  name: string,
  lat: number,
  lng: number,
  county?: string,
  state?: string,
][] = [
  ['Los Angeles', 34.0522, -118.2437, '06037', 'California'],
  ['Manhattan', 40.7128, -74.006, '36061', 'New York'],
  ['Anchorage', 61.2181, -149.9003, '02020', 'Alaska'],
  ['Attu, west of the 180th meridian', 52.9, 172.9, '02016', 'Alaska'],
  ['Honolulu', 21.3069, -157.8583, '15003', 'Hawaii'],
  ['San Juan', 18.4655, -66.1057, '72127', 'Puerto Rico'],
  ['Saipan', 15.18, 145.75, '69110', 'Commonwealth of the Northern Mariana Islands'],
  ['Washington', 38.9072, -77.0369, '11001', 'District of Columbia'],
  ['Fairfax City, an island in Fairfax County', 38.8462, -77.3064, '51600', 'Virginia'],
  ['Navy Pier, off the drawn coast', 41.8917, -87.6043, '17031', 'Illinois'],
  ['London', 51.5, -0.12],
  ['a place at the equator', 0, 0],
  ['the North Pole', 90, 180],
  ['the South Pole', -90, -180],
];

for (const [name, lat, lng, county, state] of COUNTIES) {
  test(`the county of ${name}: ${county ?? 'none'}`, () => {
    const found = countyAt({ lat, lng });
    assert.deepEqual([found?.code, found?.state.name], [county, state]);
  });
}

test('every county has a name of its own: a city and the county around it are told apart', () => {
  const names = allCounties().map(countyName);
  assert.equal(new Set(names).size, names.length);
  const told = (lat: number, lng: number) => countyName(countyAt({ lat, lng }));
  assert.equal(told(39.29, -76.61), 'Baltimore city, Maryland');
  assert.equal(told(39.4, -76.6), 'Baltimore County, Maryland', 'Towson');
  assert.equal(told(36.85, -75.98), 'Virginia Beach, Virginia', 'a city around which is no county');
  assert.equal(told(25.76, -80.19), 'Miami-Dade, Florida');
});

test('the county of a location is the one that d3-geo finds, all over the country', () => {
  const atlas = usAtlas('counties-10m');
  const counties = new Map(
    feature(atlas, atlas.objects.counties).features.map((county) => [String(county.id), county]),
  );
  let checked = 0;
  for (let step = 0; step < 400; step++) {
    // Golden ratio steps cover the box evenly, and are the same in every run.
    const place: Location = {
      lat: 25 + ((step * 0.618034) % 1) * 24,
      lng: -124 + ((step * 0.754878) % 1) * 57,
    };
    if (!isCovered(place)) continue;
    const found = countyAt(place);
    assert.ok(found, JSON.stringify(place));
    const holds = geoContains(counties.get(found.code)!, [place.lng, place.lat]);
    const others = holds
      ? []
      : [...counties].filter(([, county]) => geoContains(county, [place.lng, place.lat]));
    // Off the coast nobody holds it. d3's edges are great circles, ours are straight in degrees: neighbours may differ there.
    assert.ok(
      holds || others.length === 0 || isNearEdge(place),
      `${JSON.stringify(place)} ${found.name}`,
    );
    checked++;
  }
  assert.ok(checked > 200);
});

/** Whether the county changes within some hundred metres. */
function isNearEdge({ lat, lng }: Location): boolean {
  const around = [-0.005, 0.005].flatMap((dy) =>
    [-0.005, 0.005].map((dx) => countyAt({ lat: lat + dy, lng: lng + dx })?.code),
  );
  return new Set(around).size > 1;
}
