import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { geoContains } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { isCovered, isForeign, isOffshore } from '../../src/geo/us-coverage.ts';
import { fc } from '../properties.ts';
import { LONG } from '../tier.ts';
import { PLACES_ABROAD } from './places-abroad.ts';
import { US_ISLANDS } from './us-islands.ts';

type Place = readonly [name: string, lat: number, lng: number];

const CAPITALS: readonly Place[] = [
  ['Montgomery', 32.3617, -86.2792],
  ['Juneau', 58.3019, -134.4197],
  ['Phoenix', 33.4484, -112.074],
  ['Little Rock', 34.7465, -92.2896],
  ['Sacramento', 38.5816, -121.4944],
  ['Denver', 39.7392, -104.9903],
  ['Hartford', 41.7658, -72.6734],
  ['Dover', 39.1582, -75.5244],
  ['Tallahassee', 30.4383, -84.2807],
  ['Atlanta', 33.749, -84.388],
  ['Honolulu', 21.3069, -157.8583],
  ['Boise', 43.615, -116.2023],
  ['Springfield', 39.7817, -89.6501],
  ['Indianapolis', 39.7684, -86.1581],
  ['Des Moines', 41.5868, -93.625],
  ['Topeka', 39.0473, -95.6752],
  ['Frankfort', 38.2009, -84.8733],
  ['Baton Rouge', 30.4515, -91.1871],
  ['Augusta', 44.3106, -69.7795],
  ['Annapolis', 38.9784, -76.4922],
  ['Boston', 42.3601, -71.0589],
  ['Lansing', 42.7325, -84.5555],
  ['Saint Paul', 44.9537, -93.09],
  ['Jackson', 32.2988, -90.1848],
  ['Jefferson City', 38.5767, -92.1735],
  ['Helena', 46.5891, -112.0391],
  ['Lincoln', 40.8136, -96.7026],
  ['Carson City', 39.1638, -119.7674],
  ['Concord', 43.2081, -71.5376],
  ['Trenton', 40.2206, -74.7597],
  ['Santa Fe', 35.687, -105.9378],
  ['Albany', 42.6526, -73.7562],
  ['Raleigh', 35.7796, -78.6382],
  ['Bismarck', 46.8083, -100.7837],
  ['Columbus', 39.9612, -82.9988],
  ['Oklahoma City', 35.4676, -97.5164],
  ['Salem', 44.9429, -123.0351],
  ['Harrisburg', 40.2732, -76.8867],
  ['Providence', 41.824, -71.4128],
  ['Columbia', 34.0007, -81.0348],
  ['Pierre', 44.3683, -100.351],
  ['Nashville', 36.1627, -86.7816],
  ['Austin', 30.2672, -97.7431],
  ['Salt Lake City', 40.7608, -111.891],
  ['Montpelier', 44.2601, -72.5754],
  ['Richmond', 37.5407, -77.436],
  ['Olympia', 47.0379, -122.9007],
  ['Charleston', 38.3498, -81.6326],
  ['Madison', 43.0731, -89.4012],
  ['Cheyenne', 41.14, -104.8202],
  ['Washington', 38.9072, -77.0369],
];

const TERRITORIES: readonly Place[] = [
  ['San Juan', 18.4655, -66.1057],
  ['Vieques', 18.1263, -65.4401],
  ['Hagåtña', 13.4443, 144.7937],
  ['Charlotte Amalie', 18.3419, -64.9307],
  ['Christiansted', 17.7466, -64.7032],
  ['Pago Pago', -14.2756, -170.702],
  ['Ofu', -14.17, -169.67],
  ['Swains Island', -11.0558, -171.0775],
  ['Saipan', 15.1778, 145.7507],
  ['Rota', 14.15, 145.2],
];

const EDGES: readonly Place[] = [
  ['Key West', 24.5551, -81.78],
  ['Dry Tortugas', 24.6285, -82.8732],
  ["Martha's Vineyard", 41.3805, -70.6455],
  ['Cuttyhunk, 1.5 km outside of the shapes', 41.4254, -70.93],
  ['Navy Pier', 41.8917, -87.6043],
  ['Alcatraz', 37.8267, -122.423],
  ['Monhegan, an island that the shapes omit', 43.7645, -69.3154],
  ['Attu, with a positive longitude', 52.909, 172.9],
  ['Adak', 51.88, -176.6581],
  ['Little Diomede', 65.758, -168.953],
  ['Point Roberts', 48.9854, -123.0779],
  ['the Northwest Angle', 49.3661, -95.1539],
  ['Detroit', 42.3314, -83.0458],
  ['Sault Ste. Marie, Michigan', 46.4953, -84.3453],
  ['Niagara Falls, New York', 43.0962, -79.0377],
  ['Calais, 0.44 km outside of the shapes', 45.1889, -67.2789],
  ['Eastport', 44.9062, -66.99],
  ['San Ysidro', 32.5556, -117.047],
  ['Nogales, Arizona', 31.3404, -110.9343],
  ['El Paso', 31.7619, -106.485],
  ['Brownsville', 25.9017, -97.4975],
];

