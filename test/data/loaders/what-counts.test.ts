import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { lines } from '../../geo/lines.ts';
import { point, square } from '../../service/small-data.ts';
import { featuresOf, fileOf, geojson, loading, reasons, rejects, zipOf } from './loading.ts';
import { polygonShapefileOf } from './shapefile-writer.ts';

/* What is loaded is what the topic says. */

const file = (t: TestContext, features: readonly object[], name = 'sites.geojson') =>
  fileOf(t, name, geojson(features));

for (const column of ['NPL_STATUS', 'NPL_Status_Code', 'Status', 'npl_status']) {
  test(`of Superfund sites those on the list count, the others are told: ${column}`, async (t) => {
    const { database, load } = loading(t);
    const [listed, others] =
      column === 'NPL_Status_Code'
        ? [
            ['F', 'A'],
            ['D', 'P', 'R', 'N'],
          ]
        : [
            ['Currently on the Final NPL', 'NPL Site', 'Site is Part of NPL Site'],
            [
              'Deleted from the Final NPL',
              'Proposed for NPL',
              'Removed from Proposed NPL',
              'Not on the NPL',
            ],
          ];
    const sites = [...listed, ...others].map((status, index) =>
      point(-78 - index / 100, 38, { EPA_ID: `VA${index}`, [column]: status }),
    );
    const result = await load('superfund', file(t, sites));
    assert.equal(featuresOf(database, 'sites_superfund').length, listed.length);
    const told = rejects(result).reduce((sum, [, count]) => sum + count, 0);
    assert.equal(told, others.length);
  });
}

test('identical rows under one id count once in a file; rows without an id, or with other values, are sites', async (t) => {
  const { database, load } = loading(t);
  const tank = (Facility_ID: string | null, OBJECTID: number, Open_USTs = 1) =>
    point(-78, 38, { OBJECTID, Facility_ID, Open_USTs });
  const rows = [tank('1', 1), tank('1', 2), tank('1', 3, 2), tank(null, 4), tank(null, 5)];
  const result = await load('ust-facilities', file(t, rows));
  assert.deepEqual(rejects(result), [['a row that an earlier one repeats', 1, 1]]);
  assert.equal(featuresOf(database, 'sites_ustFacility').length, 4);
});

test('of several outlines of a fire the newest counts; fires of one name in two places are two', async (t) => {
  const { database, load } = loading(t);
  const outline = (name: string, lng: number, drawn: string, more: object = {}) => ({
    geometry: square(lng, 34, 0.02),
    properties: { incident_name: name, poly_DateCurrent: Date.parse(drawn), ...more },
  });
  const rows = [
    outline('PALISADES', -118.6, '2025-01-09'),
    outline('Palisades', -118.59, '2025-01-11'),
    outline('Palisades Fire', -118.58, '2025-01-10'),
    outline('PALISADES', -110, '2025-01-09'),
    outline('PALISADES', -118.6, '2019-01-09'),
    outline('', -100, '2025-01-09'),
    outline('', -100, '2025-01-10'),
    outline('RIVER', -115, '2025-01-09', { attr_IrwinID: '{A}' }),
    outline('RIVER', -115, '2025-01-10', { attr_IrwinID: '{B}' }),
  ];
  const result = await load('wildfire-perimeters', file(t, rows), { states: 'US' });
  assert.ok(
    result.notes.includes('Left out: 2 outlines of fires of which a newer one is in the load.'),
    result.notes.join(),
  );
  const days = featuresOf(database, 'records_wildfire_perimeters').map(
    ({ properties: { incident_name, poly_DateCurrent } }) =>
      `${incident_name} ${new Date(poly_DateCurrent).toISOString().slice(0, 10)}`,
  );
  assert.deepEqual(days, [
    'Palisades 2025-01-11',
    'PALISADES 2025-01-09',
    'PALISADES 2019-01-09',
    'undefined 2025-01-09',
    'undefined 2025-01-10',
    'RIVER 2025-01-09',
    'RIVER 2025-01-10',
  ]);
});

test('sites outside the US are told, with what is wrong where it can be seen', async (t) => {
  const { load } = loading(t);
  const plant = (lng: number, lat: number) => point(lng, lat, { Plant_Code: `${lng} ${lat}` });
  const good = [plant(-77, 38.9), plant(144.8, 13.5), plant(-66.1, 18.4), plant(-170.7, -14.3)];
  const bad = [
    [77, 38.9],
    [38.9, -77],
    [-77, -38.9],
    [-42, 42],
    [-99.1, 19.4],
    [2.3, 48.9],
  ].map(([lng, lat]) => plant(lng!, lat!));
  const result = await load('power-plants', file(t, [...good, ...bad]), { states: 'US' });
  assert.equal(result.records, good.length);
  assert.deepEqual(
    rejects(result).map(([reason, count]) => [reason, count]),
    [
      ['its longitude has lost its minus sign', 1],
      ['its latitude and longitude are swapped', 1],
      ['its latitude has the wrong sign', 1],
      ['it is outside the US', 3],
    ],
  );
});

