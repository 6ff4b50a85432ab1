import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerFields } from '../../src/columns/topic-columns.ts';
import { NATURAL_SLUGS, PAID_SLUGS, type TopicSlug } from '../../src/contract/topics.ts';
import {
  createPlaceLookup,
  type LookupOptions,
  openPlaceLookup,
  type PlaceLookup,
} from '../../src/data/lookup/place-lookup.ts';
import { createDataVersion } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { Dataset } from '../../src/data/tables/records.ts';
import type { Location } from '../../src/geo/coordinates.ts';
import {
  AREAS,
  AT_SEA,
  coverOnly,
  databaseFile,
  deliveries,
  HERE,
  info,
  NEXT_DOOR,
  NOON,
  openDatabase,
  openSmallData,
  RATINGS,
  StillClock,
  square,
} from '../service/small-data.ts';

/** A look-up on the small data set, or on other data. */
function lookUpIn(
  t: TestContext,
  {
    counts = true,
    data,
    sql = '',
  }: Partial<LookupOptions> & { data?: readonly Dataset[]; sql?: string } = {},
): PlaceLookup {
  const database =
    data === undefined
      ? openSmallData(t, databaseFile(t), new StillClock())
      : openDatabase(t, databaseFile(t));
  for (const dataset of data ?? []) importDataset(database, dataset, new StillClock());
  database.exec(sql);
  return createPlaceLookup(database, { counts }, createDataVersion(database));
}

function resultsAt(
  lookUp: PlaceLookup,
  location: Location,
  topics: readonly TopicSlug[],
  now = NOON,
) {
  const found = lookUp(topics, location, now);
  assert.ok(found.kind === 'covered', found.kind);
  return found.results;
}

test('a place outside the US, data without areas and areas with gaps are three things', (t) => {
  assert.deepEqual(lookUpIn(t)(PAID_SLUGS, { lat: 41.25, lng: -96 }, NOON), {
    kind: 'incomplete_areas',
    state: 'NE',
  });
  assert.deepEqual(lookUpIn(t)(PAID_SLUGS, AT_SEA, NOON), { kind: 'outside_coverage' });
  assert.deepEqual(lookUpIn(t, { data: [] })(PAID_SLUGS, HERE, NOON), {
    kind: 'no_areas',
    state: 'NE',
  });
  assert.deepEqual(lookUpIn(t)(PAID_SLUGS, IN_MARYLAND, NOON), { kind: 'no_areas', state: 'MD' });
  assert.deepEqual(lookUpIn(t, { data: [] })(PAID_SLUGS, AT_SEA, NOON), {
    kind: 'no_areas',
    state: '',
  });
  // Off Virginia Beach, whose boundaries are missing, or those of a rated tract; and inland in it, far from the tract that has some.
  for (const [geoid, rated, lat, lng] of [
    ['51710', [], 36.85, -75.95],
    [
      '51810042801',
      RATINGS.slice(0, 1).map((one) => ({ ...one, geoid: '51810042802' })),
      36.85,
      -75.96,
    ],
    ['51810042801', [], 36.7, -76.05],
  ] as const) {
    const records = [
      { ...AREAS[geoid.length === 5 ? 0 : 1]!, geoid, geometry: square(-76.1, 36.9, 0.01) },
    ];
    const data = [
      { kind: 'areas', info: info('areas'), records },
      { kind: 'nri', info: info('nri'), records: rated },
    ];
    const lookUp = lookUpIn(t, { data: data as readonly Dataset[] });
    assert.deepEqual(lookUp(PAID_SLUGS, { lat, lng }, NOON), {
      kind: 'incomplete_areas',
      state: 'VA',
    });
  }
  const found = lookUpIn(t)(PAID_SLUGS, HERE, NOON);
  assert.deepEqual(found.kind === 'covered' && found.area, {
    geoid: '31001000100',
    county: '31001',
  });
  // A layer needs no boundaries: it has its answer beside topics that do.
  const beside = lookUpIn(t)(['hail', 'floodZone'], { lat: 41.25, lng: -96 }, NOON);
  assert.deepEqual(beside.kind === 'covered' && beside.results, [
    { reason: 'unavailable', cause: 'incomplete_areas', datasets: ['areas'], states: ['NE'] },
    { reason: 'no_data' },
  ]);
});

