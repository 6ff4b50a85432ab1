import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { featuresIn, geojsonFeatures } from '../../../src/data/loaders/feature-files.ts';
import { LoadReporter } from '../../../src/data/loaders/loader.ts';
import { boxOfGeometry } from '../../../src/geo/bounding-boxes.ts';
import { positions } from '../../geo/lines.ts';
import { point } from '../../service/small-data.ts';
import { all, featuresOf, fileOf, loading, rejects, zipOf } from './loading.ts';
import { shapefileOf } from './shapefile-writer.ts';

function read(file: string): Promise<unknown[]> {
  return all(featuresIn(file, {}, new LoadReporter()));
}

test('GeoJSON features are read with any spacing, braces and quotes in texts, over many blocks', async (t) => {
  const properties = { name: 'a "}{" \\ é', nested: { list: [{ a: 1 }, ']'] } };
  const many = Array.from({ length: 30_000 }, (_, i) => ({
    type: 'Feature',
    ...point(i / 1000, 1, { ...properties, i }),
  }));
  const collection = { type: 'FeatureCollection', name: 'features', features: many };
  for (const space of [0, 1]) {
    const found = await all(
      geojsonFeatures(fileOf(t, 'a.geojson', JSON.stringify(collection, null, space))),
    );
    assert.equal(found.length, many.length);
    assert.deepEqual(found[29_999]!.properties, { ...properties, i: 29_999 });
    assert.deepEqual(found[7]!.geometry, many[7]!.geometry);
    assert.equal(
      found[1]!.line,
      space === 0 ? 1 : 5 + JSON.stringify(many[0], null, 1).split('\n').length,
    );
  }
  assert.deepEqual(await all(geojsonFeatures(fileOf(t, 'a.geojson', '{"features": [ ]}'))), []);
});

test('a GeoJSON file that ends early, or is not in degrees, and a file that is not GeoJSON are refused', async (t) => {
  const refused = (text: string, reason: RegExp) =>
    assert.rejects(all(geojsonFeatures(fileOf(t, 'a.geojson', text))), {
      code: 'SERVICE_DATA',
      message: reason,
    });
  await refused('{"type":"FeatureCollection","features":[{"type":"Feature"}', /ends before/);
  await refused('{"type":"FeatureCollection","features":[{"type":"Feat', /ends before/);
  await refused('{"type":"Point"}', /not a GeoJSON FeatureCollection/);
  await refused('{"features":[{oops}]}', /line 1 is not valid JSON/);
  await refused(
    '{"crs":{"type":"name","properties":{"name":"EPSG:3857"}},"features":[]}',
    /EPSG:3857/,
  );
});

test('a shapefile is read the same from files and from a zip; an unknown coordinate system is refused', async (t) => {
  const [one, two] = [
    { lng: -78.5, lat: 38.25, name: 'one' },
    { lng: -78.25, lat: 38.5, name: 'two é' },
  ];
  const { shp, dbf, prj } = shapefileOf([one, two], 'GEOGCS["GCS_North_American_1983"]');
  const parts = {
    'x/parks.shp': shp,
    'x/parks.dbf': dbf,
    'x/parks.prj': prj,
    'x/parks.cpg': Buffer.from('UTF-8'),
  };
  const zip = zipOf(t, parts);
  assert.deepEqual(await read(zip), [
    {
      line: 1,
      geometry: { type: 'Point', coordinates: [-78.5, 38.25] },
      properties: { NAME: 'one' },
    },
    {
      line: 2,
      geometry: { type: 'Point', coordinates: [-78.25, 38.5] },
      properties: { NAME: 'two é' },
    },
  ]);
  const { database, load } = loading(t);
  assert.equal((await load('parks', zip)).records, 2);
  assert.equal(featuresOf(database, 'sites_park').length, 2);
  const projected = shapefileOf(
    [{ lng: 1, lat: 2, name: 'x' }],
    'PROJCS["Web Mercator",GEOGCS["x"]]',
  );
  const other = { 'a.shp': projected.shp, 'a.dbf': projected.dbf, 'a.prj': projected.prj };
  await assert.rejects(
    load('parks', zipOf(t, other)),
    /unknown coordinate system \(Web Mercator\)/,
  );
  await assert.rejects(load('parks', fileOf(t, 'none.zip', 'no zip')), { code: 'SERVICE_DATA' });
  await assert.rejects(load('parks', fileOf(t, 'lone.shp', 'x')), /in one folder/);
  await assert.rejects(load('parks', fileOf(t, 'plants.xls', 'x')), /format is not supported/);
  assert.equal(featuresOf(database, 'sites_park').length, 2);
});

