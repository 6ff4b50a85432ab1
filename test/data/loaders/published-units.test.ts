import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FLOOD_ZONES } from '../../../src/contract/layers/flood-zones.ts';
import { loadParts } from '../../../src/data/loaders/load-files.ts';
import { createDataVersion } from '../../../src/data/tables/data-database.ts';
import { storedParts } from '../../../src/data/tables/parts.ts';
import { createZoneFinder } from '../../../src/data/zones/zone-finder.ts';
import { openDatabase, StillClock, square } from '../../service/small-data.ts';
import { AQI_HEADER, fileOf, geojson, loading } from './loading.ts';

/* What a publisher issues by itself: studies, counties, days, basins. */

const EFFECTS = { clock: new StillClock(), onRecords: () => {} };

const study = (
  t: TestContext,
  DFIRM_ID: string,
  count: number,
  { at = 0, effective = '' } = {},
) => {
  const zones = Array.from({ length: count }, (_, index) => ({
    geometry: square(-77.4 + at + index / 100, 38.8, 0.01),
    properties: { DFIRM_ID, FLD_ZONE: 'AE', ZONE_SUBTY: null, SFHA_TF: 'T' },
  }));
  const panel = {
    geometry: square(-77.4 + at, 38.8, 0.2),
    properties: { DFIRM_ID, FIRM_PAN: `${DFIRM_ID}01`, EFF_DATE: effective },
  };
  return fileOf(t, `${DFIRM_ID}.geojson`, geojson(effective === '' ? zones : [...zones, panel]));
};

test('the studies of two counties add up, each replaces itself alone, and between them nothing is known', async (t) => {
  const { database, load } = loading(t);
  const zoneAt = (lng: number) =>
    createZoneFinder(
      database,
      createDataVersion(database),
      FLOOD_ZONES,
    )({ lat: 38.805, lng }, 'VA');
  const of = () => {
    const [part] = storedParts(database, 'floodZones', '').parts;
    return Object.entries(part!.units).map(([unit, { rows }]) => `${unit} ${rows}`);
  };
  const fairfax = await load('flood-zones', study(t, '51059C', 12));
  assert.ok(fairfax.notes.some((note) => note.startsWith('The data covers studies 51059C only.')));
  const arlington = await load('flood-zones', study(t, '51013C', 14, { at: 0.5 }));
  assert.equal(arlington.records, 14);
  assert.deepEqual(of(), ['51013C 14', '51059C 12']);
  assert.match(arlington.notes.join(), /Unchanged, in other studies: 12 records/);
  for (const lng of [-77.395, -76.895])
    assert.equal((zoneAt(lng) as { zone: string }).zone, 'AE', String(lng));
  assert.equal(zoneAt(-76), 'not_loaded');

  await load('flood-zones', study(t, '51059C', 11));
  assert.deepEqual(of(), ['51013C 14', '51059C 11']);
  await assert.rejects(load('flood-zones', study(t, '51059C', 3)), {
    message: /study 51059C has 11 records here and 3 in the load/,
    context: { dataset: 'floodZones', states: ['VA'] },
  });
  // Named states are loaded whole: what the file lacks would be lost.
  const whole = (replace: boolean) =>
    load('flood-zones', study(t, '51059C', 26), { states: ['VA'], replace });
  await assert.rejects(whole(false), /study 51013C has 14 records here and none in the load/);
  await whole(true);
  assert.deepEqual(of(), ['51059C 26']);
  assert.equal(zoneAt(-76), null);
  await load('flood-zones', study(t, '51013C', 1, { at: 0.5 }));
  assert.equal(zoneAt(-76), null, 'a state that is here as a whole stays whole');
});

test('a study is compared with its own age', async (t) => {
  const { database, load } = loading(t);
  const loadOf = (id: string, effective: string, replace = false) =>
    load('flood-zones', study(t, id, 2, { effective }), { replace });
  await loadOf('51059C', '2019-03-05');
  await loadOf('51013C', '2006-08-19');
  await assert.rejects(
    loadOf('51059C', '2010-09-17'),
    /study 51059C is of 2019-03-05 here and of 2010-09-17 in the load/,
  );
  await loadOf('51013C', '2013-08-19');
  const [part] = storedParts(database, 'floodZones', '').parts;
  assert.equal(part!.vintage, 'to 2019-03-05; to 2013-08-19');
  assert.deepEqual(part!.files.map(({ name }) => name).sort(), [
    '51013C.geojson',
    '51059C.geojson',
  ]);
});

const wells = (t: TestContext, counts: readonly (readonly [lng: number, count: number])[]) => {
  const rows = counts.flatMap(([lng, count]) =>
    Array.from({ length: count }, (_, index) => `${lng} ${index},TX,31.9,${lng - index / 1e4}`),
  );
  return fileOf(t, 'wells.csv', `API,State,Latitude,Longitude\n${rows.join('\n')}\n`);
};
const [MIDLAND, ANDREWS] = [-102.1, -102.6];

