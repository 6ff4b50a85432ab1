import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { MultiPolygon, Polygon, Position } from 'geojson';
import {
  type Area,
  COAST_METERS,
  createAreaFinder,
  LoadedAreas,
} from '../../src/data/tables/area-finder.ts';
import {
  countiesWithoutRatings,
  createLeftOutCheck,
} from '../../src/data/tables/boundary-check.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord, Dataset } from '../../src/data/tables/records.ts';
import {
  outlineHolds,
  makeOutline as outlineOfRings,
  packArea,
  packRings,
} from '../../src/geo/outline.ts';
import { nationOutline } from '../../src/geo/us-coverage.ts';
import { sampleDatasets } from '../../src/sample/add-sample.ts';
import { positions } from '../geo/lines.ts';
import { placesOf } from '../geo/listed-places.ts';
import { fc } from '../properties.ts';
import { AREAS, info, NOON, openDatabase, StillClock, square } from '../service/small-data.ts';

const makeOutline = (geometry: Polygon | MultiPolygon) => outlineOfRings(packArea(geometry));

function finderOf(t: TestContext, records: readonly AreaRecord[]) {
  const database = openDatabase(t);
  const add = (dataset: Dataset) => importDataset(database, dataset, new StillClock());
  add({ kind: 'areas', info: info('areas'), records });
  const find = createAreaFinder(database);
  return Object.assign((lng: number, lat: number): Area | null => find({ lat, lng }), {
    database,
    addCounty: (county: AreaRecord) =>
      add({ kind: 'areas', level: 'county', info: info('areas'), records: [county] }),
    rate: (...geoids: readonly string[]) =>
      add({ kind: 'nri', info: info('nri'), records: geoids.map(ratingOf) }),
  });
}

const ratingOf = (geoid: string) =>
  ({ geoid, topic: 'hail', rating: 'Very Low', score: 1, frequency: 1 }) as const;

const area = (geoid: string, lng: number, lat: number, size: number, state = 'VA'): AreaRecord => ({
  ...{
    geoid,
    level: geoid.length === 11 ? 'tract' : 'county',
    name: '',
    state,
    geometry: square(lng, lat, size),
  },
});

/** The counties of the sample. */
const SAMPLE = [...sampleDatasets(NOON)].flatMap(({ kind, records }) =>
  kind === 'areas' ? [...(records as Iterable<AreaRecord>)] : [],
);

test('a ring that does not end where it begins is closed, also where both positions are on one meridian or parallel', () => {
  const ring = positions('0 0, 1 0, 1 1, 0 1');
  for (const open of [ring, ring.toReversed(), [...ring.slice(1), ring[0]!]]) {
    assert.deepEqual(packRings([open]), packRings([[...open, open[0]!]]));
    assert.equal(packRings([open])[1], 5);
  }
});

test('a polygon cut in two along any line: every location inside is in exactly one half', () => {
  const whole = makeOutline(square(0, 0, 8));
  const inner = fc.double({ min: 0.001, max: 7.999, noNaN: true });
  fc.assert(
    fc.property(
      inner,
      inner,
      fc.array(fc.tuple(inner, inner), { maxLength: 6 }),
      inner,
      inner,
      (a, b, bends, x, y) => {
        const cut: Position[] = [[a, 0], ...bends.toSorted(([, p], [, q]) => p - q), [b, 8]];
        const west = makeOutline({
          type: 'Polygon',
          coordinates: [[[0, 0], ...cut, [0, 8], [0, 0]]],
        });
        const east = makeOutline({
          type: 'Polygon',
          coordinates: [[[8, 8], [8, 0], ...cut, [8, 8]]],
        });
        // A place on the cut itself is the hardest one.
        for (const [lng, lat] of [[x, y], ...bends] as [number, number][]) {
          const location = { lng, lat };
          assert.equal(outlineHolds(whole, location), true);
          assert.notEqual(outlineHolds(west, location), outlineHolds(east, location));
        }
      },
    ),
    { seed: 2, numRuns: 200 },
  );
});

test('holes are outside, islands in holes and second polygons inside', () => {
  const { coordinates: outer } = square(0, 0, 8);
  const hole = square(2, 2, 4).coordinates[0]!.toReversed();
  const outline = makeOutline({
    type: 'MultiPolygon',
    coordinates: [[outer[0]!, hole], square(3, 3, 2).coordinates, square(10, 0, 1).coordinates],
  });
  const holds = (lng: number, lat: number) => outlineHolds(outline, { lng, lat });
  const held = [holds(1, 1), holds(2.5, 4), holds(4, 4), holds(10.5, 0.5), holds(9, 0.5)];
  assert.deepEqual(held, [true, false, true, true, false]);
});