const OUTLINED = {
  parks: { Unit_Nm: 'A', Pub_Access: 'OA' },
  'transmission-lines': { VOLTAGE: 230 },
  'wildfire-perimeters': { attr_IncidentName: 'A', attr_FireDiscoveryDateTime: '2025-01-07' },
  'flood-zones': { DFIRM_ID: '51041C', FLD_ZONE: 'AE', SFHA_TF: 'T' },
  areas: { GEOID: '51041000100' },
};

for (const [loader, properties] of Object.entries(OUTLINED)) {
  test(`${loader}: lines and outlines outside the US are told, at sea and over a border they are not`, async (t) => {
    const { load } = loading(t);
    const drawn = (lng: number, lat: number, index: number) => {
      const geometry =
        loader === 'transmission-lines'
          ? lines(`${lng} ${lat}, ${lng + 0.01} ${lat + 0.01}`)
          : square(lng, lat, 0.01);
      const own = 'GEOID' in properties ? { GEOID: `5104100010${index}` } : { UNIQUE: index };
      return { geometry, properties: { ...properties, ...own } };
    };
    const good = [
      [-77, 38.9],
      // In the Gulf, and beyond the border.
      [-88, 28.5],
      [-82.9, 42.2],
    ];
    const bad = [
      [77, 38.9],
      [38.9, -77],
      [-77, -38.9],
      [2.3, 48.9],
    ];
    const features = [...good, ...bad].map(([lng, lat], index) => drawn(lng!, lat!, index));
    const result = await load(loader, file(t, features), { states: 'US' });
    assert.deepEqual(reasons(result), [
      'its longitude has lost its minus sign',
      'its latitude and longitude are swapped',
      'its latitude has the wrong sign',
      'it is outside the US',
    ]);
  });
}

test('earthquakes at sea and abroad are loaded: they shake places of the US', async (t) => {
  const { database, load } = loading(t);
  // In Baja California, and in the Gulf of Alaska.
  const features = [
    [-115.6, 31.8],
    [-149.1, 56],
  ].map(([lng, lat], id) =>
    point(lng!, lat!, { mag: 6.1, time: Date.UTC(2025, 1, 1), type: 'earthquake', ids: `,${id},` }),
  );
  const result = await load('earthquakes', file(t, features, 'earthquakes.geojson'));
  assert.deepEqual(reasons(result), []);
  assert.equal(featuresOf(database, 'records_earthquake').length, 2);
});

test('parks are known by their columns, their texts or the name of the file; other layers are refused by what they seem to be', async (t) => {
  const { load } = loading(t);
  const layer = (properties: object, name = 'layer.geojson') =>
    file(t, [{ geometry: square(-78, 38, 0.01), properties }], name);
  for (const properties of [
    { Unit_Nm: 'Green' },
    { PARKNAME: 'Green' },
    { NAME: 'Green', TYPE: 'Park Site' },
    { NAME: 'Wolf Creek Natural Area' },
  ])
    await load('parks', layer(properties), { replace: true });
  await load('parks', layer({ NAME: 'Green' }, 'city_parks.geojson'), { replace: true });
  for (const [properties, seems] of [
    [{ SYSTEM_NAME: 'A', LEVEED_AREA_SQ_MI: 1 }, /it seems to be levees or leveed areas/],
    [{ FHSZ: 3, FHSZ_Description: 'Very High' }, /it seems to be fire hazard zones/],
    [{ NCESSCH: '1', NAME: 'Green Park School' }, /it seems to be schools/],
    [{ FLD_ZONE: 'AE' }, /it seems to be flood zones|it is a file for flood-zones/],
    [{ PARKING_LOT: 'A', NAME: 'Lot 1' }, /it has no column of a park/],
    [{ NAME: 'A', ADDRESS: '1 Park Avenue' }, /it has no column of a park/],
  ] as const)
    await assert.rejects(load('parks', layer(properties)), { message: seems });
});

test('a shapefile in state plane without a .prj is refused, with what is missing', async (t) => {
  const { load } = loading(t);
  const ring = [
    [6_000_000, 2_000_000],
    [6_000_000, 2_001_000],
    [6_001_000, 2_001_000],
    [6_000_000, 2_000_000],
  ] as const;
  const { shp, dbf } = polygonShapefileOf([{ rings: [ring], texts: { NAME: 'Park' } }], '');
  const zip = zipOf(t, { 'parks.shp': new Uint8Array(shp), 'parks.dbf': new Uint8Array(dbf) });
  await assert.rejects(load('parks', zip), {
    message: /it has no \.prj, and its coordinates are no degrees/,
    hint: /Put its \.prj beside it/,
  });
});
