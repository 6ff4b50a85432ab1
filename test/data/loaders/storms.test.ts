import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lines } from '../../geo/lines.ts';
import { point, square } from '../../service/small-data.ts';
import { featuresOf, fileOf, geojson, loading, rejects } from './loading.ts';

const ROW =
  '619,2005,1,7,2005-01-07,17:17:00,3,MS,28,1,1,0,0,0.05,0,32.37,-90.22,32.40,-90.20,0.6,100,1,1,1,49,0,0,0';
const HEADER_24 =
  'tornado_number,year,month,day,date,time,tz,st,stf,stn,f,inj,fat,loss,closs,slat,slon,elat,elon,len,wid,ns,sn,sg';
const HEADER =
  'om,yr,mo,dy,date,time,tz,st,stf,stn,mag,inj,fat,loss,closs,slat,slon,elat,elon,len,wid,ns,sn,sg,f1,f2,f3,f4,fc';

test('tornadoes: no header, a header of too few names, the modern header', async (t) => {
  const { database, load } = loading(t);
  for (const text of [
    `${ROW}\n`,
    `${ROW.replaceAll(',', ' , ')}\n`,
    `${HEADER_24}\r\n${ROW}\r\n`,
    `${HEADER.replace('f1', ' F1 ')}\n${ROW},0\n`,
  ]) {
    const result = await load('tornado', fileOf(t, 'torn.csv', text));
    assert.deepEqual(
      [result.rows, result.records, result.vintage, result.notes.length],
      [1, 1, '2005, to 2005-01-07', 0],
    );
    const [track] = featuresOf(database, 'records_tornado');
    assert.deepEqual(track.geometry, lines('-90.22 32.37, -90.2 32.4'));
    const { mag, date, f1, st } = track.properties;
    assert.deepEqual([mag, date, f1, st], [1, '2005-01-07', 49, 'MS']);
  }
  const short = await load('tornado', fileOf(t, 'torn.csv', ROW.split(',').slice(0, 24).join()));
  assert.equal(short.records, 1);
});

test('tornadoes: each is one record, a point where no end is known', async (t) => {
  const { database, load } = loading(t);
  const whole = ROW.split(',');
  const row = (changes: Record<number, string>) =>
    whole.map((cell, place) => changes[place] ?? cell).join(',');
  const rows = [
    row({ 17: '0', 18: '0' }),
    row({ 17: '32.37', 18: '-90.22' }),
    row({ 23: '2' }),
    row({ 23: '-9', 15: '0', 16: '0' }),
    row({ 15: '0', 16: '0' }),
    'torn',
    '1,2',
    row({ 17: '32.37', 18: '-90', 8: '01' }),
    row({ 17: '33', 18: '-90.22', 10: ' ' }),
  ];
  const result = await load('tornado', [
    fileOf(t, 'a.csv', `${rows.join('\n')}\n`),
    fileOf(t, 'b.csv', `${row({ 1: '2007' })}\n`),
  ]);
  assert.deepEqual(rejects(result), [
    ['a part of a tornado that another row has as a whole', 2, 3],
    ['the coordinates are 0 and 0, which means none', 1, 5],
    ['the row has fewer than 24 fields', 2, 6],
  ]);
  assert.equal(result.vintage, '2005-2007, to 2007-01-07');
  const stored = featuresOf(database, 'records_tornado');
  const shapes = stored.map(({ geometry, properties }) => `${geometry.type} ${properties.mag}`);
  assert.deepEqual(shapes, [
    'Point 1',
    'Point 1',
    'LineString 1',
    'LineString undefined',
    'LineString 1',
  ]);
  assert.equal(stored[2].properties.stf, '01', 'a code keeps its zero');
});