test('an outline is packed exact to 1e-7 degrees', () => {
  const ring = positions(
    '-179.9999999 89.9999999, 180 -90, -0.00000004 0.00000006, -179.9999999 89.9999999',
  );
  assert.deepEqual(
    packArea({ type: 'Polygon', coordinates: [ring] }),
    Int32Array.of(
      -1,
      4,
      -1_799_999_999,
      899_999_999,
      1_800_000_000,
      -900_000_000,
      0,
      1,
      -1_799_999_999,
      899_999_999,
    ),
  );
});

test('a location is in its tract, or in its county where there is no tract', (t) => {
  const find = finderOf(t, AREAS);
  assert.deepEqual(find(-99.75, 40.25), { geoid: '31001000100', county: '31001' });
  assert.deepEqual(find(-98.5, 40.5), { geoid: '31003', county: '31003' });
  // On the corner of four tracts, and on the edge of the two counties.
  assert.deepEqual(find(-99.5, 40.5), { geoid: '31001000400', county: '31001' });
  assert.deepEqual(find(-99, 40.5), { geoid: '31003', county: '31003' });
  // In Kansas, which has no boundaries: the nearest area of another state is not taken.
  assert.equal(find(-99.75, 39.999), null);
});

test('where outlines overlap, the area with the smallest geoid is found; in a gap, the nearest tract of the county', (t) => {
  const find = finderOf(t, [
    area('31001000300', -99.95, 40, 0.5, 'NE'),
    area('31001000200', -99.9, 40, 0.5, 'NE'),
    area('31003000100', -99, 40, 0.5, 'NE'),
    area('31001', -100, 40, 1, 'NE'),
    area('31003', -99, 40, 1, 'NE'),
  ]);
  assert.equal(find(-99.7, 40.2)!.geoid, '31001000200');
  // 850 m west of the tracts, in their county.
  assert.equal(find(-99.96, 40.2)!.geoid, '31001000300');
  // 850 m west of the other county's tract, far from its own: its county.
  assert.equal(find(-99.01, 40.2)!.geoid, '31001');
});

test('off the coast the nearest area within 5 km is found, and none beyond', (t) => {
  // The ocean front of Virginia Beach, drawn a little inland.
  const [lat, front] = [36.85, -75.97];
  const degree = 111_195 * Math.cos((lat * Math.PI) / 180);
  for (const geoid of ['51810042801', '51810']) {
    const find = finderOf(t, [area(geoid, front - 0.1, 36.8, 0.1)]);
    assert.equal(find(front + (COAST_METERS - 50) / degree, lat)!.geoid, geoid);
    // Farther out only an outline of a county is near enough: that of an island's.
    assert.equal(
      find(front + (COAST_METERS + 50) / degree, lat)?.geoid ?? null,
      geoid === '51810' ? geoid : null,
    );
    assert.equal(find(0, 0), null);
    assert.equal(find(180, 90), null);
  }
});

test('outside all outlines, a place that may be in a county without boundaries has no area', (t) => {
  const only = (...geoids: string[]) => {
    const named = SAMPLE.filter(({ geoid }) => geoids.includes(geoid));
    return finderOf(t, named);
  };
  // 0.4 and 3.7 km from Madison County, in Culpeper.
  const near = positions('-78.1247 38.4453, -78.1027 38.4713');
  for (const [lng, lat] of near) {
    assert.equal(only('51113')(lng, lat), null);
    assert.equal(only('51113', '51047')(lng, lat)!.geoid, '51047');
  }
  // Without the boundaries of Madison County, only the nearer place may be in it.
  const find = finderOf(t, [area('51047', -78.1, 38.45, 0.05)]);
  const found = near.map(([lng, lat]) => find(lng!, lat!)?.geoid);
  assert.deepEqual(found, [undefined, '51047']);
  // Off Virginia Beach, which has no boundaries, and Norfolk's end at the sea.
  assert.equal(finderOf(t, [area('51710', -76.07, 36.8, 0.1)])(-75.96, 36.85), null);
});

test('where only tracts have outlines, and a rated one lacks it, a place outside them has no area', (t) => {
  const find = finderOf(t, [area('51810042801', -76.07, 36.8, 0.1)]);
  const found = () => find(-75.96, 36.85)?.geoid;
  assert.equal(found(), '51810042801');
  find.rate('51810042801', '51810042802');
  assert.equal(found(), undefined);
  find.addCounty(area('51810', -76.07, 36.8, 0.1));
  assert.equal(found(), '51810');
});