test('a county that a download lacks is refused, also where the rest of the state hides it; few records may go', async (t) => {
  const database = openDatabase(t);
  const get = (counts: Parameters<typeof wells>[1], replace = false) => {
    const parts = [{ of: 'TX', files: [wells(t, counts)], options: {} }];
    return loadParts(database, 'wells', parts, { askedOf: 'wells', replace }, EFFECTS);
  };
  await get([
    [MIDLAND, 80],
    [ANDREWS, 26],
  ]);
  await assert.rejects(get([[MIDLAND, 85]]), {
    message: /county 48135 has 26 records here and none in the load/,
    context: { dataset: 'sites:oilGasWell', states: ['TX'] },
  });
  const fewer = await get([
    [MIDLAND, 90],
    [ANDREWS, 9],
  ]);
  assert.ok(fewer.notes.includes('Far fewer records: county 48135 26 → 9.'), fewer.notes.join());
  await get([[MIDLAND, 90]]);
  // The same, in data of the whole US.
  const us = [
    {
      of: 'US',
      files: [
        wells(t, [
          [MIDLAND, 80],
          [ANDREWS, 26],
        ]),
      ],
      options: {},
    },
  ];
  await loadParts(database, 'wells', us, { askedOf: 'wells', replace: true }, EFFECTS);
  await assert.rejects(get([[MIDLAND, 106]]), /county 48135 has 26 records/);
});

test('counties of a state that are loaded by hand one after the other add up', async (t) => {
  const { database, load } = loading(t);
  await load('wells', wells(t, [[MIDLAND, 30]]));
  const { notes } = await load('wells', wells(t, [[ANDREWS, 5]]));
  assert.match(
    notes.join(),
    /Unchanged, in other counties: 30 records\. To drop them, add --replace\./,
  );
  await load('wells', wells(t, [[ANDREWS, 6]]));
  const [part] = storedParts(database, 'sites:oilGasWell', '').parts;
  assert.deepEqual([part!.state, part!.rows], ['TX', 36]);
});

test('studies that come in place of others were renamed, and are told', async (t) => {
  const database = openDatabase(t);
  const get = (...ids: readonly string[]) => {
    const files = ids.map((id, index) => study(t, id, 2, { at: index / 10 }));
    const parts = [{ of: 'VA', files, options: {} }];
    return loadParts(database, 'flood-zones', parts, { askedOf: 'flood-zones' }, EFFECTS);
  };
  await get('510119', '510122', '51013C');
  const { notes } = await get('51059C', '51061C', '51013C');
  assert.ok(
    notes.includes('Renamed, it seems, in VA: 2 studies gone, 2 studies new.'),
    notes.join(),
  );
  await assert.rejects(get('51059C', '51013C'), /study 51061C has 2 records here and none in/);
});

test('days of events, basins of storms and years of counties add up', async (t) => {
  const { database, load } = loading(t);
  const quakes = (name: string, ...days: string[]) => {
    const rows = days.map((day) => `${day}T01:00:00Z,35,-97,5,3.1,${day},earthquake\n`).join('');
    return fileOf(t, name, `time,latitude,longitude,depth,mag,id,type\n${rows}`);
  };
  const rows = (name: 'records:earthquake' | 'airQuality') =>
    storedParts(database, name, '').parts.reduce((sum, part) => sum + part.rows, 0);
  await load('earthquakes', quakes('b.csv', '2020-07-01', '2020-08-01', '2020-12-31'));
  await load('earthquakes', quakes('a.csv', '2020-01-01', '2020-02-01', '2020-06-30'));
  assert.equal(rows('records:earthquake'), 6);
  await load('earthquakes', quakes('a.csv', '2020-01-01', '2020-02-02', '2020-06-30'));
  assert.equal(rows('records:earthquake'), 7);
  // An older edition of all of it.
  const older = quakes(
    'c.csv',
    '2020-01-01',
    '2020-02-01',
    '2020-06-30',
    '2020-07-01',
    '2020-08-01',
  );
  await assert.rejects(load('earthquakes', older), /is of 2020-12-31 here and of 2020-08-01/);

  const aqi = (year: number, ...counties: string[]) => {
    const days = '366,300,60,5,1,0,0,155,70,42';
    const lines = counties.map((county) => `Virginia,${county},${year},${days}\n`).join('');
    return fileOf(t, `aqi-${year}.csv`, `${AQI_HEADER}\n${lines}`);
  };
  await load('air-quality', aqi(2023, 'Fairfax', 'Arlington'));
  await load('air-quality', aqi(2024, 'Fairfax', 'Henrico'));
  const years = database.prepare('SELECT geoid, year FROM air_quality ORDER BY 1').raw().all();
  assert.deepEqual(years, [
    ['51013', 2023],
    ['51059', 2024],
    ['51087', 2024],
  ]);
  await assert.rejects(
    load('air-quality', aqi(2023, 'Fairfax')),
    /VA is of 2024 here and of 2023 in the load/,
  );
});
