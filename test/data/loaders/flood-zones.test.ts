import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DataDatabase } from '../../../src/data/tables/data-database.ts';
import { storedParts } from '../../../src/data/tables/parts.ts';
import { square } from '../../service/small-data.ts';
import { fileOf, geojson, loading, reasons, zipOf } from './loading.ts';
import { polygonShapefileOf } from './shapefile-writer.ts';

const ZONE = {
  ...{
    DFIRM_ID: '51059C',
    FLD_ZONE: 'AE',
    ZONE_SUBTY: null,
    SFHA_TF: 'T',
    STATIC_BFE: 12,
    V_DATUM: 'NAVD88',
  },
  ...{ DEPTH: -9999, LEN_UNIT: 'Feet' },
};
const PANEL = { DFIRM_ID: '51059C', FIRM_PAN: '51059C0115E', EFF_DATE: Date.UTC(2010, 8, 17) };
const zones = (...rows: readonly object[]) =>
  geojson(
    rows.map((row, index) => ({
      geometry: square(-77.4 + index / 100, 38.8, 0.01),
      properties: { ...ZONE, ...row },
    })),
  );
const panels = (...rows: readonly object[]) =>
  geojson(
    rows.map((row) => ({ geometry: square(-77.5, 38.7, 0.3), properties: { ...PANEL, ...row } })),
  );

/** What is stored, in short. */
const stored = (database: DataDatabase) =>
  database
    .prepare<[], Record<string, unknown>>(
      'SELECT kind, geoid, code, detail, facts FROM flood_zones ORDER BY id',
    )
    .all()
    .map((row) => Object.values(row).join(' | '));

test('zones and panels are loaded from pages of the map service, and dated by the panels', async (t) => {
  const { database, load } = loading(t);
  const files = [
    fileOf(
      t,
      'zones.geojson',
      zones({}, { FLD_ZONE: 'X', ZONE_SUBTY: '0500', SFHA_TF: 'F', STATIC_BFE: -9999 }),
    ),
    fileOf(
      t,
      'panels.geojson',
      panels(
        {},
        { FIRM_PAN: '51059C0120E', EFF_DATE: '2019-03-05' },
        { FIRM_PAN: 'x', EFF_DATE: 253_402_214_400_000 },
      ),
    ),
  ];
  const result = await load('flood-zones', files);
  assert.deepEqual([result.records, result.states, result.vintage], [5, ['VA'], 'to 2019-03-05']);
  assert.deepEqual(stored(database), [
    'zone | 51059C | AE |  | {"special":"T","facts":{"baseElevationFt":12,"depthFt":null,"baseElevationDatum":"NAVD88"}}',
    'zone | 51059C | X | 0.2 PCT ANNUAL CHANCE FLOOD HAZARD | {"special":"F","facts":{"baseElevationFt":null,"depthFt":null,"baseElevationDatum":null}}',
    'panel | 51059C | 51059C0115E | 2010-09-17 | {}',
    'panel | 51059C | 51059C0120E | 2019-03-05 | {}',
    // 9999-09-09 stands for none.
    'panel | 51059C | x |  | {}',
  ]);
  // Loading them again gives the same, and other states stay.
  await load('flood-zones', files);
  assert.equal(stored(database).length, 5);
  await load('flood-zones', fileOf(t, 'md.geojson', zones({ DFIRM_ID: '24031C' })), {
    states: ['MD'],
  });
  assert.equal(stored(database).length, 6);
  assert.deepEqual(
    storedParts(database, 'floodZones', '').parts.map(({ state, rows }) => [state, rows]),
    [
      ['MD', 1],
      ['VA', 5],
    ],
  );
  await load('flood-zones', files, { states: ['VA'] });
  assert.equal(stored(database).length, 6);
});

test('a zone that is in two files is one record, and two with the same rings and another code are two', async (t) => {
  const { database, load } = loading(t);
  const tile = fileOf(t, 'tile-1.geojson', zones({}, {}));
  const next = geojson([
    { geometry: square(-77.39, 38.8, 0.01), properties: { OBJECTID: 9, ...ZONE } },
    { geometry: square(-77.39, 38.8, 0.01), properties: { ...ZONE, FLD_ZONE: 'A' } },
  ]);
  await load('flood-zones', [tile, fileOf(t, 'tile-2.geojson', next)]);
  assert.deepEqual(
    stored(database).map((row) => row.slice(0, 20)),
    ['zone | 51059C | AE |', 'zone | 51059C | AE |', 'zone | 51059C | A | '],
  );
});

test('the zip of a county has zones, panels and other layers: the first two are read', async (t) => {
  const { database, load } = loading(t);
  const square_ = [
    [-77.4, 38.8],
    [-77.4, 38.9],
    [-77.3, 38.9],
    [-77.3, 38.8],
    [-77.4, 38.8],
  ] as const;
  const layer = (texts: Readonly<Record<string, string>>) =>
    polygonShapefileOf([{ rings: [square_], texts }], 'GEOGCS["GCS_North_American_1983"]');
  const layers = {
    S_FLD_HAZ_AR: layer({
      DFIRM_ID: '51059C',
      FLD_ZONE: 'AE',
      ZONE_SUBTY: 'FLOODWAY',
      SFHA_TF: 'T',
      STATIC_BFE: '3.048',
      V_DATUM: 'NAVD88',
      DEPTH: '-9999',
      LEN_UNIT: 'Meters',
    }),
    S_FIRM_PAN: layer({ DFIRM_ID: '51059C', FIRM_PAN: '51059C0115E', EFF_DATE: '2010-09-17' }),
    S_POL_AR: layer({ DFIRM_ID: '51059C', POL_NAME1: 'Fairfax County' }),
  };
  const entries = Object.entries(layers).flatMap(([name, parts]) =>
    Object.entries(parts).map(
      ([end, bytes]) => [`51059C/${name}.${end}`, new Uint8Array(bytes)] as const,
    ),
  );
  const zip = zipOf(t, Object.fromEntries(entries));
  const result = await load('flood-zones', zip);
  assert.equal(result.vintage, 'to 2010-09-17');
  assert.deepEqual(stored(database), [
    'zone | 51059C | AE | FLOODWAY | {"special":"T","facts":{"baseElevationFt":10,"depthFt":null,"baseElevationDatum":"NAVD88"}}',
    'panel | 51059C | 51059C0115E | 2010-09-17 | {}',
  ]);
  // None of several fits: as before.
  await assert.rejects(load('areas', zip), { message: /the zip holds 3 shapefiles, not one/ });
});

