import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { geoContains } from 'd3-geo';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import type { Location } from '../../src/geo/coordinates.ts';
import { countyAt } from '../../src/geo/us-counties.ts';
import { isCovered } from '../../src/geo/us-coverage.ts';

const places: readonly [name: string, lat: number, lng: number, county: string, state: string][] = [
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
];

for (const [name, lat, lng, county, state] of places) {
  test(`the county of ${name}`, () => {
    const found = countyAt({ lat, lng });
    assert.deepEqual([found?.code, found?.state.name], [county, state]);
  });
}

test('a location outside the US has no county', () => {
  for (const [lat, lng] of [
    [51.5, -0.12],
    [0, 0],
    [90, 180],
    [-90, -180],
  ]) {
    assert.equal(countyAt({ lat: lat!, lng: lng! }), null);
  }
});

test('the county of a location is the one that d3-geo finds, all over the country', () => {
  const atlas: Topology<{ counties: GeometryCollection }> = createRequire(import.meta.url)(
    'us-atlas/counties-10m.json',
  );
  const counties = new Map(
    feature(atlas, atlas.objects.counties).features.map((county) => [String(county.id), county]),
  );
  let checked = 0;
  for (let step = 0; step < 400; step++) {
    // Golden ratio steps cover the box evenly, and are the same in every run.
    const place: Location = { lat: 25 + ((step * 0.618034) % 1) * 24, lng: -124 + ((step * 0.754878) % 1) * 57 };
    if (!isCovered(place)) continue;
    const found = countyAt(place);
    assert.ok(found, JSON.stringify(place));
    const holds = geoContains(counties.get(found.code)!, [place.lng, place.lat]);
    const others = holds ? [] : [...counties].filter(([, county]) => geoContains(county, [place.lng, place.lat]));
    // Off the coast nobody holds it. d3's edges are great circles, ours are straight in degrees: neighbours may differ there.
    assert.ok(holds || others.length === 0 || isNearEdge(place), `${JSON.stringify(place)} ${found.name}`);
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