const NAD27 =
  'GEOGCS["GCS_North_American_1927",DATUM["D_North_American_1927",SPHEROID["Clarke_1866",6378206.4,294.9786982]],PRIMEM["Greenwich",0],UNIT["Degree",0.017453292519943295]]';
const NAD83 =
  'GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
const MERCATOR =
  'PROJCS["WGS_1984_Web_Mercator_Auxiliary_Sphere",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Mercator_Auxiliary_Sphere"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",0.0],PARAMETER["Standard_Parallel_1",0.0],PARAMETER["Auxiliary_Sphere_Type",0.0],UNIT["Meter",1.0]]';

test('a polygon or a line with parts that are too short keeps its others', async (t) => {
  const ring = [
    [-78, 38],
    [-77, 38],
    [-77, 39],
    [-78, 39],
    [-78, 38],
  ];
  const triangle = ring.slice(0, 3);
  const [spot, pair] = [[[-78, 38]], ring.slice(0, 2)];
  const cases: readonly (readonly [type: string, written: unknown, read: unknown])[] = [
    ['MultiPolygon', [[ring], [spot], [pair], []], [[ring]]],
    ['MultiPolygon', [[ring, spot], [triangle]], [[ring], [triangle]]],
    ['Polygon', [ring, spot, pair, triangle], [ring, triangle]],
    ['Polygon', [triangle], [triangle]],
    ['MultiLineString', [pair, spot, []], [pair]],
    ['LineString', pair, pair],
    // Of these nothing is left that could be told from a fault.
    ['Polygon', [spot], null],
    ['Polygon', [pair, ring], null],
    ['MultiPolygon', [[ring], [spot, ring]], null],
    ['MultiLineString', [spot], null],
  ];
  for (const [type, written, left] of cases) {
    const geometry = { type, coordinates: written };
    const features = [{ type: 'Feature', properties: {}, geometry }];
    const text = JSON.stringify({ type: 'FeatureCollection', features });
    const [feature] = (await read(fileOf(t, 'a.geojson', text))) as { geometry: unknown }[];
    const found = feature!.geometry;
    const label = JSON.stringify(written);
    if (left === null) assert.equal(boxOfGeometry(found), null, label);
    else {
      assert.deepEqual(found, { type, coordinates: left }, label);
      assert.notEqual(boxOfGeometry(found), null, label);
    }
  }
  // What has no coordinates of its own stays as it is.
  const geometry = {
    type: 'GeometryCollection',
    geometries: [{ type: 'Point', coordinates: [-78, 38] }],
  };
  const text = JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry }],
  });
  const [feature] = (await read(fileOf(t, 'a.geojson', text))) as { geometry: unknown }[];
  assert.deepEqual(feature!.geometry, geometry);
});

test('a shape whose row was deleted in the table is left out, and said', async (t) => {
  const places = ['one', 'two', 'three', 'four'].map((name, at) => ({
    lng: -78 - at,
    lat: 38,
    name,
  }));
  const { shp, dbf } = shapefileOf(places, '');
  const rowBytes = dbf.readUInt16LE(10);
  for (const row of [1, 3]) dbf[dbf.readUInt16LE(8) + row * rowBytes] = 0x2a;
  const zip = zipOf(t, { 'a.shp': shp, 'a.dbf': dbf });
  const found = await all(featuresIn(zip, {}, new LoadReporter()));
  assert.deepEqual(
    found.map(({ line, properties }) => [line, properties.NAME]),
    [
      [1, 'one'],
      [3, 'three'],
    ],
  );
  const { records, notes } = await loading(t).load('parks', zip);
  assert.equal(records, 2);
  assert.match(notes.join(), /has 2 shapes whose row is deleted: left out\./);
});