test('tornadoes: parts without a row of the whole track are one tornado; parts with their own numbers are none', async (t) => {
  const { database, load } = loading(t);
  const row = (om: number, ns: number, sg: number, ...ends: number[]) =>
    `${om},2014,6,7,2014-06-07,14:00:00,3,MO,29,0,1,0,0,0,0,${ends.join()},3.41,200,${ns},1,${sg},143,0,0,0`;
  const rows = [
    // One of three states, whose parts have other numbers.
    row(520103, 3, 1, 36.5565, -89.4974, 36.3901, -89.2522),
    row(520103, 3, 2, 36.5565, -89.4974, 36.5218, -89.4644),
    row(520102, 3, 2, 36.5218, -89.4644, 36.4798, -89.4321),
    row(524636, 3, 2, 36.4798, -89.4321, 36.3901, -89.2522),
    // Parts only.
    row(291657, 1, -9, 31.617, -93.119, 31.752, -92.759),
    row(291657, 1, -9, 31.752, -92.759, 31.8, -92.7),
    row(291657, 1, -9, 0, 0, 0, 0),
    row(291657, 1, -9, 31.7, -92.9, 0, 0),
    // Of no place.
    row(700000, 1, 2, 0, 0, 0, 0),
    // Beside the whole track, beyond its end, and on another day.
    row(800000, 3, 2, 36.5, -100, 36.45, -100.1),
    row(800001, 3, 2, 36.5, -89.4, 38, -89.4),
    row(800002, 3, 2, 36.5, -89.4, 36.45, -89.4).replace('2014,6,7,', '2014,6,8,'),
    // Another whole one.
    row(900000, 1, 1, 30, -80, 30.1, -80.1),
  ];
  const result = await load('tornado', fileOf(t, 'torn.csv', `${HEADER_24}\n${rows.join('\n')}\n`));
  assert.deepEqual(rejects(result), [
    ['a part of a tornado that another row has as a whole', 4, 3],
  ]);
  assert.deepEqual([result.loaded, result.records], [9, 6]);
  const stored = featuresOf(database, 'records_tornado');
  const numbers = stored.map(({ properties }) => properties.om);
  assert.deepEqual(numbers, [520103, 900000, 291657, 800000, 800001, 800002]);
  const parts = stored[2];
  const expected = lines('-93.119 31.617, -92.759 31.752', '-92.759 31.752, -92.7 31.8');
  assert.deepEqual(parts.geometry, expected);
});

test('hail of 2026: the names of the header count, a number that is text, and no header', async (t) => {
  const { database, load } = loading(t);
  const row =
    '2507241549-01,2025,07,24,2025-07-24,15:49:00,3,OK,40,0,1.75,0,0,0,0,35.9,-99.43,35.9,-99.43,0,0,0,0,0,129,0,0,0,2025-07-24,15:49:00';
  const header = `${HEADER.replace(/,fc$/, '')},edat,etime`;
  await load('hail', fileOf(t, 'hail.csv', `${header}\n${row}\n`));
  const [report] = featuresOf(database, 'records_hail');
  const { om, fc, edat, etime, mag, mo } = report.properties;
  assert.deepEqual(
    [om, fc, edat, etime, mag, mo],
    ['2507241549-01', undefined, '2025-07-24', '15:49:00', 1.75, 7],
  );
  assert.deepEqual(report.geometry, { type: 'Point', coordinates: [-99.43, 35.9] });
  const other = row.replace('15:49:00', '15:50:00');
  assert.equal((await load('hail', fileOf(t, 'hail.csv', `${row}\n${other}\n`))).records, 2);
  const wind = fileOf(
    t,
    'wind.csv',
    `${row.replace(',1.75,', ',10,')}\n${row.replace(',1.75,', ',60,')}\n`,
  );
  await assert.rejects(load('hail', wind), { message: /not reports of hail/ });
});

test('files that overlap: a report of an earlier file is not loaded again; two that are alike in one file are two', async (t) => {
  const { database, load } = loading(t);
  const later = ROW.replace('619,', '1,').replace('32.40,', '32.4000,');
  const other = ROW.replace('17:17:00', '18:00:00');
  const result = await load('tornado', [
    fileOf(t, '1950-2005_torn.csv', `${ROW}\n${ROW}\n`),
    fileOf(t, '2005_torn.csv', `${HEADER}\n${later},0\n${other},0\n`),
  ]);
  assert.deepEqual([result.rows, result.records], [4, 3]);
  assert.deepEqual(rejects(result), [['a report that an earlier file has', 1, 2]]);
  assert.equal(featuresOf(database, 'records_tornado').length, 3);
});