test('rows that are no zones are rejected with the reason, and wrong files, cut files and single pages refused', async (t) => {
  const { database, load } = loading(t);
  const bad = geojson([
    { geometry: square(-77.4, 38.8, 0.01), properties: ZONE },
    { geometry: { type: 'Point', coordinates: [-77.4, 38.8] }, properties: ZONE },
    { geometry: square(-8_616_000, 4_700_000, 100), properties: ZONE },
    { geometry: square(-77.4, 38.8, 0.01), properties: { ...ZONE, DFIRM_ID: 'x' } },
    { geometry: square(-77.4, 38.8, 0.01), properties: { ...ZONE, FLD_ZONE: ' ' } },
  ]);
  assert.deepEqual(
    reasons(await load('flood-zones', fileOf(t, 'bad.geojson', bad), { replace: true })),
    [
      'it is not a polygon in degrees',
      'its DFIRM_ID does not begin with the code of a state',
      'it has neither FLD_ZONE nor FIRM_PAN',
    ],
  );
  const good = stored(database);
  const refused = async (text: string, message: RegExp) => {
    await assert.rejects(load('flood-zones', fileOf(t, 'x.geojson', text)), {
      code: 'SERVICE_DATA',
      message,
    });
    assert.deepEqual(stored(database), good);
  };
  await refused(zones({}).slice(0, -20), /ends before its features do/);
  await refused(
    geojson([{ geometry: square(-77.4, 38.8, 0.01), properties: ZONE }], {
      exceededTransferLimit: true,
    }),
    /one page of several/,
  );
  await refused(
    geojson([{ geometry: square(-77, 38, 1), properties: { Unit_Nm: 'Park' } }]),
    /it has no column FLD_ZONE or FIRM_PAN/,
  );
  await refused(
    geojson([{ geometry: { type: 'Point', coordinates: [-77, 38] }, properties: ZONE }]),
    /its features are points, not outlines/,
  );
  const lost = geojson([
    { geometry: square(-77.4, 38.8, 0.01), properties: ZONE },
    { geometry: null, properties: ZONE },
  ]);
  await refused(lost, /1 of 2 outlines have no geometry in degrees/);
  await refused(bad, /2 of 5 outlines have no geometry in degrees/);
});

test('maps that are not in force are left out, the zones of their studies too, and told', async (t) => {
  const { database, load } = loading(t);
  const pending = { EFF_DATE: 253_402_214_400_000, PRE_DATE: '2026-03-05' };
  const files = [
    fileOf(t, 'zones.geojson', zones({}, { DFIRM_ID: '51061C' }, { DFIRM_ID: '51063C' })),
    fileOf(
      t,
      'panels.geojson',
      panels(
        { PRE_DATE: '2009-01-01' },
        { FIRM_PAN: 'y', ...pending },
        { DFIRM_ID: '51061C', FIRM_PAN: 'z', ...pending },
      ),
    ),
  ];
  assert.deepEqual(reasons(await load('flood-zones', files)), [
    'the map of its study is not in force yet (preliminary)',
    'it is a sheet of the map that is not in force yet (preliminary)',
  ]);
  assert.deepEqual(
    stored(database).map((row) => row.split(' | ').slice(0, 3).join(' ')),
    ['zone 51059C AE', 'zone 51063C AE', 'panel 51059C 51059C0115E'],
  );
});

test('texts that mean nothing are null, heights that no place has are left out, and a missing unit is told', async (t) => {
  const { database, load } = loading(t);
  const nothing = ['<Null>', ' ', 'NP', '-9999', 'NaN', 'N/A', '#N/A', '--', null].map(
    (ZONE_SUBTY) => ({
      ...{ ZONE_SUBTY, V_DATUM: ZONE_SUBTY, LEN_UNIT: ZONE_SUBTY },
    }),
  );
  const rows = [
    ...nothing,
    { STATIC_BFE: 9999 },
    { STATIC_BFE: 40_000 },
    { STATIC_BFE: 'EL 12' },
    { LEN_UNIT: 'Centimeters' },
  ];
  const { notes } = await load('flood-zones', fileOf(t, 'zones.geojson', zones(...rows)));
  const [height, none] = [12, null].map((baseElevationFt) =>
    JSON.stringify({ baseElevationFt, depthFt: null, baseElevationDatum: null }),
  );
  assert.deepEqual(stored(database), [
    ...nothing.map(
      () => `zone | 51059C | AE |  | {"special":"T","facts":${height},"assumed":"feet"}`,
    ),
    ...Array(4).fill(`zone | 51059C | AE |  | {"special":"T","facts":${none}}`),
  ]);
  assert.deepEqual(notes.slice(0, 4), [
    '1 value of STATIC_BFE left out: beyond -300 to 30000.',
    '1 value of STATIC_BFE left out: no number.',
    '1 value of STATIC_BFE left out: in an unknown unit.',
    '9 values of STATIC_BFE without a unit: taken as feet.',
  ]);
});
