import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Geometry, Position } from 'geojson';
import { PROXIMITY_SLUGS } from '../../src/contract/topics.ts';
import { CITIES, DENSE_CENTRES } from '../../src/data/sample/cities.ts';
import { sampleDatasets } from '../../src/data/sample/sample-datasets.ts';
import type { SiteRecord } from '../../src/data/tables/records.ts';
import type { Location } from '../../src/geo/coordinates.ts';
import { nearestMeters } from '../../src/geo/nearest.ts';

const datasets = [...sampleDatasets({ seed: 1, now: Date.UTC(2026, 5, 1, 12, 30) })];
const sites = datasets
  .filter((dataset) => dataset.kind === 'sites')
  .map(({ topic, records }) => ({ topic, records: [...records] }));
const SEARCH_RADIUS_M = 5000;

/** What an enterprise bundle would carry of the sites around a location. */
function around(location: Location): { counts: number[]; bytes: number } {
  const collections = sites.map(({ records }) => ({
    type: 'FeatureCollection',
    features: records.filter((site) => isWithin(location, site)).map((site) => ({ type: 'Feature', ...site })),
  }));
  return {
    counts: collections.map(({ features }) => features.length),
    bytes: Buffer.byteLength(JSON.stringify(collections)),
  };
}

function isWithin(location: Location, site: SiteRecord): boolean {
  const [lng, lat] = positionsOf(site.geometry)[0] as [number, number];
  // Nothing is longer than some ten kilometres.
  if (Math.abs(lat - location.lat) > 0.3 || Math.abs(lng - location.lng) > 0.4) return false;
  return nearestMeters(location, [site])! <= SEARCH_RADIUS_M;
}

function positionsOf(geometry: Geometry): Position[] {
  if (geometry.type === 'Point') return [geometry.coordinates];
  if (geometry.type === 'LineString') return geometry.coordinates;
  if (geometry.type === 'Polygon') return geometry.coordinates.flat();
  throw new Error(`A ${geometry.type} is not expected`);
}

test('every geometry is valid GeoJSON within the bounds of the US', () => {
  for (const dataset of datasets) {
    if (dataset.kind !== 'sites' && dataset.kind !== 'records') continue;
    for (const { geometry, properties } of dataset.records) {
      const what: string = `${dataset.info.name} ${JSON.stringify(geometry)}`;
      assert.ok(Object.keys(properties).length > 5, what);
      for (const [lng, lat] of positionsOf(geometry) as [number, number][]) {
        assert.ok(lat > -16 && lat < 73 && lng >= -180 && lng <= 180, what);
      }
      if (geometry.type === 'LineString') assert.ok(geometry.coordinates.length >= 2, what);
      if (geometry.type === 'Polygon') {
        const [ring] = geometry.coordinates as [[number, number][]];
        assert.ok(ring.length >= 4, what);
        assert.deepEqual(ring.at(-1), ring[0], what);
        assert.ok(signedArea(ring) > 0, `counter-clockwise: ${what}`);
      }
    }
  }
});

function signedArea(ring: readonly [number, number][]): number {
  return ring.slice(1).reduce((sum, [x, y], i) => sum + ring[i]![0] * y - x * ring[i]![1], 0);
}

test('pipelines and power lines are lines, some parks are polygons', () => {
  const types = (topic: string) =>
    new Set(sites.find((site) => site.topic === topic)!.records.map(({ geometry }) => geometry.type));
  assert.deepEqual(types('naturalGasPipeline'), new Set(['LineString']));
  assert.deepEqual(types('highVoltageLine'), new Set(['LineString']));
  assert.deepEqual(types('park'), new Set(['Point', 'Polygon']));
  assert.deepEqual(types('cellTower'), new Set(['Point']));
});

test('the name of every sample site says that it is a sample', () => {
  for (const { topic, records } of sites) {
    for (const { properties } of records) assert.match(JSON.stringify(properties), /Sample .* \d{5}/, topic);
  }
});

for (const centre of DENSE_CENTRES) {
  test(`a bundle at the centre of ${centre.name} weighs 5 to 7 MB`, () => {
    const { counts, bytes } = around(centre);
    assert.ok(bytes > 5e6 && bytes < 7e6, `${bytes} bytes`);
    const features = counts.reduce((a, b) => a + b, 0);
    assert.ok(features > 10_000 && features < 14_000, `${features} features`);
  });
}

test('other cities have fewer than a hundred sites of a topic', () => {
  for (const city of CITIES) {
    if (DENSE_CENTRES.some(({ name }) => name === city.name)) continue;
    const { counts } = around(city);
    assert.ok(Math.max(...counts) > 0 && Math.max(...counts) < 100, `${city.name}: ${counts}`);
  }
});

test('rural Wyoming has almost no sites', () => {
  const { counts } = around({ lat: 43.04, lng: -108.63 });
  assert.equal(counts.length, PROXIMITY_SLUGS.length);
  assert.ok(counts.reduce((a, b) => a + b, 0) < 5, String(counts));
  const county = sites.flatMap(({ records }) =>
    records.filter(({ properties }) => [properties.County, properties.CountyName].includes('Sublette')),
  );
  assert.ok(county.length < 30, String(county.length));
});