/** A line of HURDAT2. */
const fixAt = (
  lat: string,
  lng: string,
  time = '1800',
  wind = ' 85',
  pressure = ' 973',
  date = '20140628',
) => `${date}, ${time},  , HU, ${lat}, ${lng}, ${wind}, ${pressure},${'    0,'.repeat(12)}`;

test('HURDAT2: a storm is one track with its highest wind and lowest pressure; unknown values are null', async (t) => {
  const { database, load } = loading(t);
  const text = [
    'AL012014,             ARTHUR,      3,',
    fixAt('32.0N', ' 78.2W', '1800', ' 20', '1017'),
    fixAt('31.2N', ' 77.8W', '1927', ' 83', ' -999').replace(/,$/, ''),
    fixAt('30.5N', ' 77.4W', '0000', '-99', ' 973'),
    'CP022014,            UNNAMED,      3,',
    fixAt('20.0N', '179.0W', '0000', ' 30', '-999'),
    fixAt('22.0N', '179.0E', '0600', ' 30', '-999'),
    fixAt('23.0N', '179.0W', '1200', ' 30', '-999'),
    'EP032014,               LONE,      1,',
    fixAt('20.0N', '110.0W', '0000', '-99', '-999'),
    fixAt('20.0', '110.0W', '0000', '-99', '-999'),
  ].join('\n');
  const result = await load('hurdat2', fileOf(t, 'hurdat2.txt', text));
  assert.deepEqual(
    [result.rows, result.loaded, result.records, result.vintage],
    [11, 10, 3, '2014'],
  );
  assert.deepEqual(rejects(result), [['the position is not written like 32.0N, 78.2W', 1, 11]]);
  const [arthur, crossing, lone] = featuresOf(database, 'records_hurricane');
  assert.deepEqual(arthur.geometry, lines('-78.2 32, -77.8 31.2, -77.4 30.5'));
  assert.deepEqual(arthur.properties, {
    sid: 'AL012014',
    name: 'ARTHUR',
    season: 2014,
    basin: 'North Atlantic',
    max_wind_kt: 83,
    min_pressure_mb: 973,
    category: 2,
    start: '2014-06-28T18:00:00Z',
    end: '2014-06-28T00:00:00Z',
  });
  assert.deepEqual(
    crossing.geometry,
    lines('-179 20, -180 21', '180 21, 179 22, 180 22.5', '-180 22.5, -179 23'),
  );
  assert.equal(crossing.properties.min_pressure_mb, null);
  assert.deepEqual(
    [lone.geometry.type, lone.properties.max_wind_kt, lone.properties.category],
    ['Point', null, null],
  );
});

test('HURDAT2: positions and dates as they may be written, and as they may not', async (t) => {
  const { database, load } = loading(t);
  const storm = (number: number, name: string, fixes: readonly string[]) =>
    [`AL${number}2014, ${name}, ${fixes.length},`, ...fixes].join('\n');
  const good = [
    ['32N', '78.25W', [-78.25, 32]],
    ['90.0N', '189.5W', [170.5, 90]],
    ['1.0S', '190.0E', [-170, -1]],
  ] as const;
  const noPosition = [
    '32.0E 78.2W',
    '32.0N 78.2',
    '32.0N 78.2N',
    '91.0N 78.2W',
    'x32.0N 78.2W',
    '32.0Nx 78.2W',
  ];
  const noDate = [
    ...['2014628 1800', '20140628 18:00', '120140628 1800'],
    ...['201406281 1800', '20140628 11800', '20140628 18001'],
  ];
  const bad = [
    ...noPosition.map((text) => text.split(' ')),
    ...noDate.map((text) => ['32.0N', '78.2W', ...text.split(' ')]),
  ];
  const text = [
    ...good.map(([lat, lng], index) => storm(11 + index, 'GOOD', [fixAt(lat, lng, '1800', '  0')])),
    storm(20, 'BAD', [
      fixAt('10.0N', '70.0W'),
      ...bad.map(([lat, lng, date, time]) => fixAt(lat!, lng!, time, '  0', '973', date)),
    ]),
  ].join('\n');
  const result = await load('hurdat2', fileOf(t, 'hurdat2.txt', text));
  assert.deepEqual(rejects(result), [
    ['the position is not written like 32.0N, 78.2W', noPosition.length, 9],
    ['the date is not written YYYYMMDD, HHMM', noDate.length, 9 + noPosition.length],
  ]);
  const stored = featuresOf(database, 'records_hurricane');
  const places = stored.map(({ geometry }) => geometry.coordinates);
  assert.deepEqual(places, [...good.map(([, , place]) => place), [-70, 10]]);
  assert.deepEqual([stored[0].properties.max_wind_kt, stored[0].properties.category], [0, 0]);
});