test('a topic without a result says why, with the datasets and the state', (t) => {
  const unavailable = (cause: string, ...datasets: string[]) => [
    { reason: 'unavailable', cause, datasets, states: ['NE'] },
  ];
  const lookUp = lookUpIn(t, {
    data: deliveries().filter(({ info: { name } }) => name !== 'sites:park'),
    sql: `${coverOnly('IA,KS', 'radon', 'areas', 'sites:superfund')}
          DELETE FROM ratings_county WHERE topic = 'hail';
          DELETE FROM air_quality`,
  });
  assert.deepEqual(
    resultsAt(lookUp, HERE, ['park']),
    unavailable('not_loaded', 'areas', 'sites:park'),
  );
  assert.deepEqual(resultsAt(lookUp, HERE, ['radon']), unavailable('not_loaded', 'areas', 'radon'));
  const other = lookUpIn(t, {
    sql: `${coverOnly('IA,KS', 'radon')} UPDATE OR REPLACE ratings_county SET geoid = '31185' WHERE topic = 'hail';
          DELETE FROM ratings_county WHERE topic = 'tsunami';
          DELETE FROM ratings_tract; DELETE FROM air_quality`,
  });
  assert.deepEqual(resultsAt(other, HERE, ['radon']), unavailable('not_loaded', 'radon'));
  assert.deepEqual(resultsAt(other, NEXT_DOOR, ['hail']), [{ reason: 'no_data' }]);
  assert.deepEqual(resultsAt(other, HERE, ['hail']), unavailable('incomplete', 'nri'));
  assert.deepEqual(resultsAt(other, NEXT_DOOR, ['tsunami']), unavailable('incomplete', 'nri'));
  assert.deepEqual(resultsAt(other, HERE, ['airQuality']), [{ reason: 'no_data' }]);
  const elsewhere = lookUpIn(t, { sql: "UPDATE ratings_tract SET geoid = '31001000500'" });
  assert.deepEqual(resultsAt(elsewhere, HERE, ['hail']), [{ reason: 'no_data' }]);
  // The index rates the tract, and nothing tells that the place is in it.
  const countiesOnly = lookUpIn(t, {
    sql: "DELETE FROM areas_tract; DELETE FROM area_boxes_tract; DELETE FROM radon; UPDATE datasets SET sample = 1 WHERE name = 'readings'",
  });
  assert.deepEqual(resultsAt(countiesOnly, HERE, ['hail']), unavailable('no_tracts', 'areas'));
  assert.ok('value' in resultsAt(countiesOnly, NEXT_DOOR, ['hail'])[0]!);
  assert.deepEqual(resultsAt(countiesOnly, HERE, ['radon']), [{ reason: 'no_data' }]);
  // Made-up readings do not grow old.
  assert.ok('value' in resultsAt(countiesOnly, HERE, ['ozone'], NOON + 4 * HOUR_MS)[0]!);
  assert.deepEqual(
    resultsAt(other, HERE, ['ozone'], NOON + 4 * HOUR_MS),
    unavailable('too_old', 'readings'),
  );
});

test('fires of the moment are counted until the day after that of the newest one, and are unknown from then on', (t) => {
  const day = (NOON - (NOON % (24 * HOUR_MS))) / HOUR_MS;
  const at = (vintage: string, hours: number) => {
    const sql = `UPDATE parts SET vintage = '${vintage}' WHERE dataset = 'records:wildfire.current'`;
    const [found] = resultsAt(lookUpIn(t, { sql }), HERE, ['wildfire'], (day + hours) * HOUR_MS);
    return found !== undefined && 'counts' in found ? found.counts : undefined;
  };
  const date = new Date(NOON).toISOString().slice(0, 10);
  assert.deepEqual(at(`to ${date}`, 47), [2, 2, 2]);
  assert.deepEqual(at(`to ${date}`, 49), [null, 2, 2]);
  assert.deepEqual(at(`to ${date}, from Esri copy`, 49), [null, 2, 2]);
  assert.deepEqual(at('to 2022-01-02', 1), [null, 2, 2]);
  // Made-up fires have no day.
  assert.deepEqual(at('sample-4', 49), [2, 2, 2]);
});

