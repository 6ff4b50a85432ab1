import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { storedParts } from '../../../src/data/tables/parts.ts';
import { square } from '../../service/small-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { featuresOf, fileOf, geojson, loading, zipOf } from './loading.ts';

/* Formats in which agencies' layers lie on people's disks. */

const PARK = { Unit_Nm: 'Green' };

/** A position in Web Mercator. */
const inMetres = (lng: number, lat: number): [x: number, y: number] => [
  (lng * Math.PI * 6_378_137) / 180,
  6_378_137 * Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)),
];
const WEB_MERCATOR =
  'PROJCS["WGS 84 / Pseudo-Mercator",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],UNIT["metre",1],EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +wktext +no_defs"],AUTHORITY["EPSG","3857"]]';

test('Esri JSON: attributes, rings with holes, and Web Mercator', async (t) => {
  const { database, load } = loading(t);
  const saved = (spatialReference: object, rings: object) =>
    fileOf(
      t,
      'query.json',
      JSON.stringify({
        geometryType: 'esriGeometryPolygon',
        spatialReference,
        features: [{ attributes: { OBJECTID: 1, ...PARK }, geometry: { rings } }],
      }),
    );
  // Clockwise outside, counterclockwise holes.
  const rings = [
    [
      [-78, 38],
      [-78, 39],
      [-77, 39],
      [-77, 38],
      [-78, 38],
    ],
    [
      [-77.6, 38.4],
      [-77.4, 38.4],
      [-77.4, 38.6],
      [-77.6, 38.6],
      [-77.6, 38.4],
    ],
  ];
  await load('parks', saved({ wkid: 4326 }, rings));
  const [park] = featuresOf(database, 'sites_park');
  assert.deepEqual(
    [park.geometry.type, park.geometry.coordinates.length, park.properties.Unit_Nm],
    ['Polygon', 2, 'Green'],
  );
  const metres = rings.map((ring) => ring.map(([lng, lat]) => inMetres(lng!, lat!)));
  await load('parks', saved({ wkid: 102100, latestWkid: 3857 }, metres));
  const [same] = featuresOf(database, 'sites_park');
  for (const [index, [lng, lat]] of same.geometry.coordinates[0].entries()) {
    const [wantedLng, wantedLat] = park.geometry.coordinates[0][index];
    assert.ok(Math.abs(lng - wantedLng) < 1e-9 && Math.abs(lat - wantedLat) < 1e-9);
  }
  await assert.rejects(load('parks', saved({ wkid: 2263 }, metres)), {
    message: /its coordinates in EPSG:2263/,
  });
});

test('GeoJSON of a feature a line, by extension or content, also as a sequence', async (t) => {
  const { load } = loading(t);
  const lines = [0, 1, 2].map((at) =>
    JSON.stringify({ type: 'Feature', geometry: square(-78 + at, 38, 0.1), properties: PARK }),
  );
  for (const [name, text] of [
    ['a.geojsonl', lines.join('\n')],
    ['a.ndjson', `${lines.join('\r\n')}\r\n`],
    ['a.geojson', `${lines.join('\n')}\n`],
    ['a.geojsons', lines.map((line) => `\u001e${line}\n`).join('')],
  ] as const)
    assert.equal((await load('parks', fileOf(t, name, text), { replace: true })).records, 3, name);
  const cut = fileOf(t, 'cut.ndjson', lines.join('\n').slice(0, -9));
  await assert.rejects(load('parks', cut), { message: /line 3 is not valid JSON/ });
  const collection = geojson([{ geometry: square(-78, 38, 0.1), properties: PARK }]);
  assert.equal((await load('parks', fileOf(t, 'one-line.json', collection))).records, 1);
});

/** A geometry as GeoPackage has it: with bounds of two axes, little-endian. */
function geometryBlob(wkb: Buffer, id: number): Buffer {
  const head = Buffer.alloc(40);
  head.write('GP');
  head[3] = 0b0000_0011;
  head.writeInt32LE(id, 4);
  return Buffer.concat([head, wkb]);
}

/** A square as a polygon with heights. */
function polygonWkb(positionOf = (lng: number, lat: number) => [lng, lat] as const): Buffer {
  const [degrees] = square(-78, 38, 0.1).coordinates as [[number, number][]];
  const ring = degrees.map((position) => positionOf(...position));
  const bytes = Buffer.alloc(13 + 24 * ring.length);
  bytes[0] = 1;
  bytes.writeUInt32LE(1003, 1);
  bytes.writeUInt32LE(1, 5);
  bytes.writeUInt32LE(ring.length, 9);
  for (const [index, [x, y]] of ring.entries()) {
    bytes.writeDoubleLE(x, 13 + 24 * index);
    bytes.writeDoubleLE(y, 21 + 24 * index);
  }
  return bytes;
}