test('HURDAT2: lines after the header of another basin belong to no storm; a file without fixes replaces nothing', async (t) => {
  const { database, load } = loading(t);
  const atlantic = ['AL012014,             ARTHUR,      1,', fixAt('32.0N', ' 78.2W')];
  const indian = ['IO012014,            NANAUK,      1,', fixAt('16.0N', ' 65.0E')];
  const result = await load(
    'hurdat2',
    fileOf(t, 'hurdat2.txt', [...atlantic, ...indian].join('\n')),
  );
  assert.deepEqual(rejects(result), [
    ['a storm of an unknown basin', 1, 3],
    ['a fix without a storm', 1, 4],
  ]);
  const [arthur] = featuresOf(database, 'records_hurricane');
  assert.deepEqual(
    [result.records, arthur.geometry],
    [1, { type: 'Point', coordinates: [-78.2, 32] }],
  );
  const none = fileOf(t, 'none.txt', [atlantic[0], fixAt('32.0', ' 78.2W')].join('\n'));
  await assert.rejects(load('hurdat2', none), { code: 'SERVICE_DATA' });
  assert.equal(featuresOf(database, 'records_hurricane').length, 1);
});

test('HURDAT2: a file with fewer lines than its last storm announces is cut', async (t) => {
  const { load } = loading(t);
  const fixes = ['0600', '1200', '1800'].map((time) => fixAt('32.0N', ' 78.2W', time));
  const whole = ['AL012014,             ARTHUR,      3,', ...fixes].join('\n');
  assert.equal((await load('hurdat2', fileOf(t, 'h.txt', whole))).records, 1);
  for (const [cut, message] of [
    [
      whole.slice(0, whole.lastIndexOf('\n')),
      /it is cut: 1 lines of its last storm are missing \(ARTHUR\)/,
    ],
    [whole.slice(0, -60), /it is cut: its last line is too short \(ARTHUR\)/],
  ] as const) {
    await assert.rejects(load('hurdat2', fileOf(t, 'h.txt', cut)), {
      code: 'SERVICE_DATA',
      message,
    });
  }
});

test('IBTrACS: a track that crosses the 180th meridian is cut there', async (t) => {
  const { database, load } = loading(t);
  const text = `SID,SEASON,NUMBER,BASIN,NAME,ISO_TIME,LAT,LON,WMO_WIND,WMO_PRES,TRACK_TYPE,USA_WIND
2018200N10200,2018,1,EP,HECTOR,2018-08-10 06:00:00,20,204.3,90,960,main,
2018200N10200,2018,1,EP,HECTOR,2018-08-13 06:00:00,28,181,50,990,main,
2018200N10200,2018,1,EP,HECTOR,2018-08-14 06:00:00,29,179,50,990,main,
`;
  const result = await load('ibtracs', fileOf(t, 'ibtracs.csv', text));
  assert.deepEqual(rejects(result), []);
  const [hector] = featuresOf(database, 'records_hurricane');
  assert.equal(hector.geometry.type, 'MultiLineString');
  assert.deepEqual(hector.geometry.coordinates[0].slice(0, 2).join(' '), '-155.7,20 -179,28');
});