test('a shapefile of another coordinate system is converted or refused; one without any is noted', async (t) => {
  const { database, load } = loading(t);
  const place = async (prj: string, lng: number, lat: number) => {
    const { shp, dbf, prj: text } = shapefileOf([{ lng, lat, name: 'one' }], prj);
    const parts = { 'a.shp': shp, 'a.dbf': dbf, ...(prj === '' ? {} : { 'a.prj': text }) };
    const result = await load('parks', zipOf(t, parts), { replace: true });
    return [...featuresOf(database, 'sites_park')[0].geometry.coordinates, result.notes.join()];
  };
  const near = (found: unknown, expected: number, degrees: number) =>
    assert.ok(Math.abs((found as number) - expected) < degrees, `${found} is not ${expected}`);
  const [lng, lat, note] = await place(NAD27, -80, 36);
  // NADCON gives -79.99978, 36.00011; unconverted it would be 23 m off.
  near(lng, -79.99978, 0.00002);
  near(lat, 36.0001, 0.00003);
  assert.match(note as string, /converted from GCS_North_American_1927/);
  // One site of EPA's list of Superfund sites, which has both.
  const [x, y] = await place(MERCATOR, -8538019.151613949, 4745134.6145892255);
  near(x, -76.698331, 1e-6);
  near(y, 39.163611, 1e-6);
  assert.deepEqual((await place(NAD83, -80, 36)).slice(0, 2), [-80, 36]);
  assert.match((await place('', -80, 36))[2] as string, /has no \.prj/);
  for (const unknown of [
    NAD27.replaceAll('North_American_1927', 'Old_Hawaiian'),
    'LOCAL_CS["x"]',
    MERCATOR.replace('PROJECTION["Mercator', 'PROJECTION["Odd'),
  ]) {
    await assert.rejects(place(unknown, -80, 36), {
      code: 'SERVICE_DATA',
      message: /unknown coordinate system/,
    });
  }
});

test('a shapefile that was cut, or damaged in its zip, is refused and replaces nothing', async (t) => {
  const points = Array.from({ length: 10 }, (_, i) => ({
    lng: -78 - i / 10,
    lat: 38,
    name: `park ${i}`,
  }));
  const { shp, dbf } = shapefileOf(points, '');
  const { database, load } = loading(t);
  await load('parks', zipOf(t, { 'a.shp': shp, 'a.dbf': dbf }));
  const cut: readonly (readonly [string, Buffer, Buffer])[] = [
    ['table', shp, dbf.subarray(0, 200)],
    ['table’s header', shp, dbf.subarray(0, 20)],
    ['shapes, at the edge of one', shp.subarray(0, 100 + 5 * 28), dbf],
    ['shapes, within one', shp.subarray(0, 100 + 5 * 28 + 9), dbf],
    ['header of the shapes', shp.subarray(0, 50), dbf],
    ['all', Buffer.alloc(0), Buffer.alloc(0)],
  ];
  // Cut before its header was written anew: it says itself that it has five shapes, and the table has ten rows.
  const five = Buffer.from(shp.subarray(0, 100 + 5 * 28));
  five.writeInt32BE(five.length / 2, 24);
  const halved = zipOf(t, { 'a.shp': five, 'a.dbf': dbf });
  await assert.rejects(load('parks', halved), /it has 5 shapes, and 10 rows in its table/);
  for (const [what, shapes, table] of cut) {
    const refused = { code: 'SERVICE_DATA', message: /it ends before its features do/ };
    await assert.rejects(
      load('parks', zipOf(t, { 'a.shp': shapes, 'a.dbf': table })),
      refused,
      what,
    );
    const beside = fileOf(t, 'cut.shp', shapes);
    writeFileSync(beside.replace(/shp$/, 'dbf'), table);
    await assert.rejects(load('parks', beside), refused, what);
  }
  const longer = Buffer.concat([shp, Buffer.from('tail')]);
  const parts = [
    ['dbf', 'park 3'],
    ['shp', shp.subarray(112, 120)],
    ['shp', 'tail'],
  ] as const;
  for (const [part, place] of parts) {
    const damaged = readFileSync(zipOf(t, { 'a.shp': longer, 'a.dbf': dbf }, 0));
    damaged[damaged.indexOf(place)]! ^= 1;
    const refused = new RegExp(`its part a\\.${part} does not match its checksum`);
    await assert.rejects(load('parks', fileOf(t, 'damaged-parks.zip', damaged)), refused);
  }
  assert.equal(featuresOf(database, 'sites_park').length, 10);
});

