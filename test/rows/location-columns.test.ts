import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPerilbookColumns } from '../../src/rows/kept-columns.ts';
import { findLocationColumns } from '../../src/rows/location-columns.ts';

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
];

test('the columns are found in any order, by names as files have them', () => {
  for (const [names, lat, lng] of CERTAIN) {
    assert.deepEqual(findLocationColumns(names.split(',')), { lat, lng, note: null }, names);
  }
});

test('where several pairs fit, the note names the one that was taken', () => {
  const pairs = findLocationColumns(['slat', 'slon', 'elat', 'elon']);
  assert.deepEqual([pairs.lat, pairs.lng], [0, 1]);
  assert.match(pairs.note ?? '', /"slat" \(column 1\) and "slon" \(column 2\) were taken, not "elat"/);
  const twice = findLocationColumns(['Latitude', 'Longitude', 'Latitude', 'Longitude']);
  assert.deepEqual([twice.lat, twice.lng], [0, 1]);
  assert.match(twice.note ?? '', /not "Latitude" \(column 3\) and "Longitude" \(column 4\)/);
  for (const names of [
    ['lat', 'lat', 'lng'],
    ['Lat', 'lng', 'lon', 'LAT', 'Lat'],
  ]) {
    assert.throws(() => findLocationColumns(names), { code: 'INPUT_COLUMNS', message: /may be column 1 or column/ });
    assert.equal(findLocationColumns(names, { lat: '1' }).lat, 0);
  }
  assert.throws(() => findLocationColumns(['lat', 'lng', 'lng']), {
    message: /longitude column "lng" may be column 2/,
  });
  const mixed = findLocationColumns(['latitude', 'lat', 'lng', 'longitude']);
  assert.deepEqual([mixed.lat, mixed.lng], [0, 3]);
  const map = findLocationColumns(['X', 'Y', 'name']);
  assert.deepEqual([map.lat, map.lng], [1, 0]);
  assert.match(map.note ?? '', /"Y" \(column 2\) and "X" \(column 1\) were taken/);
});

test('named columns are taken, exactly first, then whatever the case', () => {
  const names = ['LAT', 'lat', 'Nord', 'Ost', 'lng'];
  assert.deepEqual(findLocationColumns(names, { lat: 'Nord', lng: 'Ost' }), { lat: 2, lng: 3, note: null });
  assert.equal(findLocationColumns(names, { lat: 'lat', lng: ' OST ' }).lat, 1);
  assert.equal(findLocationColumns(names, { lat: 'Nord' }).lng, 4);
  assert.deepEqual(findLocationColumns(['slat', 'slon', 'elat', 'elon'], { lat: 'elat' }), {
    lat: 2,
    lng: 3,
    note: null,
  });
});

test('a column may be given by its number, unless a name is just that', () => {
  assert.deepEqual(findLocationColumns(['a', 'b', 'c'], { lat: '2', lng: ' 3 ' }), { lat: 1, lng: 2, note: null });
  assert.equal(findLocationColumns(['3', 'b', 'c'], { lat: '3', lng: 'c' }).lat, 0);
  for (const lat of ['0', '4', '-1', '1.5', '']) {
    assert.throws(() => findLocationColumns(['a', 'b', 'c'], { lat, lng: 'c' }), { code: 'INPUT_COLUMNS' }, lat);
  }
});

test('a name that several columns have is refused, with their numbers', () => {
  const names = ['id', 'lat', 'LAT', 'lng', 'lat', ''];
  const refused = (message: RegExp) => ({
    code: 'INPUT_COLUMNS',
    message,
    hint: /^Name it by its number: --lat \d\.$/,
  });
  assert.throws(
    () => findLocationColumns(names, { lat: 'lat', lng: 'lng' }),
    refused(/^The latitude column "lat" may be column 2 or column 5$/),
  );
  assert.throws(
    () => findLocationColumns(names, { lat: 'Lat', lng: 'lng' }),
    refused(/column 2 or column 3 or column 5$/),
  );
  assert.deepEqual(findLocationColumns(names, { lat: 'LAT', lng: 'lng' }), { lat: 2, lng: 3, note: null });
  assert.deepEqual(findLocationColumns(names, { lat: '5', lng: 'lng' }), { lat: 4, lng: 3, note: null });
});

test('what is not there is named, with what was probably meant', () => {
  const names = ['id', 'Latitude', 'Longitude'];
  const refused = (message: RegExp) => ({ code: 'INPUT_COLUMNS', message });
  assert.throws(
    () => findLocationColumns(names, { lat: 'Lattitude' }),
    refused(/no latitude column "Lattitude"; did you mean "Latitude"\?/),
  );
  assert.throws(() => findLocationColumns(names, { lat: 'id', lng: 'id' }), refused(/both column "id"/));
  assert.throws(
    () => findLocationColumns(['a', 'lat']),
    refused(/No latitude and longitude column was found\. The columns are: a, lat$/),
  );
  assert.throws(() => findLocationColumns(['latency', 'longest']), refused(/No latitude and longitude/));
  assert.throws(() => findLocationColumns(['', 'b']), refused(/\(no name\), b$/));
  assert.throws(() => findLocationColumns(Array.from({ length: 50 }, (_, i) => `c${i}`)), refused(/c39, and 10 more$/));
});

test('the error for a file without a header asks for column numbers', () => {
  const storm = ['619', '2005', '1', '7', '2005-01-07', '17:17:00', '3', 'MS'];
  assert.throws(() => findLocationColumns(storm), {
    code: 'INPUT_COLUMNS',
    hint: /looks like data: .*--no-header --lat NUMBER --lng NUMBER/,
  });
});

test('where no column is found, the error also names the option for one column that holds both', () => {
  assert.throws(() => findLocationColumns(['id', 'where']), { hint: /--lat COLUMN --lng COLUMN.*--location COLUMN/ });
});

test('the columns of an earlier run are found, and only when nothing of the user follows', () => {
  const known = new Set(['hazard_status', 'hazard_note', 'hazard_as_of', 'hail_score']);
  const ours = 'hazard_status,hazard_note,hazard_as_of';
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
  for (const [names, from] of cases) assert.equal(findPerilbookColumns(names.split(','), known), from, names);
  assert.equal(
    findPerilbookColumns(
      ['lat', ...ours.split(',').map((name) => `p_${name}`)],
      new Set([...known].map((name) => `p_${name}`)),
    ),
    1,
  );
});