test('storms of several files: one that crosses basins, or is in two editions, is loaded once', async (t) => {
  const { load } = loading(t);
  const header = 'SID,SEASON,NUMBER,BASIN,NAME,ISO_TIME,LAT,LON,WMO_WIND,WMO_PRES,TRACK_TYPE\n';
  const fix = (sid: string, basin: string) =>
    `${sid},2018,1,${basin},X,2018-08-10 06:00:00,20,-120,90,960,main\n`;
  const files = [
    `${fix('2018200N10200', 'EP')}${fix('2018201N10200', 'EP')}`,
    `${fix('2018200N10200', 'CP')}`,
  ];
  const result = await load(
    'ibtracs',
    files.map((rows, index) => fileOf(t, `${index}.csv`, header + rows)),
  );
  assert.deepEqual(
    [result.records, rejects(result)],
    [2, [['a storm that an earlier file has', 1, 2]]],
  );
  const edition = (wind: string) =>
    `AL012014,             ARTHUR,      1,\n${fixAt('32.0N', ' 78.2W', '1800', wind)}\n`;
  const both = await load(
    'hurdat2',
    [fileOf(t, 'a.txt', edition(' 85')), fileOf(t, 'b.txt', edition(' 90'))],
    {
      replace: true,
    },
  );
  assert.equal(both.records, 1);
  assert.deepEqual(rejects(both), [
    ['a storm that an earlier file has', 1, 1],
    ['a fix without a storm', 1, 2],
  ]);
});

test('IBTrACS: the row of units, spurs, blanks, wind and pressure of either agency, the basin as HURDAT2 has it', async (t) => {
  const { database, load } = loading(t);
  const text = `SID,SEASON,NUMBER,BASIN,NAME,ISO_TIME,LAT,LON,WMO_WIND,WMO_PRES,TRACK_TYPE,USA_WIND,USA_PRES
 ,Year, , , ,,degrees_north,degrees_east,kts,mb, ,kts,mb
2019236N10314,2019,1,NA,DORIAN,2019-08-24 06:00:00,10.3,-46.4,30,1008,main, ,
2019236N10314,2019,1,NA,DORIAN,2019-08-24 12:00:00 ,10.5,-47.5, , ,main,35,1003
2019236N10314,2019,1,NA,DORIAN,2019-08-24 12:00:00,10.5,-47.5, , ,spur-merge, ,
2019236N10314,2019,1,NA,DORIAN,2019-08-24 12:00:00,10.5,-47.5, , ,PROVISIONAL_spur, ,
2019236N10314,2019,1,NA,DORIAN,2019-08-24 12:00:00,10.5,-47.5, , ,US-PROVISIONAL_spur, ,
2019236N10314,2019,1,NA,DORIAN,2019-08-24 18:00:00, ,-47.5, , ,main, ,
2019236N10314,2019,1,NA,DORIAN,2019-08-24 18:00:00,10.5,400, , ,main, ,
2019300N10000,2020,2, WP, OTHER,2019-10-24 12:00:00,15,150, , ,PROVISIONAL, ,
`;
  const result = await load('ibtracs', fileOf(t, 'ibtracs.csv', text));
  assert.equal(result.vintage, '2019-2020');
  assert.deepEqual(rejects(result), [
    ['the row of units', 1, 2],
    ['a spur beside the main track', 3, 5],
    ['the coordinates are blank', 1, 8],
    ['the coordinates are beyond 90 and 180 degrees', 1, 9],
  ]);
  const [dorian, other] = featuresOf(database, 'records_hurricane');
  assert.deepEqual(dorian.properties, {
    ...{ sid: '2019236N10314', name: 'DORIAN', season: 2019, basin: 'North Atlantic' },
    ...{ max_wind_kt: 35, min_pressure_mb: 1003, category: 0 },
    ...{ start: '2019-08-24T06:00:00Z', end: '2019-08-24T12:00:00Z' },
  });
  assert.equal(dorian.geometry.type, 'LineString');
  const { geometry, properties } = other;
  assert.deepEqual(
    [geometry.type, properties.basin, properties.name],
    ['Point', 'Western Pacific', 'OTHER'],
  );
});