/** @param isInMetres in Web Mercator */
function geopackage(
  t: TestContext,
  layers: Readonly<Record<string, string>>,
  isInMetres = false,
): string {
  const id = isInMetres ? 3857 : 4326;
  const file = join(temporaryFolder(t), 'city.gpkg');
  const database = new Database(file);
  database.exec(`PRAGMA application_id = 0x47504b47;
    CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT);
    CREATE TABLE gpkg_spatial_ref_sys (srs_id INTEGER PRIMARY KEY, definition TEXT);
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER);
    INSERT INTO gpkg_spatial_ref_sys VALUES (4326, 'GEOGCS["WGS 84"]'), (3857, '${WEB_MERCATOR}');`);
  for (const [name, column] of Object.entries(layers)) {
    database.exec(`INSERT INTO gpkg_contents VALUES ('${name}', 'features');
      INSERT INTO gpkg_geometry_columns VALUES ('${name}', 'geom', ${id});
      CREATE TABLE "${name}" (fid INTEGER PRIMARY KEY, geom BLOB, ${column} TEXT)`);
    database
      .prepare(`INSERT INTO "${name}" VALUES (1, ?, 'Green'), (2, NULL, 'Lost')`)
      .run(geometryBlob(polygonWkb(isInMetres ? inMetres : undefined), id));
  }
  database.close();
  return file;
}

test('GeoPackage: the layer that fits, or that is named', async (t) => {
  const { database, load } = loading(t);
  const file = geopackage(t, { parks: 'Unit_Nm', levees: 'LEVEED_AREA' });
  const { records, rejected } = await load('parks', file, { replace: true });
  assert.deepEqual([records, rejected.map(({ reason }) => reason)], [1, ['it has no geometry']]);
  const [park] = featuresOf(database, 'sites_park');
  assert.deepEqual(park.geometry, square(-78, 38, 0.1));
  assert.deepEqual(park.properties, { fid: 1, Unit_Nm: 'Green' });
  assert.equal((await load('parks', `${file}/parks`, { replace: true })).records, 1);
  await load('parks', geopackage(t, { parks: 'Unit_Nm' }, true), { replace: true });
  const [same] = featuresOf(database, 'sites_park');
  const inDegrees = (same.geometry.coordinates as number[][][]).map((ring) =>
    ring.map((position) => position.map((degrees) => Math.round(degrees * 1e9) / 1e9)),
  );
  assert.deepEqual(inDegrees, square(-78, 38, 0.1).coordinates);
  await assert.rejects(load('parks', `${file}/levees`), { message: /it seems to be levees/ });
  const two = geopackage(t, { a: 'Unit_Nm', b: 'Unit_Nm' });
  await assert.rejects(load('parks', two), {
    message: /it has 2 layers/,
    hint: /Its layers are: a, b\. Write: .*city\.gpkg\/a/,
  });
  await assert.rejects(load('parks', fileOf(t, 'x.gpkg', 'text')), {
    message: /it is no GeoPackage/,
  });
});

test('a GeoPackage in a zip is named, with what to do', async (t) => {
  const { load } = loading(t);
  const zip = zipOf(t, {
    'city/city.gpkg': readFileSync(geopackage(t, { parks: 'Unit_Nm' })),
    'city/metadata.xml': Buffer.from('<parks/>'),
  });
  const refused = {
    message: /city\.gpkg": it is a GeoPackage in a zip, which Perilbook does not read$/,
    hint: 'Unpack the zip, and load city.gpkg.',
  };
  await assert.rejects(load('parks', zip), refused);
  await assert.rejects(load('parks', `${zip}/city/city.gpkg`), refused);
});

test('a FileGDB is named as one, with the command that converts it and the address of the layer', async (t) => {
  const { load } = loading(t);
  const folder = join(temporaryFolder(t), 'NFHL_51.gdb');
  mkdirSync(folder);
  await assert.rejects(load('flood-zones', folder, { address: 'https://example.org/28' }), {
    message: /it is a FileGDB/,
    hint: /ogr2ogr -t_srs EPSG:4326 flood-zones\.gpkg .*NFHL_51\.gdb LAYER.*https:\/\/example\.org\/28$/,
  });
});

test('flood zones without the id of a study: the file is the study, the outline or --states tells the state', async (t) => {
  const { database, load } = loading(t);
  const extract = (name: string, lng: number) =>
    fileOf(
      t,
      name,
      geojson([
        {
          geometry: square(lng, 38.8, 0.01),
          properties: { FLD_ZONE: 'AE', ZONE_SUBTY: null, SFHA_TF: 'T' },
        },
      ]),
    );
  const units = () =>
    storedParts(database, 'floodZones', '').parts.map(
      ({ state, units: own }) => `${state} ${Object.keys(own).join()}`,
    );
  const { notes } = await load('flood-zones', extract('a.geojson', -77.4));
  assert.ok(notes.includes('Without DFIRM_ID, each file counts as a study of its state.'));
  await load('flood-zones', extract('b.geojson', -77.3));
  await load('flood-zones', extract('a.geojson', -77.4));
  assert.deepEqual(units(), ['VA 51:a.geojson,51:b.geojson']);
  await load('flood-zones', extract('c.geojson', -77.2), { states: ['MD'] });
  assert.deepEqual(units(), ['MD 24:c.geojson', 'VA 51:a.geojson,51:b.geojson']);
});