test('counts are of the loaded events, and without counts no event is searched', (t) => {
  const sql = "DELETE FROM datasets WHERE name = 'records:wildfire.historical'";
  const [hail, wildfire, park] = resultsAt(lookUpIn(t, { sql }), HERE, [
    'hail',
    'wildfire',
    'park',
  ]);
  const countsOf = (result: typeof hail) =>
    result !== undefined && 'counts' in result ? result.counts : undefined;
  assert.deepEqual([countsOf(hail), countsOf(wildfire), countsOf(park)], [[2], [2, null, 2], []]);
  // A search would fail without the table.
  const without = { sql: 'DROP TABLE records_hail; DROP TABLE records_wildfire_current' };
  assert.throws(() => resultsAt(lookUpIn(t, without), HERE, ['hail']), /records_hail/);
  const bare = lookUpIn(t, { ...without, counts: false });
  for (const [index, result] of resultsAt(bare, HERE, NATURAL_SLUGS).entries()) {
    assert.ok('value' in result);
    assert.equal(result.counts, null);
    assert.deepEqual(answerFields(NATURAL_SLUGS[index]!, result), ['Relatively High', 81.5, 0.25]);
  }
});

test('what holds in a whole area is one result for its places; what differs among them is asked at each', (t) => {
  const topics: readonly TopicSlug[] = ['hail', 'coldWave', 'airQuality', 'radon', 'ozone', 'park'];
  const held = (lookUp: PlaceLookup, at: Location) => {
    const found = lookUp(topics, at, NOON);
    assert.ok(found.kind === 'covered' && found.ofArea !== null);
    for (const [index, result] of found.ofArea.entries())
      if (result !== null) assert.equal(result, found.results[index]);
    return found.ofArea;
  };
  const ofAreas = (counts: boolean, sql = '') => {
    const lookUp = lookUpIn(t, { counts, sql });
    const here = held(lookUp, HERE);
    assert.equal(held(lookUp, { lat: HERE.lat + 0.0001, lng: HERE.lng }), here);
    assert.notEqual(held(lookUp, NEXT_DOOR), here);
    return topics.filter((_, index) => here[index] !== null);
  };
  assert.deepEqual(ofAreas(true), ['coldWave', 'airQuality', 'radon']);
  assert.deepEqual(ofAreas(false), ['hail', 'coldWave', 'airQuality', 'radon']);
  // Made-up ratings differ within a county.
  assert.deepEqual(ofAreas(false, "UPDATE datasets SET sample = 1 WHERE name = 'nri'"), [
    'airQuality',
    'radon',
  ]);
});

test('a handle answers from one version, whatever is loaded in the meantime', (t) => {
  const file = databaseFile(t);
  const database = openSmallData(t, file, new StillClock());
  using before = openPlaceLookup(file, { counts: true });
  const replaced: Dataset[] = [
    { kind: 'sites', topic: 'park', info: info('sites:park'), records: [] },
    { kind: 'radon', info: info('radon'), records: [{ countyGeoid: '31001', zone: 1 }] },
    { kind: 'areas', level: 'tract', info: info('areas'), records: [AREAS[2]!] },
  ];
  for (const dataset of replaced) importDataset(database, dataset, new StillClock());
  const look = ({ lookUp }: { lookUp: PlaceLookup }) => {
    const found = lookUp(['park', 'radon'], HERE, NOON);
    assert.ok(found.kind === 'covered');
    const [park, radon] = found.results;
    const zone = answerFields('radon', radon as Extract<typeof radon, { value: unknown }>)[0];
    return [found.area.geoid, 'value' in park! && park.value, zone];
  };
  assert.deepEqual(look(before), ['31001000100', 2, 'Zone 2']);
  using after = openPlaceLookup(file, { counts: true });
  assert.deepEqual(look(after), ['31001', 0, 'Zone 1']);
  assert.notEqual(after.version, before.version);
  using again = openPlaceLookup(file, { counts: false });
  assert.equal(again.version, after.version);
});

const HOUR_MS = 3_600_000;
const IN_MARYLAND = { lat: 39, lng: -76.5 };