test('earthquakes: CSV and GeoJSON are read, without blasts', async (t) => {
  const { database, load } = loading(t);
  const csv = `time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type
2024-01-01T00:00:00.000Z,38.8,-122.8,2.1,1.50,md,,40,,0.02,nc,nc1,2024-01-01T00:05:00.000Z,"7 km NW of The Geysers, CA",earthquake
2024-01-01T01:00:00.000Z,38.8,-122.8,0,1.1,md,,,,,nc,nc2,,"x",quarry blast
2024-01-01T02:00:00.000Z,38.9,-122.9,,1.1,md,,,,,nc,nc3,,"x",earthquake
`;
  const result = await load('earthquakes', fileOf(t, 'query.csv', csv));
  assert.deepEqual(rejects(result), [['not an earthquake: quarry blast', 1, 3]]);
  const [quake, shallow] = featuresOf(database, 'records_earthquake');
  assert.deepEqual(quake.geometry.coordinates, [-122.8, 38.8, 2.1]);
  assert.deepEqual(shallow.geometry.coordinates, [-122.9, 38.9]);
  const { mag, place, depth } = quake.properties;
  assert.deepEqual([mag, place, depth], [1.5, '7 km NW of The Geysers, CA', undefined]);
  const line = lines('-120 36, -121 36');
  const other = geojson([
    { id: 'a', ...point(-120, 36, { mag: 2, time: 1, type: null, depth: 5 }) },
    { geometry: line, properties: { depth: '5' } },
  ]);
  await load('earthquakes', fileOf(t, 'all.geojson', other), { replace: true });
  const geometries = featuresOf(database, 'records_earthquake').map(({ geometry }) => geometry);
  assert.deepEqual(geometries, [{ type: 'Point', coordinates: [-120, 36] }, line]);
});

test('earthquakes of several queries: an event of two of them is loaded once', async (t) => {
  const { database, load } = loading(t);
  const quakes = (name: string, ...all: Record<string, unknown>[]) =>
    fileOf(t, name, geojson(all.map((properties) => point(-120, 36, properties))));
  const first = quakes(
    '1.geojson',
    { net: 'nc', code: '1', mag: 2 },
    ...['2', '3'].map((code) => ({ net: 'nc', code })),
  );
  const named = [{ net: 'nc', code: '2', updated: 7 }, { id: 'nc1' }];
  const nameless = [
    { mag: 1 },
    { mag: 1 },
    { net: 'nc' },
    { net: 'nc' },
    { code: '5' },
    { code: '5' },
  ];
  const result = await load('earthquakes', [first, quakes('2.geojson', ...named, ...nameless)]);
  assert.equal(result.records, 9, 'three by their ids, six that have none');
  assert.deepEqual(rejects(result), [['an earthquake that an earlier row has', 2, 1]]);
  for (const [index, state] of ['CA', 'NV'].entries()) {
    const file = fileOf(
      t,
      `${state}.geojson`,
      geojson([point(-120, 39, { net: 'nc', code: '2', mag: 1, state })]),
    );
    await load('earthquakes', file, { states: [state], replace: index === 0 });
  }
  assert.equal(
    featuresOf(database, 'records_earthquake').length,
    1,
    'the lists of two states have it',
  );
});

test('fires: incidents are points, perimeters are outlines', async (t) => {
  const { load } = loading(t);
  const properties = { attr_IncidentName: 'X', attr_IncidentSize: null };
  const collection = geojson([
    point(-120, 40, properties),
    { properties, geometry: square(-120, 40, 1) },
  ]);
  const file = fileOf(t, 'fires.geojson', collection);
  assert.equal((await load('wildfire-incidents', file)).dataset, 'records:wildfire.current');
  assert.equal((await load('wildfire-history', file)).dataset, 'records:wildfire.historical');
  const perimeters = await load('wildfire-perimeters', file);
  assert.deepEqual(
    [perimeters.records, rejects(perimeters)[0]![0]],
    [1, 'not the outline of a fire'],
  );
});

