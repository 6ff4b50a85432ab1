import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { findPerilbookColumns } from '../../src/rows/kept-columns.ts';
import type { NamedColumns } from '../../src/rows/location/named-columns.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { locationByNames, locationInFile } from './location-of.ts';

const OWN = new Set(['hazard_status', 'hazard_note', 'hazard_as_of']);

/** The columns that are found in a file, the line that is suggested as its header, or what else is wrong. */
async function found(
  t: TestContext,
  text: string,
  named: NamedColumns,
  name = 'in.csv',
): Promise<string> {
  const file = join(temporaryFolder(t), name);
  writeFileSync(file, text);
  const rowFile = await openRowFile(file);
  try {
    const dropFrom = findPerilbookColumns(rowFile.columns, OWN);
    const names = rowFile.columns.slice(0, dropFrom ?? rowFile.columns.length);
    const { lat, lng } = await locationInFile(rowFile, named, name);
    return `${names[lat]} and ${names[lng]} of ${names.length}${dropFrom === null ? '' : `, dropped from ${dropFrom}`}`;
  } catch (error) {
    assert.ok(error instanceof PerilbookError && error.code === 'INPUT_COLUMNS', String(error));
    const { message, hint, context } = error;
    const line = context.header_line;
    if (line === undefined) {
      assert.match(hint, /^(?!Line)[^ ].*[^ ]$/);
      return context.file === name && hint.includes('--no-header') ? message : 'no header';
    }
    const suggested = `Line ${line} looks like the column names: add --header-line ${line} (header_line: ${line} in the job file).`;
    assert.equal(hint, suggested);
    return `line ${line}`;
  }
}

test('the names of the columns are found, or the line that has them is suggested', async (t) => {
  for (const [text, result] of [
    ['id,lat,lng\n1,40,-99\n', 'lat and lng of 3'],
    ['id,lat,lng,hazard_status,hazard_note,hazard_as_of\n', 'lat and lng of 3, dropped from 3'],
    ['Portfolio\n\nid,lat,lng\n', 'line 3'],
    ['Portfolio,2024\nx,y z\nid,lat,lng\n', 'line 3'],
    ['Portfolio,2024\nid,city\nA1,Austin\n', 'no header'],
    ['id,city\nA1,Austin\n', 'no header'],
    ['Portfolio,,\nid,city,state\n', 'line 2'],
    ['Portfolio\nby Ann,\nid,city\n', 'line 3'],
    ['Portfolio\n12,-99.5,x\n+5,a,b\n3x,x3,c\n', 'line 4'],
  ] as const) {
    assert.equal(await found(t, text, {}), result, text);
  }
  const named = { lat: 'B', lng: 'C' };
  assert.equal(await found(t, 'Portfolio\nid,B,C\n', named), 'line 2');
  // A line with another of the named columns alone is not the header.
  assert.equal(await found(t, 'Portfolio\nA,B,D\nid,b ,C\n', named), 'line 3');
  assert.equal(await found(t, '{"id":1,"city":"Austin"}\n', {}, 'in.ndjson'), 'no header');
});

test('two locations in place of names are no question which is meant', async (t) => {
  const text = '1,33.0394,-89.8123,33.2213,-89.47\n2,34.51,-88.52,34.75,-88.25\n';
  const refused = 'The first line is a location (33.0394, -89.8123), not column names';
  assert.equal(await found(t, text, {}), refused);
});