test('a shapefile with a shape of a wrong length is refused', async (t) => {
  const { shp, dbf } = shapefileOf([{ lng: -78, lat: 38, name: 'park' }], '');
  const { load } = loading(t);
  for (const words of [0x7f_ff_ff_ff, 6]) {
    shp.writeInt32BE(words, 104);
    const file = zipOf(t, { 'a.shp': shp, 'a.dbf': dbf });
    const message = /it is damaged: its shape 1 cannot be read/;
    await assert.rejects(load('parks', file), { code: 'SERVICE_DATA', message });
  }
});

test('a shapefile ends where its header states; a length that cannot be is refused', async (t) => {
  const park = { lng: -78, lat: 38, name: 'park' };
  const { shp, dbf } = shapefileOf([park], '');
  // What follows would be read as a second shape.
  const longer = shapefileOf([park, park], '').shp;
  longer.writeInt32BE(shp.length / 2, 24);
  assert.equal((await read(zipOf(t, { 'a.shp': longer, 'a.dbf': dbf }))).length, 1);
  const beside = fileOf(t, 'a.shp', longer);
  writeFileSync(beside.replace(/shp$/, 'dbf'), dbf);
  assert.equal((await read(beside)).length, 1);
  for (const words of [-1, 0, 49]) {
    shp.writeInt32BE(words, 24);
    const message = new RegExp(`it is damaged: its \\.shp states a length of ${2 * words} bytes`);
    await assert.rejects(read(zipOf(t, { 'a.shp': shp, 'a.dbf': dbf })), {
      code: 'SERVICE_DATA',
      message,
    });
  }
});

test('what follows the last shape is not read; anything else in place of a shape is refused, and never searched', async (t) => {
  const park = { lng: -78, lat: 38, name: 'park' };
  const { shp, dbf } = shapefileOf([park], '');
  const readOf = (shapes: Buffer, table: Buffer) => {
    shapes.writeInt32BE(shapes.length / 2, 24);
    return read(zipOf(t, { 'a.shp': shapes, 'a.dbf': table }));
  };
  const zeros = () => Buffer.concat([shp, Buffer.alloc(256 * 1024)]);
  assert.equal((await readOf(zeros(), dbf)).length, 1);
  const two = shapefileOf([park, park], '');
  await assert.rejects(readOf(zeros(), two.dbf), /it is damaged: its shape 2 cannot be read/);
  await assert.rejects(
    readOf(Buffer.from(two.shp), dbf),
    /it has more shapes than the 1 rows in its table/,
  );
  two.shp.writeInt32LE(5, 108);
  await assert.rejects(readOf(two.shp, two.dbf), /its shape 1 cannot be read/);
  const noWidth = Buffer.from(dbf);
  noWidth.writeUInt16LE(0, 10);
  await assert.rejects(readOf(shp, noWidth), /its \.dbf cannot be read/);
});

test('a polygon is read; one whose parts overlap is refused', async (t) => {
  const { dbf } = shapefileOf([{ lng: 0, lat: 0, name: 'a' }], '');
  const ring = positions('-78 38, -78 39, -77 39, -78 38');
  const polygon = (parts: readonly number[]) => {
    const body = Buffer.alloc(44 + 4 * parts.length + 16 * ring.length);
    body.writeInt32LE(5, 0);
    body.writeInt32LE(parts.length, 36);
    body.writeInt32LE(ring.length, 40);
    for (const [index, part] of parts.entries()) body.writeInt32LE(part, 44 + 4 * index);
    for (const [index, [x, y]] of ring.entries()) {
      body.writeDoubleLE(x, 44 + 4 * parts.length + 16 * index);
      body.writeDoubleLE(y, 52 + 4 * parts.length + 16 * index);
    }
    const shp = Buffer.alloc(108);
    shp.writeInt32BE((108 + body.length) / 2, 24);
    shp.writeInt32LE(5, 32);
    shp.writeInt32BE(1, 100);
    shp.writeInt32BE(body.length / 2, 104);
    return zipOf(t, { 'a.shp': Buffer.concat([shp, body]), 'a.dbf': dbf });
  };
  const [whole] = await read(polygon([0]));
  assert.deepEqual((whole as { geometry: unknown }).geometry, {
    type: 'Polygon',
    coordinates: [ring],
  });
  await assert.rejects(read(polygon([0, 4, 0, 4])), /its shape 1 cannot be read/);
});