test('fires: prescribed ones, ones that are out and cases that are given up are no wildfires', async (t) => {
  const { load } = loading(t);
  for (const prefix of ['', 'attr_', 'ATTR_']) {
    const fire = (IncidentName: string, more: Record<string, unknown> = {}) => {
      const fields = { IncidentName, IncidentTypeCategory: 'WF', FireOutDateTime: null, ...more };
      return point(
        -120,
        40,
        Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value])),
      );
    };
    const features = [
      fire('Burns', { FireDiscoveryDateTime: Date.UTC(2022, 3, 28, 16) }),
      fire('Chicken Coop Woodland', { IncidentTypeCategory: 'RX' }),
      fire('Maud', { FireOutDateTime: 1_644_098_399_000 }),
      fire('OAK - DO NOT USE'),
      fire('OAK - DONOTUSE'),
      fire('Gone', { DeleteThis: 'Yes' }),
      fire('Open', { FireOutDateTime: ' ', IncidentTypeCategory: 'PRX' }),
      fire('Other', { IncidentTypeCategory: 'RXP' }),
    ];
    const file = fileOf(t, 'fires.geojson', geojson(features));
    const current = await load('wildfire-incidents', file);
    assert.deepEqual(rejects(current), [
      ['a prescribed fire', 1, 1],
      ['the fire is out', 1, 1],
      ['a case marked "do not use"', 3, 1],
    ]);
    assert.equal(current.vintage, 'to 2022-04-28');
    const past = await load('wildfire-history', file);
    assert.deepEqual([past.records, rejects(past).length], [4, 2]);
  }
});

test('the file of the last year completes that of all years: a track of both, rounded or renumbered, counts once', async (t) => {
  const { database, load } = loading(t);
  const row = (om: number, day: string, time: string, track: string, rating = 0) => {
    const [yr, mo, dy] = day.split('-').map(Number);
    return `${om},${yr},${mo},${dy},${day},${time},3,OK,40,0,${rating},0,0,0,0,${track},1,50,1,1,1,1,0,0,0,0`;
  };
  const file = (name: string, rows: readonly string[]) =>
    fileOf(t, name, `${HEADER}\n${rows.join('\n')}\n`);
  const all = file('1950-2025_actual_tornadoes.csv', [
    row(1, '2025-03-14', '20:00:00', '35.1,-97.1,35.2,-97.0'),
    row(2, '2025-03-15', '20:00:00', '35.1234,-97.1234,35.2,-97.0'),
    row(3, '2025-09-09', '20:00:00', '36.5,-98.5,0,0'),
  ]);
  const last = file('2025_torn.csv', [
    row(901, '2025-03-14', '20:00:00', '35.1000,-97.1000,35.2000,-97.0000', 1),
    row(902, '2025-03-15', '20:00:00', '35.12,-97.12,35.2,-97.0'),
    row(903, '2025-09-09', '20:00:00', '36.50,-98.50,36.50,-98.50'),
    // Another tornado of the same minute, and one after the end of the other file.
    row(904, '2025-09-09', '20:00:00', '36.5,-98.6,36.5,-98.6'),
    row(905, '2025-12-18', '20:00:00', '36,-97,36.1,-97'),
  ]);
  assert.equal((await load('tornado', all)).vintage, '2025, to 2025-09-09');
  const both = await load('tornado', [all, last]);
  assert.deepEqual([both.records, both.vintage], [5, '2025']);
  assert.deepEqual(rejects(both), [['a report that an earlier file has', 3, 2]]);
  const numbers = featuresOf(database, 'records_tornado').map(({ properties }) => properties.om);
  assert.deepEqual(numbers, [1, 2, 3, 904, 905]);
});