test('a location in place of names is refused, in any notation: it would be lost', async (t) => {
  const both = { lat: '1', lng: '2' };
  const refused = (location: string) =>
    `The first line is a location (${location}), not column names`;
  for (const [text, named, result] of [
    ['40.1,-99.9\n', both, refused('40.1, -99.9')],
    ['40,-99\n', both, refused('40, -99')],
    ["40°6'N,99°54'W\n", both, refused("40°6'N, 99°54'W")],
    ['51.5,-0.12\n', both, refused('51.5, -0.12')],
    ['48°,2°\n', both, refused('48°, 2°')],
    ['"40.1, -99.9"\n', { column: '1' }, refused('40.1, -99.9')],
    ['"40,1; -99,9"\n', { column: '1' }, refused('40,1, -99,9')],
    ['1,2,3\n', both, '1 and 2 of 3'],
    ['51,0.5\n', both, '51 and 0.5 of 2'],
    ['place\n', { column: '1' }, 'place and place of 2'],
  ] as const) {
    assert.equal(await found(t, `${text}40.2,-99.8\n`, named), result, text);
  }
});

const CERTAIN: readonly (readonly [names: string, lat: number, lng: number])[] = [
  ['LocNumber,Latitude,Longitude', 1, 2],
  ['RECORD ID,LONGITUDE ,LATITUDE', 2, 1],
  ['lat,lng', 0, 1],
  ['LON,LAT', 1, 0],
  ['a,Lat,Long', 1, 2],
  ['point_latitude,point_longitude', 0, 1],
  ['point.lat,point.lon', 0, 1],
  ['id,LATITUDE83,LONGITUDE83', 1, 2],
  ['INTPTLAT,INTPTLON', 0, 1],
  ['INTPTLAT,INTPTLONG', 0, 1],
  ['11. ZIP,12. LATITUDE,13. LONGITUDE', 1, 2],
  ['LAT_DMS,LON_DMS,latdec,londec', 2, 3],
  ['primary_latitude_decimal_val,primary_longitude_decimal_val', 0, 1],
  ['Latitude (WGS84),Longitude (deg)', 0, 1],
  ['X,Y,OBJECTID,Latitude,Longitude', 3, 4],
  ['lat,lng,start_lat,start_lng', 0, 1],
  ['Property Lat,plate,Property Lng', 0, 2],
  ['long,latitude,longitude', 1, 2],
  ['lat,longitude', 0, 1],
  [' latitude,longitude', 0, 1],
  ['12.LATITUDE,13.LONGITUDE', 0, 1],
  ['12. LATITUDE,Longitude', 0, 1],
  ['point - lat,point lon', 0, 1],
  ['lat a,lon b', 0, 1],
  ['LAT_DMS,LON_DMS', 0, 1],
];

test('the columns are found in any order, by names as files have them', () => {
  for (const [names, lat, lng] of CERTAIN) {
    assert.deepEqual(locationByNames(names.split(',')), { lat, lng, note: null }, names);
  }
});

test('where several pairs fit, the note names the one that was taken', () => {
  const pairs = locationByNames(['slat', 'slon', 'elat', 'elon']);
  assert.deepEqual([pairs.lat, pairs.lng], [0, 1]);
  assert.match(
    pairs.note ?? '',
    /"slat" \(column 1\) and "slon" \(column 2\) were taken, not "elat"/,
  );
  const twice = locationByNames(['Latitude', 'Longitude', 'Latitude', 'Longitude']);
  assert.deepEqual([twice.lat, twice.lng], [0, 1]);
  assert.match(twice.note ?? '', /not "Latitude" \(column 3\) and "Longitude" \(column 4\)/);
  for (const names of [
    ['lat', 'lat', 'lng'],
    ['Lat', 'lng', 'lon', 'LAT', 'Lat'],
  ]) {
    assert.throws(() => locationByNames(names), {
      code: 'INPUT_COLUMNS',
      message: /may be column 1 or column/,
    });
    assert.equal(locationByNames(names, { lat: '1' }).lat, 0);
  }
  assert.throws(() => locationByNames(['lat', 'lng', 'lng']), {
    message: /longitude column "lng" may be column 2/,
  });
  const mixed = locationByNames(['latitude', 'lat', 'lng', 'longitude']);
  assert.deepEqual([mixed.lat, mixed.lng], [0, 3]);
  const map = locationByNames(['X', 'Y', 'name']);
  assert.deepEqual([map.lat, map.lng], [1, 0]);
  assert.match(map.note ?? '', /"Y" \(column 2\) and "X" \(column 1\) were taken/);
});

