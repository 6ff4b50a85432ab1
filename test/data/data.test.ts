import assert from 'node:assert/strict';
import test from 'node:test';
import { NATURAL_SLUGS, TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { describeData } from '../../src/data/tables/describe-data.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { Dataset, SiteRecord } from '../../src/data/tables/records.ts';
import { boxOfGeometry } from '../../src/geo/bounding-boxes.ts';
import {
  AREAS,
  databaseFile,
  deliveries,
  feature,
  HERE,
  info,
  openAccountsOf,
  openDatabase,
  pathTo,
  point,
  request,
  StillClock,
  setUp,
  square,
} from '../service/small-data.ts';

const clock = new StillClock();

const parks = (records: Iterable<SiteRecord>) =>
  ({ kind: 'sites', topic: 'park', info: info('sites:park'), records }) satisfies Dataset;

test('a feature counts by its true distance, whether a point, a line or an outline, and not by its box', async (t) => {
  const { get, database } = await setUp(t);
  const degree = 111_195;
  const east = (meters: number) =>
    HERE.lng + meters / (degree * Math.cos((HERE.lat * Math.PI) / 180));
  const north = (meters: number) => HERE.lat + meters / degree;
  const away = [-80, 30];
  const line = (...coordinates: [number, number][]) =>
    feature({ type: 'LineString', coordinates }, { line: true });
  importDataset(
    database,
    parks([
      point(HERE.lng, north(4_980), { name: 'just within' }),
      point(HERE.lng, north(5_020), { name: 'just beyond' }),
      point(east(4_000), north(4_000), { name: 'in the box, beyond the circle' }),
      line([east(-9_000), north(4_900)], [east(9_000), north(4_900)]),
      line([east(-9_000), north(5_100)], [east(9_000), north(5_100)]),
      // A corner of its box lies within, its line does not.
      line([east(-9_000), north(4_000)], [east(-4_000), north(9_000)]),
      feature(square(HERE.lng - 1, HERE.lat - 1, 2), { name: 'around' }),
      feature(
        { type: 'MultiPoint', coordinates: [away, [HERE.lng, HERE.lat]] },
        { name: 'one of two' },
      ),
      feature(
        { type: 'GeometryCollection', geometries: [square(east(100), north(100), 0.001)] },
        { name: 'nested' },
      ),
    ]),
    clock,
  );
  const { value, details } = (await get(pathTo('/v1/park/risk'))).body.data.result;
  assert.equal(value, 5);
  const told = details.features.map(({ properties }: { properties: Record<string, unknown> }) =>
    Object.values(properties).join(' '),
  );
  assert.deepEqual(told, [
    'around 0',
    'one of two 0',
    'nested 141',
    'true 4900',
    'just within 4980',
  ]);
});

test('a property has one type in all features, whatever the format of the file; a ZIP is text; ids are kept', async (t) => {
  const { get, database } = await setUp(t);
  const properties = async () =>
    (await get(pathTo('/v1/park/risk'))).body.data.result.details.features.map(
      (one: { id?: unknown; properties: unknown }) => [one.id, one.properties],
    );
  const east = (index: number) => HERE.lng + index * 1e-3;
  const rows = [
    {
      ZIP: 2_139,
      height: '12.50',
      unit: 7,
      FIPS: 31_001,
      name: '76',
      note: '',
      long: '1234567890123456',
    },
    { ZIP: '68002', height: 9, unit: '7A', FIPS: '01003', name: 'Shell', note: 'x', long: 1 },
    {
      ZIP: '21390001',
      height: '-0.5',
      unit: '12',
      open: true,
      list: ['1', 2],
      none: null,
      name: 'Mobil',
    },
    { ZIP: 'n/a', height: '0', unit: 1.5, distance_m: 'theirs', name: 1 },
  ];
  const records = rows.map((row, index) => ({
    ...point(east(index), HERE.lat, row),
    ...(index < 2 ? { id: `p${index}` } : {}),
  }));
  importDataset(database, parks(records), clock);
  const expected = [
    [
      'p0',
      {
        ZIP: '02139',
        height: 12.5,
        unit: '7',
        FIPS: '31001',
        name: '76',
        long: '1234567890123456',
        distance_m: 0,
      },
    ],
    [
      'p1',
      {
        ZIP: '68002',
        height: 9,
        unit: '7A',
        FIPS: '01003',
        name: 'Shell',
        note: 'x',
        long: '1',
        distance_m: 85,
      },
    ],
    [
      undefined,
      {
        ZIP: '021390001',
        height: -0.5,
        unit: '12',
        open: true,
        list: ['1', 2],
        none: null,
        name: 'Mobil',
        distance_m: 170,
      },
    ],
    [undefined, { height: 0, unit: '1.5', name: '1', distance_m: 255 }],
  ];
  assert.deepEqual(await properties(), expected);
  // What is kept has no distance of its own.
  const kept = database.prepare<[], string>('SELECT feature FROM sites_park').pluck().all();
  assert.doesNotMatch(kept.join(), /distance_m/);
  assert.throws(() => importDataset(database, parks(broken()), clock), /The file ends early/);
  assert.deepEqual(await properties(), expected, 'the data that was there');
});

test('features across the 180th meridian are counted', async (t) => {
  const { get, database } = await setUp(t);
  const areas = [...AREAS, { ...AREAS[0]!, geoid: '02016', geometry: square(179.5, 51, 0.5) }];
  importDataset(database, { kind: 'areas', info: info('areas'), records: areas }, clock);
  importDataset(database, parks([point(-179.99, 51.2), point(179.99, 51.2)]), clock);
  const { body } = await get(pathTo('/v1/park/risk', { lat: 51.2, lng: 179.995 }));
  assert.equal(body.data.result.value, 2);
});

test('a load replaces the whole dataset, also while a service runs', async (t) => {
  const { get, database, file, service, key } = await setUp(t);
  const count = async () => (await get(pathTo('/v1/park/risk'))).body.data.result.value;
  assert.equal(await count(), 2);
  const other = openDatabase(t, file);
  importDataset(other, parks([point(HERE.lng, HERE.lat)]), clock);
  assert.equal(await count(), 1);
  importDataset(other, parks([]), clock);
  assert.equal(await count(), 0);
  const moved = AREAS.map((area) => ({ ...area, geometry: square(-120, 40, 1) }));
  importDataset(other, { kind: 'areas', info: info('areas'), records: moved.slice(0, 1) }, clock);
  // The boundaries that are here leave out this place.
  assert.equal((await get(pathTo('/v1/park/risk'))).status, 502);
  assert.equal(
    (await request(service.url + pathTo('/v1/park/risk', { lat: 40.5, lng: -119.5 }), key)).status,
    200,
  );
  importDataset(database, { kind: 'areas', info: info('areas'), records: AREAS }, clock);
  assert.equal(await count(), 0);
});

function* broken(): Generator<SiteRecord> {
  yield point(0, 0);
  throw new Error('The file ends early');
}

test('a load that fails leaves the dataset as it was, and names a record that the database refuses', (t) => {
  const database = openDatabase(t);
  importDataset(database, parks([point(0, 0), point(1, 1)]), clock);
  const before = describeData(database);
  const rating = {
    geoid: '31001',
    topic: 'hail',
    rating: 'Very Low',
    score: 1,
    frequency: 1,
  } as const;
  const refused = { code: 'SERVICE_DATA', message: /record 2: UNIQUE/ };
  const twice = { kind: 'nri', info: info('nri'), records: [rating, rating] } as const;
  assert.throws(() => importDataset(database, twice, clock), refused);
  assert.throws(() => importDataset(database, parks(broken()), clock), /The file ends early/);
  assert.deepEqual(describeData(database), before);
  assert.equal(before.datasets[0]!.rows, 2);
});

test('a geometry without positions within ±180 and ±90 degrees has no box', () => {
  const bad = [
    { type: 'Point', coordinates: [0, 90.1] },
    { type: 'Point', coordinates: [200, 0] },
    { type: 'Point', coordinates: [Number.NaN, 0] },
    { type: 'Point', coordinates: [] },
    { type: 'LineString', coordinates: [[0, 0]] },
    { type: 'Polygon', coordinates: [] },
    { type: 'GeometryCollection', geometries: [] },
    { type: 'toString' },
    {},
    null,
  ];
  for (const geometry of bad) assert.equal(boxOfGeometry(geometry), null, JSON.stringify(geometry));
  assert.deepEqual(boxOfGeometry(point(1, 2).geometry), {
    minLng: 1,
    maxLng: 1,
    minLat: 2,
    maxLat: 2,
  });
});

test('the median of the year tells the air quality, and the nearest of several monitors the pollutant', async (t) => {
  const { get, database } = await setUp(t);
  const year = deliveries().find(({ kind }) => kind === 'airQuality') as Dataset & {
    kind: 'airQuality';
  };
  const [summary] = [...year.records];
  const of = (medianAqi: number, at: number) => ({ ...summary!, medianAqi, year: at });
  importDataset(database, { ...year, records: [of(320, 2025)] }, clock);
  // Four hours old, the oldest that count.
  const measuredAt = clock.at - 4 * 3_600_000;
  const reading = { ...HERE, pollutant: 'pm25', measuredAt, concentration: 1 } as const;
  const records = [
    { ...reading, monitor: 'silent', measuredAt: measuredAt - 1, concentration: 500 },
    { ...reading, monitor: 'far', lat: HERE.lat + 0.5 },
    { ...reading, monitor: 'near', lat: HERE.lat + 0.4, concentration: 230, measuredAt: 1_000 },
    { ...reading, monitor: 'near', lat: HERE.lat + 0.4, concentration: 60 },
    { ...reading, monitor: 'older', pollutant: 'ozone', concentration: 2 },
    { ...reading, monitor: 'other', pollutant: 'ozone', concentration: 3, measuredAt: clock.at },
    { ...reading, monitor: 'another', pollutant: 'ozone', concentration: 4, measuredAt: clock.at },
    { ...reading, monitor: 'too far', lat: HERE.lat + 0.73, pollutant: 'pm10' },
    {
      ...reading,
      monitor: 'in the corner',
      lat: HERE.lat + 0.6,
      lng: HERE.lng + 0.8,
      pollutant: 'pm10',
    },
  ] as const;
  importDataset(database, { kind: 'readings', info: info('readings'), records }, clock);
  const { airQuality, ozone, pm25, pm10, radon } = (await get(pathTo('/v1/bundle/enterprise'))).body
    .data.topics;
  assert.equal(airQuality.value.metric, 'Hazardous');
  assert.equal(airQuality.value.progressValue, 64);
  assert.equal(pm25.value.measurement.value, 60);
  assert.equal(pm25.value.rating, 'Unhealthy');
  assert.equal(ozone.value.measurement.value, 4);
  assert.deepEqual(pm10, { error: 'unavailable', reason: 'no_data' });
  assert.match(radon.value.caption, /^Moderate potential/);
});

test('a rating is that of the tract, or of the county where the tract has none, from the load on', async (t) => {
  const { get, database } = await setUp(t);
  const ratingAt = async (lng: number) =>
    (await get(pathTo('/v1/drought/risk', { lat: HERE.lat, lng }))).body.data.result.value.rating;
  assert.equal(await ratingAt(HERE.lng), 'Relatively High');
  const rating = { topic: 'drought', score: 1, frequency: 2 } as const;
  const records = [
    { ...rating, geoid: '31001000100', rating: 'Very High' },
    { ...rating, geoid: '31001', rating: 'Very Low' },
  ] as const;
  importDataset(database, { kind: 'nri', info: info('nri'), records }, clock);
  assert.equal(await ratingAt(HERE.lng), 'Very High');
  assert.equal(await ratingAt(-99.25), 'Very Low');
});

test('the description lists the datasets, what can be answered, what is missing, and samples', (t) => {
  const database = openDatabase(t);
  const nothing = describeData(database);
  assert.deepEqual([nothing.datasets, nothing.topics, nothing.sample], [[], [], false]);
  const lacking = nothing.unavailable.map(({ topic }) => topic);
  assert.deepEqual(lacking, TOPIC_SLUGS);
  for (const dataset of deliveries()) {
    if (dataset.kind === 'sites' || dataset.kind === 'readings' || dataset.kind === 'zones')
      continue;
    importDataset(database, dataset, clock);
  }
  const some = describeData(database);
  assert.deepEqual(some.topics, [...NATURAL_SLUGS, 'airQuality', 'radon']);
  assert.deepEqual(some.unavailable[0], { topic: 'brownfield', missing: ['sites:brownfield'] });
  assert.equal(some.sample, false);
  assert.deepEqual(some.withoutRecords, []);
  for (const dataset of deliveries())
    importDataset(database, { ...dataset, info: { ...dataset.info, sample: true } }, clock);
  const all = describeData(database);
  const described = { ...info('areas', true), loadedAt: clock.at, states: ['NE'] };
  const territories = ['AS', 'GU', 'MP', 'PR', 'VI'];
  const of = { state: 'US', territories, files: [], vintage: '2026' };
  const part = { ...of, reach: 0, loadedAt: clock.at };
  assert.deepEqual(all.topics, TOPIC_SLUGS);
  assert.equal(all.sample, true);
  const areas = all.datasets.filter(({ name }) => name === 'areas');
  assert.deepEqual(areas, [
    { ...described, level: 'county', rows: 2, parts: [{ ...part, rows: 2 }] },
    { ...described, level: 'tract', rows: 4, parts: [{ ...part, rows: 4 }] },
  ]);
});

test('a file that is no database, or of another version, is refused with a reason', (t) => {
  const file = databaseFile(t);
  assert.throws(() => openDataDatabase(`${file}/nowhere/data.db`), { code: 'SERVICE_DATA' });
  assert.throws(() => openDataDatabase(import.meta.filename), { code: 'SERVICE_DATA' });
  const database = openDataDatabase(file);
  database.pragma('user_version = 99');
  database.close();
  assert.throws(() => openDataDatabase(file), { code: 'SERVICE_DATA', message: /version 99/ });
  const former = openDataDatabase(databaseFile(t));
  former.pragma('user_version = 6');
  former.close();
  const message = `Cannot read the data file "${former.name}": it was made by an earlier development version of Perilbook`;
  assert.throws(() => openDataDatabase(former.name), { code: 'SERVICE_DATA', message });
});

test('while another process writes to the accounts, a call fails free of charge and the next ones succeed', async (t) => {
  const errors: unknown[] = [];
  const { get, accounts, file, service, key } = await setUp(t, {
    service: { onError: (error) => errors.push(error) },
  });
  accounts.pragma('busy_timeout = 20');
  const other = openAccountsOf(t, file);
  other.exec('BEGIN IMMEDIATE');
  const refused = await get(pathTo('/v1/park/risk'));
  assert.equal(refused.status, 502);
  assert.equal(refused.body.error.code, 'UPSTREAM_UNAVAILABLE');
  assert.equal(errors.length, 1);
  other.exec('ROLLBACK');
  assert.equal((await request(service.url + pathTo('/v1/park/risk'), key)).status, 200);
  assert.equal(accounts.prepare('SELECT count(*) FROM charges').pluck().get(), 1);
});