const ABROAD: readonly Place[] = [
  ['Windsor, Ontario', 42.3149, -83.0364],
  ['Sarnia', 42.9745, -82.4066],
  ['Sault Ste. Marie, Ontario', 46.5136, -84.3358],
  ['Niagara Falls, Ontario', 43.0896, -79.0849],
  ['Cornwall', 45.0213, -74.7303],
  ['Edmundston', 47.3737, -68.3251],
  ['St. Stephen', 45.1942, -67.2756],
  ['Campobello', 44.88, -66.95],
  ['Stewart', 55.9363, -129.9911],
  ['White Rock', 49.0253, -122.8029],
  ['Vancouver', 49.2827, -123.1207],
  ['Victoria', 48.4284, -123.3656],
  ['Toronto', 43.6532, -79.3832],
  ['Tijuana', 32.5149, -117.0382],
  ['Mexicali', 32.6245, -115.4523],
  ['Ciudad Juárez', 31.6904, -106.4245],
  ['Nogales, Sonora', 31.3086, -110.9422],
  ['Nuevo Laredo', 27.4763, -99.5164],
  ['Matamoros', 25.869, -97.5027],
  ['Havana', 23.1136, -82.3666],
  ['Nassau', 25.0443, -77.3504],
  ['Road Town', 18.4286, -64.6185],
  ['Apia', -13.8333, -171.7667],
  ['London', 51.5074, -0.1278],
  ['Midway, which is no part of a state or of the five territories', 28.2072, -177.3735],
  ['the south pole', -90, 0],
  ['the north pole', 90, 0],
  ['null island', 0, 0],
  ['the open Atlantic', 35, -60],
];

for (const [kind, places, expected] of [
  ['the state capitals are covered', CAPITALS, true],
  ['the territories are covered', TERRITORIES, true],
  ['islands, piers and border towns of the US are covered', EDGES, true],
  [`${US_ISLANDS.length} islands and shores of the US are covered`, US_ISLANDS, true],
  ['places abroad are not covered', ABROAD, false],
  [`${PLACES_ABROAD.length} places next to the US are not covered`, PLACES_ABROAD, false],
] as const) {
  test(kind, () => {
    const wrong = places.filter(([, lat, lng]) => isCovered({ lat, lng }) !== expected).map(([name]) => name);
    assert.deepEqual(wrong, []);
  });
}

test('locations off the drawn coast are distinguished from those on land and foreign ones', () => {
  const told = (lat: number, lng: number) => [isOffshore({ lat, lng }), isForeign({ lat, lng })];
  assert.deepEqual(told(43.7645, -69.3154), [true, false], 'Monhegan');
  assert.deepEqual(told(39.7392, -104.9903), [false, false], 'Denver');
  assert.deepEqual(told(42.3149, -83.0364), [false, true], 'Windsor');
  assert.deepEqual(told(51.5, -0.12), [false, false], 'London, which is no neighbour');
});

test('NaN and infinite coordinates are not covered', () => {
  for (const lat of [Number.NaN, Infinity, -Infinity]) assert.equal(isCovered({ lat, lng: -100 }), false);
  for (const lng of [Number.NaN, Infinity, -Infinity]) assert.equal(isCovered({ lat: 40, lng }), false);
});

test('the result for a location does not depend on earlier calls', () => {
  const place = fc.record({
    lat: fc.double({ min: 24, max: 50, noNaN: true }),
    lng: fc.double({ min: -125, max: -66, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(place, { minLength: 1, maxLength: 20 }), (places) => {
      const first = places.map(isCovered);
      assert.deepEqual(places.toReversed().map(isCovered).toReversed(), first);
    }),
  );
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
    // By tiles of 5.6 km, and a coast that runs aslant is nearer than the parallel says.
    assert.ok(km > 19 && km < 36, `${km} km at ${lat}`);
  }
});