test('the table of a shapefile is read in the encoding of its .cpg, however it is spelled', async (t) => {
  const { shp, dbf } = shapefileOf([{ lng: -122, lat: 37, name: 'Pe?a' }], '');
  const nameIn = async (cpg: string, letter: readonly number[], ending = 'cpg') => {
    const at = dbf.indexOf('Pe') + 2;
    const table = Buffer.concat([
      dbf.subarray(0, at),
      Buffer.from(letter),
      Buffer.from('a'),
      dbf.subarray(at + 2),
    ]);
    const parts = {
      'a.shp': shp,
      'a.dbf': table.subarray(0, dbf.length),
      [`a.${ending}`]: Buffer.from(cpg),
    };
    const [first] = await read(zipOf(t, parts));
    return (first as { properties: { NAME: string } }).properties.NAME;
  };
  const latin = [
    '1252',
    'ANSI 1252',
    'CP1252',
    'windows-1252',
    'ISO 8859-1',
    'ISO-8859-1',
    '88591',
    'latin1',
  ];
  for (const cpg of ['', ...latin]) {
    assert.equal(await nameIn(cpg, [0xf1]), 'Peña', cpg);
  }
  for (const cpg of ['UTF-8', 'utf8', '65001', '\ufeffUTF-8\r\n']) {
    assert.equal(await nameIn(cpg, [0xc3, 0xb1]), 'Peña', cpg);
  }
  // GeoServer's name of the same file.
  assert.equal(await nameIn('UTF-8', [0xc3, 0xb1], 'cst'), 'Peña');
  await assert.rejects(nameIn('OEM 437', [0xa4]), {
    code: 'SERVICE_DATA',
    message: /encoding .*OEM 437/,
  });
});

test('a CSV of points: columns are recognized or named, properties kept, unusable rows reported', async (t) => {
  const { database, load } = loading(t);
  const csv = [
    ...['X,Y,Well,Zip,Latitude,Longitude ,Note', '0,0,"One, the first",02134,42.1,-71.1, '],
    ...['0,0,Two,2134,,-71.2,x', '0,0,Three,,42.3,,x', '0,0,Four,,0,0,x', '0,0,Five,,42°N,-71,x'],
    ...['0,0,Six,,95,-71,x', '0,0,Seven,,45,-71,x,over'],
  ].join('\n');
  const result = await load('wells', fileOf(t, 'wells.csv', csv));
  assert.deepEqual([result.rows, result.loaded], [7, 2]);
  assert.deepEqual(rejects(result), [
    ['the coordinates are blank', 2, 3],
    ['the coordinates are 0 and 0, which means none', 1, 5],
    ['the coordinates are not decimal numbers', 1, 6],
    ['the coordinates are beyond 90 and 180 degrees', 1, 7],
  ]);
  const [one, seven] = featuresOf(database, 'sites_oilGasWell');
  assert.deepEqual(one.geometry, { type: 'Point', coordinates: [-71.1, 42.1] });
  assert.deepEqual(one.properties, { X: 0, Y: 0, Well: 'One, the first', Zip: '02134' });
  assert.equal(seven.properties['column 8'], 'over');
  const named = fileOf(t, 'wells.csv', 'Well,breite,laenge\nA,42,-71\n');
  await assert.rejects(load('wells', named), /no known latitude column/);
  assert.equal(
    (await load('wells', named, { lat: 'breite', lng: 'Laenge', replace: true })).records,
    1,
  );
});