test('named columns are taken, exactly first, then whatever the case', () => {
  const names = ['LAT', 'lat', 'Nord', 'Ost', 'lng'];
  assert.deepEqual(locationByNames(names, { lat: 'Nord', lng: 'Ost' }), {
    lat: 2,
    lng: 3,
    note: null,
  });
  assert.equal(locationByNames(names, { lat: 'lat', lng: ' OST ' }).lat, 1);
  assert.equal(locationByNames(names, { lat: 'Nord' }).lng, 4);
  assert.deepEqual(locationByNames(['slat', 'slon', 'elat', 'elon'], { lat: 'elat' }), {
    lat: 2,
    lng: 3,
    note: null,
  });
  assert.deepEqual(locationByNames(['slat', 'slon', 'elat', 'elon'], { lng: 'elon' }).lat, 2);
  assert.deepEqual(locationByNames(['lat', 'Ost'], { lng: 'Ost' }), {
    lat: 0,
    lng: 1,
    note: null,
  });
  assert.equal(locationByNames(['lat', 'lng', 'lng'], { lng: '3' }).lng, 2);
  assert.throws(() => locationByNames(['lng', 'b'], { lat: 'lng' }), {
    message: /^No longitude column/,
  });
  assert.throws(() => locationByNames(['lat', 'b'], { lng: 'lat' }), {
    message: /^No latitude column/,
  });
});

test('one column with both; what holds no points is refused, and named where no column is found', () => {
  const names = ['id', 'place', 'geometry'];
  const shapes = { column: 'geometry', kinds: ['Polygon', 'MultiPolygon Z', 'Polygon Z'] };
  const both = { lat: 1, lng: 1, note: null };
  for (const given of [undefined, shapes])
    assert.deepEqual(locationByNames(names, { column: 'place' }, given), both);
  assert.equal(locationByNames(names, { column: 'geometry' }).lat, 2);
  const message = /^Column geometry holds polygons and multipolygons, not points/;
  assert.throws(() => locationByNames(names, { column: 'geometry' }, shapes), {
    message,
    hint: /--location COLUMN/,
  });
  assert.throws(() => locationByNames(names, {}, shapes), {
    message: /^No latitude and longitude/,
    hint: message,
  });
  assert.throws(() => locationByNames(['id'], {}, { ...shapes, column: null }), {
    hint: /^The geometries are Polygon, MultiPolygon Z, Polygon Z: points are needed/,
  });
});

test('a column may be given by its number, unless a name is just that', () => {
  assert.deepEqual(locationByNames(['a', 'b', 'c'], { lat: '2', lng: ' 3 ' }), {
    lat: 1,
    lng: 2,
    note: null,
  });
  assert.equal(locationByNames([...'abcdefghijkl'], { lat: '11', lng: '12' }).lat, 10);
  assert.equal(locationByNames(['3', 'b', 'c'], { lat: '3', lng: 'c' }).lat, 0);
  for (const lat of ['0', '4', '-1', '1.5', '']) {
    assert.throws(
      () => locationByNames(['a', 'b', 'c'], { lat, lng: 'c' }),
      { code: 'INPUT_COLUMNS' },
      lat,
    );
  }
});