test('a county of tracts alone is noticed where all others have outlines, and once it is loaded', (t) => {
  const find = finderOf(t, SAMPLE);
  const found = () => find(-75.96, 36.85)?.geoid;
  assert.equal(found(), '51810');
  const tract = area('51810042801', -76.07, 36.8, 0.1);
  const records = [...SAMPLE.filter(({ geoid }) => geoid !== '51810'), tract];
  importDataset(find.database, { kind: 'areas', info: info('areas'), records }, new StillClock());
  assert.equal(found(), '51810042801');
  find.rate('51810042801', '51810042802');
  assert.equal(found(), undefined);
});

test('counties with boundaries get no natural topic without ratings of their own, or of tracts with outlines', (t) => {
  const { database, rate } = finderOf(t, AREAS);
  assert.deepEqual([...countiesWithoutRatings(database)], [], 'no index at all is told otherwise');
  for (const [rated, ...without] of [
    [['31001000100', '31001'], '31003'],
    [['31001000100'], '31003'],
    [['31003', '31003000100'], '31001'],
    [['31003000100'], '31001', '31003'],
    [['31001', '31003']],
  ] as const) {
    database.exec('DELETE FROM ratings_tract; DELETE FROM ratings_county');
    rate(...rated);
    assert.deepEqual([...countiesWithoutRatings(database)], without, rated.join());
  }
  assert.ok(createLeftOutCheck(new Set(['10001', '51001', '51003']))('10003'));
});

test('Connecticut is whole with its eight former counties, and with its nine regions', (t) => {
  const regions = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((code) => area(`091${code}0`, -72.7, 41.6, 0.1));
  // Outside the outline, in Middlesex County.
  const place = [-72.71, 41.6] as const;
  assert.equal(finderOf(t, regions)(...place)!.geoid, '09110');
  assert.equal(finderOf(t, regions.slice(1))(...place), null);
});

test('where a rated tract has no outline, the county stands for it, not the nearest tract', (t) => {
  const find = finderOf(
    t,
    AREAS.filter(({ geoid }) => geoid !== '31001000200'),
  );
  assert.equal(find(-99.49, 40.25)!.geoid, '31001000100');
  find.rate('31001000100', '31001000200');
  assert.equal(find(-99.49, 40.25)!.geoid, '31001');
});

test('beyond a land border no area is near', (t) => {
  // El Paso, down to the Rio Grande at 31.75; Ciudad Juárez begins there.
  const find = finderOf(t, [area('48141', -106.55, 31.75, 0.25, 'TX')]);
  assert.equal(find(-106.48, 31.76)!.geoid, '48141');
  assert.equal(find(-106.48, 31.744), null);
  assert.equal(find(-106.45, 31.72), null);
});

test('an area on the 180th meridian is found from both sides of it', (t) => {
  const find = finderOf(t, [area('02016', 179.5, 51, 0.5, 'AK')]);
  assert.equal(find(179.9, 51.2)!.geoid, '02016');
  assert.equal(find(-179.99, 51.2)!.geoid, '02016');
  assert.equal(find(-178.5, 51.2), null);
});

test('an outline that was evicted from memory is the same when it is read again', (t) => {
  const geoidOf = (number: number) => `310010${String(number).padStart(5, '0')}`;
  const records = Array.from({ length: 12 }, (_, index) =>
    area(geoidOf((index * 5) % 12), -100 + index, 40, 1, 'NE'),
  );
  const database = openDatabase(t);
  importDataset(database, { kind: 'areas', info: info('areas'), records }, new StillClock());
  // A square has 12 coordinates, and its edges: three of them fit.
  const level = new LoadedAreas(database, 'tract', 70);
  level.refresh();
  const geometries = new Map(records.map(({ geoid, geometry }) => [geoid, geometry]));
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 40 }), (places) => {
      for (const place of places) {
        const { geoid } = level.area(place);
        assert.equal(geoid, geoidOf(place));
        assert.deepEqual(
          level.outlines.outline(place),
          makeOutline(geometries.get(geoid) as Polygon),
        );
      }
    }),
    { seed: 4, numRuns: 50 },
  );
});

test('the sample covers the islands that outlines leave out, but for some far ones, and no foreign town', (t) => {
  const find = finderOf(t, SAMPLE);
  const unknown = placesOf('island').filter(([, lat, lng]) => find(lng, lat) === null);
  assert.equal(unknown.length, 13);
  // Its areas are the shapes of 1:10m, which hold three towns beyond the border.
  const known = placesOf('neighbour').filter(([, lat, lng]) => find(lng, lat) !== null);
  const drawn = known.filter(([, lat, lng]) => outlineHolds(nationOutline(), { lat, lng }));
  assert.deepEqual([known.length, known], [3, drawn]);
});
