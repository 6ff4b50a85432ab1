import assert from 'node:assert/strict';
import test from 'node:test';
import type { Geometry, Point } from 'geojson';
import { createDataVersion } from '../../src/data/tables/data-database.ts';
import { FeatureTiles } from '../../src/data/tables/feature-tiles.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import { type CachedFeature, createLayerSearch } from '../../src/data/tables/layer-search.ts';
import type { EventRecord } from '../../src/data/tables/records.ts';
import { distanceMeters } from '../../src/geo/coordinates.ts';
import { nearestMeters } from '../../src/geo/nearest.ts';
import { fc } from '../properties.ts';
import { feature, info, openDatabase, StillClock } from '../service/small-data.ts';

test('searches and counts over cached tiles find the same as a scan of all features, within the limit of bytes', (t) => {
  const lng = fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -0.3, max: 0.3, noNaN: true }),
  );
  const lat = fc.double({ min: -0.3, max: 0.3, noNaN: true });
  const place = fc.tuple(
    fc.oneof(
      lng,
      fc.constantFrom(-180, 180, 0, 0.0625, -0.0625),
      fc.double({ min: 179.8, max: 180, noNaN: true }),
      fc.double({ min: -180, max: -179.8, noNaN: true }),
    ),
    fc.oneof(lat, fc.constantFrom(0, 0.03125)),
  );
  const geometry = fc.oneof(
    place.map((coordinates): Geometry => ({ type: 'Point', coordinates })),
    fc.tuple(place, lat, lat, lat, lat).map(([[x, y], ...[dx, dy, dx2, dy2]]): Geometry => {
      const along = (degrees: number) => Math.max(-180, Math.min(180, x + degrees));
      // Bent, so that a line can be far from places within its box.
      return {
        type: 'LineString',
        coordinates: [
          [x, y],
          [along(dx), y + dy],
          [along(dx2), y + dy2],
        ],
      };
    }),
  );
  const database = openDatabase(t);
  const limit = 6_000;
  const tiles = new FeatureTiles<CachedFeature>(limit);
  const { find } = createLayerSearch(database, 'json', tiles);
  const countTiles = new FeatureTiles<CachedFeature>(limit);
  const { count, measure } = createLayerSearch(
    database,
    'places',
    countTiles,
    createDataVersion(database),
  );
  const clock = new StillClock();
  fc.assert(
    fc.property(
      fc.array(geometry, { maxLength: 80 }),
      fc.array(fc.tuple(place, fc.constantFrom(500, 5_000, 25_000, 100_000)), {
        minLength: 1,
        maxLength: 6,
      }),
      (geometries, asked) => {
        const records: EventRecord[] = geometries.map((shape, number) =>
          feature(shape, { number }),
        );
        // Each load replaces what the tiles hold.
        importDataset(
          database,
          { kind: 'sites', topic: 'park', info: info('sites:park'), records },
          clock,
        );
        for (const [[x, y], meters] of asked) {
          const location = { lng: x, lat: y };
          const metersTo = (shape: Geometry) => {
            const [start] =
              shape.type === 'LineString' ? shape.coordinates : [(shape as Point).coordinates];
            const toStart = distanceMeters(location, { lng: start![0]!, lat: start![1]! });
            if (shape.type === 'Point') return toStart;
            // Lines are shorter than 150 km, and the plane of nearestMeters is no good for those on the far side of the earth.
            return toStart < 200_000
              ? nearestMeters(location, [{ geometry: shape }])!
              : Number.POSITIVE_INFINITY;
          };
          const expected = geometries
            .map((shape, number) => ({ number, meters: metersTo(shape) }))
            .filter((one) => one.meters <= meters)
            .sort((a, b) => a.meters - b.meters || a.number - b.number);
          const features = find('sites:park', location, meters);
          const sent = features.map(({ feature: { bytes } }) => JSON.parse(`${bytes}0}}`));
          const found = features.map((one, index) => ({
            number: sent[index].properties.number,
            meters: one.meters,
          }));
          assert.deepEqual(found, expected);
          assert.equal(count('sites:park', location, meters), expected.length);
          const measured = measure('sites:park', location, meters);
          assert.deepEqual(measured, {
            count: expected.length,
            nearestMeters: nearestMeters(location, sent),
          });
          for (const { bytes } of [tiles, countTiles])
            assert.ok(bytes <= limit, `${bytes} bytes are kept`);
        }
      },
    ),
    { seed: 5, numRuns: 150 },
  );
});