test('a name that several columns have is refused, with their numbers', () => {
  const names = ['id', 'lat', 'LAT', 'lng', 'lat', ''];
  const hint = 'Name it by its number: --lat 2.';
  const refused = (message: RegExp) => ({ code: 'INPUT_COLUMNS', message, hint });
  assert.throws(() => locationByNames(names, { lat: 'lat', lng: 'lng' }), {
    ...refused(/^The latitude column "lat" may be column 2 or column 5$/),
    context: { column: 'lat', columns: names },
  });
  const anyCase = () => locationByNames(names, { lat: 'Lat', lng: 'lng' });
  assert.throws(anyCase, refused(/column 2 or column 3 or column 5$/));
  assert.deepEqual(locationByNames(names, { lat: 'LAT', lng: 'lng' }), {
    lat: 2,
    lng: 3,
    note: null,
  });
  assert.deepEqual(locationByNames(names, { lat: '5', lng: 'lng' }), {
    lat: 4,
    lng: 3,
    note: null,
  });
});

test('what is not there is named, with what was probably meant', () => {
  const names = ['id', 'Latitude', 'Longitude'];
  const refused = (message: RegExp, columns: readonly string[], given = {}) =>
    assert.throws(
      () => locationByNames(columns, given),
      { code: 'INPUT_COLUMNS', message },
      String(columns),
    );
  const meant = /no latitude column "Lattitude"; did you mean "Latitude"\? The columns are: id/;
  refused(meant, names, { lat: 'Lattitude' });
  refused(/no latitude column "zzz"\. The columns are/, names, { lat: 'zzz' });
  refused(/both column "id"/, names, { lat: 'id', lng: 'id' });
  refused(/No longitude column was found\. The columns are: a, lat$/, ['a', 'lat']);
  refused(/^No latitude column was found/, ['Lng', 'y']);
  for (const other of [
    'latency,longest',
    'a,x',
    'y,a',
    'p1.lat,p2.lon',
    'my lat a,lon b',
    'lat a,my lon b',
  ]) {
    refused(/^No latitude and longitude/, other.split(','));
  }
  refused(/\(no name\), b$/, ['', 'b']);
  const many = (length: number) => Array.from({ length }, (_, i) => `c${i}`);
  refused(/c39, and 10 more$/, many(50));
  refused(/c39$/, many(40));
});

test('where no column is found, the error says what the names look like, and what to do', () => {
  const plain =
    /^Name the latitude and the longitude column .*--lat COLUMN --lng COLUMN.*--location COLUMN/;
  const addresses = /does not geocode addresses/;
  for (const [names, hint] of [
    ['id,where', plain],
    ['1,2,3', /^The file has no header line/],
    [',', plain],
    ['mylocation,location name,geometry', plain],
    ...['address', 'Street Address', 'property_address', 'Address Line', 'zip', 'zip code'].map(
      (name) => [`id,${name}`, addresses] as const,
    ),
    ['my address,address x,my zip,zip plus', plain],
  ] as const) {
    assert.throws(
      () => locationByNames(names.split(',')),
      { code: 'INPUT_COLUMNS', hint, context: { columns: names.split(',') } },
      names,
    );
  }
});

test('the columns of an earlier run are found, and only when nothing of the user follows', () => {
  const known = new Set([...OWN, 'hail_score']);
  const ours = [...OWN].join();
  const cases: readonly (readonly [names: string, from: number | null])[] = [
    ['lat,lng', null],
    [`lat,lng,${ours}`, 2],
    [`lat,lng,${ours},hail_score`, 2],
    [`lat,lng,${ours},mine`, null],
    [`lat,lng,hazard_status,mine,${ours},hail_score`, 4],
    ['lat,lng,hail_score', null],
    [`lat,hail_score,${ours}`, 2],
    // The user's own column of that name, not what Perilbook wrote.
    ['lat,lng,hazard_status', null],
    ['lat,lng,hazard_status,hail_score', null],
    [`lat,hazard_status,${ours}`, 2],
    ['', null],
  ];
  for (const [names, from] of cases)
    assert.equal(findPerilbookColumns(names.split(','), known), from, names);
  const prefixed = ['lat', ...ours.split(',').map((name) => `p_${name}`)];
  assert.equal(findPerilbookColumns(prefixed, new Set([...known].map((name) => `p_${name}`))), 1);
});
