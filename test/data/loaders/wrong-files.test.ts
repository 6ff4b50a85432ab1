import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { tableRecords } from '../../../src/data/loaders/agency-table.ts';
import { describeData } from '../../../src/data/tables/describe-data.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import { lines } from '../../geo/lines.ts';
import { point as featureAt, info, StillClock, square } from '../../service/small-data.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { times } from '../../tier.ts';
import { all, featuresOf, fileOf, geojson, loading } from './loading.ts';

const SPC =
  'om,yr,mo,dy,date,time,tz,st,stf,stn,mag,inj,fat,loss,closs,slat,slon,elat,elon,len,wid,ns,sn,sg,f1,f2,f3,f4\n';
const spc = (mag: string, sg: string) =>
  `1,2020,1,7,2020-01-07,17:17:00,3,MS,28,1,${mag},0,0,0,0,32.37,-90.22,32.40,-90.20,0.6,100,1,1,${sg},49,0,0,0\n`;

const TABLES = {
  superfund: 'Site Name,EPA ID,Latitude,Longitude\nA,CTD1,41.9,-73\n',
  lmop: 'Landfill ID,Landfill Name,Latitude,Longitude\n1,Hill,38,-78\n',
  'power-plants': 'Plant_Code,Total_MW,Latitude,Longitude\n1,10,38,-78\n',
  wells: 'API,Latitude,Longitude\n1,36,-119\n',
  hail: SPC + spc('1.75', '0'),
  tornado: SPC + spc('2', '1'),
  wind: SPC + spc('56', '0'),
  portfolio: 'LocNumber,Latitude,Longitude\n1,38,-78\n',
};

const line = lines('-80 30, -80.1 30.1');
const point = { type: 'Point', coordinates: [-80, 30] };
const collection = (properties: object, geometry: object, more?: object) =>
  geojson([{ properties, geometry }], more);

test('a file of another agency is refused with the loader that it is for; --force loads it', async (t) => {
  const { load } = loading(t);
  const table = (name: keyof typeof TABLES) => fileOf(t, `${name}.csv`, TABLES[name]);
  const shapes = (name: string, properties: object, geometry: object) =>
    fileOf(t, `${name}.geojson`, collection(properties, geometry));
  const wrong: readonly (readonly [loader: string, file: string, problem: RegExp, hint: RegExp])[] =
    [
      [
        'nuclear-reactors',
        table('superfund'),
        /no column of a reactor/,
        /with: perilbook data load superfund FILE\. /,
      ],
      [
        'superfund',
        table('power-plants'),
        /no column .*EPA_ID/,
        /load power-plants FILE, or: .* nuclear-reactors FILE\. /,
      ],
      ['parks', table('superfund'), /it is a file for superfund/, /--force/],
      ['wells', table('portfolio'), /no column of a well/, /^To load it anyway, add --force/],
      ['hail', table('tornado'), /its rows are not reports of hail/, /load tornado FILE\./],
      ['tornado', table('hail'), /its rows are not reports of tornadoes/, /load hail FILE\./],
      ['hail', table('wind'), /not reports of hail/, /--force/],
      [
        'hail',
        fileOf(t, 'few.csv', `${SPC.split(',ns,')[0]}\n1,2026\n`),
        /it has no column ns, sn, sg$/,
        /--force/,
      ],
      ['earthquakes', table('hail'), /no known latitude column/, /load hail FILE\./],
      [
        'transmission-lines',
        shapes('points', { VOLTAGE: 1 }, point),
        /its features are points, not lines/,
        /--force/,
      ],
      [
        'areas',
        shapes('parks', { Unit_Nm: 'X' }, square(-80, 30, 1)),
        /no column GEOID/,
        /--force/,
      ],
    ];
  for (const [loader, file, message, hint] of wrong) {
    await assert.rejects(
      load(loader, file),
      { code: 'SERVICE_DATA', message, hint },
      `${loader} ${message}`,
    );
  }
  assert.equal((await load('parks', table('superfund'), { force: true })).records, 1);
  assert.equal((await load('wells', table('portfolio'), { force: true })).records, 1);
});

/** The columns of agencies' files, and the loaders that they are for; `/` stands between names of which a file has one. */
const POINTS = {
  superfund: 'EPA_ID/SITE_EPA_ID/NPL_STATUS/NPL_STATUS_CODE/SEMS_ID',
  'brownfield frs superfund tri': 'PGM_SYS_ACRNMS/PGM_SYS_ACRNM',
  brownfield: 'ACRES_PROPERTY_ID/PGM_SYS_ID/Cooperative Agreement Number',
  tri: 'TRI_FACILITY_ID/2. TRIFD',
  lmop: 'Landfill ID/Landfill Name',
  'ust-facilities': 'Open_USTs/Closed_USTs/TOS_USTs',
  'ust-releases': 'LUST_ID/Substance,Reported_Date',
  'power-plants nuclear-reactors': 'Plant_Code/PrimSource/PRIM_FUEL',
  'power-plants': 'Total_MW/OPER_CAP',
  'nuclear-reactors': 'Docket Number/Reactor/Nuclear Unit/NRC Region',
  'cell-towers': 'Licensee/Callsign/LocNum/StrucType/TowReg/UniqSysID',
  'alternative-fuels': 'Fuel Type Code,Station Name/Fuel Type Code,ID',
  wells: 'API/UWI/Spud Date/Lease/Well Name',
  earthquakes: 'mag',
  'wildfire-incidents wildfire-history': 'IncidentName/attr_IncidentName/IrwinID/attr_IrwinID',
  'air-quality': 'State,County,Days with AQI',
  nri: 'STCOFIPS,NRI_ID/TRACTFIPS,NRI_VER/STCOFIPS,RISK_RATNG/STCOFIPS,HAIL_RISKR/STCOFIPS,DRGT_RISKR',
  radon: 'Zone,County/RadonZone,FIPS/Radon Zone,GEOID/Zone,CountyFIPS/Zone,CountyName',
  '': 'Substance/Reported_Date/Fuel Type Code/State,County/Zone/SID/My Well/The NRC/Old Prim Fuel/Prim Fuel Type/My Plant Code/Plant Code 2',
};
const OUTLINES = {
  'areas counties': 'GEOID/GEOID20/GEOID10/AFFGEOID/GEO_ID/FIPS',
  superfund: 'EPA_ID',
  brownfield: 'PGM_SYS_ID',
  'power-plants nuclear-reactors': 'Plant_Code',
  'wildfire-perimeters':
    'IncidentName/attr_IrwinID/poly_IncidentName/INCIDENT/UNQE_FIRE_ID/FIRE_YEAR/poly_GISAcres',
  '': 'TRIFD/Landfill ID/LUST_ID/Open_USTs/Licensee/API/Fuel_Type_Code,ID/mag/VOLTAGE/TYPEPIPE',
};
const LINES = {
  'transmission-lines': 'VOLTAGE/VOLT_CLASS',
  'gas-pipelines': 'TYPEPIPE',
  '': 'Operator/EPA_ID/Plant_Code',
};

test("each agency's file is known by its columns and shapes, whatever of its columns a copy has", async (t) => {
  const { load } = loading(t);
  const hintFor = (loaders: string) => {
    const commands = loaders.split(' ').map((name) => `perilbook data load ${name} FILE`);
    const fits = loaders === '' ? '' : `Load it with: ${commands.join(', or: ')}. `;
    return `${fits}To load it anyway, add --force. The stored data is unchanged.`;
  };
  const recognized = (file: string, loaders: string, what: string) =>
    assert.rejects(load('parks', file), { code: 'SERVICE_DATA', hint: hintFor(loaders) }, what);
  for (const [loaders, columns] of Object.entries(POINTS)) {
    for (const names of columns.split('/')) {
      const file = fileOf(
        t,
        // Of other columns the name of the file tells that they are parks.
        loaders === '' ? 'parks.csv' : 'a.csv',
        `${names},Latitude,Longitude\n${names.replaceAll(/[^,]+/g, 'x')},38,-78\n`,
      );
      if (loaders !== '') await recognized(file, loaders, names);
      else assert.equal((await load('parks', file)).records, 1, names);
    }
  }
  for (const [shapes, geometry] of [
    [OUTLINES, square(-80, 30, 1)],
    [LINES, line],
  ] as const) {
    for (const [loaders, columns] of Object.entries(shapes)) {
      for (const names of columns.split('/')) {
        const properties = Object.fromEntries(names.split(',').map((name) => [name, 'x']));
        const file = fileOf(
          t,
          loaders === '' && shapes === OUTLINES ? 'parks.geojson' : 'a.geojson',
          collection(properties, geometry),
        );
        if (loaders !== '' || shapes === LINES) await recognized(file, loaders, names);
        else assert.equal((await load('parks', file)).records, 1, names);
      }
    }
  }
  for (const [loader, text] of [
    ['ibtracs', 'SID,ISO_TIME,LAT,LON\nx,x,38,-78\n'],
    ['hurdat2', 'AL012014, ARTHUR, 3,\n'],
    ['', 'XAL012014, ARTHUR, 3,\n'],
    ['', 'AL0120145, ARTHUR, 3,\n'],
    ['airnow', '11/20/25|17:00|010030010|Fairhope|-6|OZONE|PPB|41|ADEM\n'],
    ['', '111/20/25|17:00|010030010|Fairhope|-6|OZONE|PPB|41|ADEM\n'],
    ['', '11/20/2025|17:00|010030010|Fairhope|-6|OZONE|PPB|41|ADEM\n'],
  ] as const) {
    await recognized(fileOf(t, 'a.txt', text), loader, text);
  }
});

test('what is no file of data is said so: a folder, a page, a spreadsheet, an error of a service', async (t) => {
  const { load } = loading(t);
  const folder = temporaryFolder(t);
  const refused = (loader: string, file: string, message: RegExp) =>
    assert.rejects(load(loader, file), { code: 'SERVICE_DATA', message, context: { file } });
  await refused('hail', folder, /it is a folder/);
  await refused('areas', folder, /it is a folder/);
  await refused('hail', join(folder, 'none.csv'), /^File ".*none\.csv" not found$/);
  await refused('hail', '/dev/null', /^Cannot read "\/dev\/null": it is a pipe or a device/);
  await assert.rejects(all(tableRecords(folder)), {
    message: /Cannot read/,
    context: { file: folder },
  });
  await refused('hail', fileOf(t, 'hail.csv', '<!DOCTYPE html><html>'), /it is a web page/);
  await refused('parks', fileOf(t, 'parks.geojson', '\n<html>'), /it is a web page/);
  const workbook = Buffer.from(zipSync({ 'xl/workbook.xml': new Uint8Array(9) }));
  await refused('lmop', fileOf(t, 'lmop.csv', workbook), /a spreadsheet or a zip/);
  const failure = '{"error":{"code":499,"message":"Token Required"}}';
  await refused('parks', fileOf(t, 'parks.geojson', failure), /Token Required/);
});

test('a file whose end is cut off is refused, and what was there stays', async (t) => {
  const { database, load } = loading(t);
  const rows = Array.from({ length: 300 }, (_, i) => `W${i},"Oil, gas",36.5,-119.${i},${i}\n`).join(
    '',
  );
  const csv = `Well,Kind,Latitude,Longitude,Depth\n${rows}`;
  await load('wells', fileOf(t, 'wells.csv', csv));
  const refused = (file: string, message: RegExp) =>
    assert.rejects(load('wells', file), { code: 'SERVICE_DATA', message });
  const cutAt = (text: string) => csv.slice(0, csv.indexOf(text) + text.length);
  await refused(
    fileOf(t, 'a.csv', cutAt('W250,"Oil, gas",36.5')),
    /it is cut: its last line, 252, has only 3 fields/,
  );
  await refused(fileOf(t, 'b.csv', cutAt('W250,"Oil, g')), /line 252: a quote is not closed/);
  await refused(
    fileOf(t, 'd.csv.gz', gzipSync(csv).subarray(0, 900)),
    /is compressed with gzip and is cut off/,
  );
  const zip = Buffer.from(zipSync({ 'wells.csv': Buffer.from(csv) }));
  await refused(
    fileOf(t, 'e.zip', zip.subarray(0, zip.length - 30)),
    /the directory at its end is missing/,
  );
  zip[60]! ^= 0xff;
  await refused(
    fileOf(t, 'f.zip', zip),
    /its part wells\.csv (cannot be unpacked|does not match its checksum)/,
  );
  const gzip = gzipSync(csv);
  gzip[gzip.length - 7]! ^= 0xff;
  await refused(fileOf(t, 'g.csv.gz', gzip), /is compressed with gzip and is damaged/);
  const json = collection({ API: '1' }, point);
  await refused(fileOf(t, 'h.geojson', json.slice(0, -1)), /it ends before its features do/);
  await refused(fileOf(t, 'i.geojson', json.slice(0, -9)), /it ends before its features do/);
  assert.equal(featuresOf(database, 'sites_oilGasWell').length, 300);
  // A file without a last line end is whole, as far as one can tell.
  const unended = await load('wells', fileOf(t, 'j.csv', csv.slice(0, -1)));
  assert.equal(unended.records, 300);
});

test('a zip that is encrypted, leads out of its folder, or holds more than it says is refused', async (t) => {
  const { load } = loading(t);
  const zipped = (name: string) =>
    Buffer.from(zipSync({ [name]: Buffer.from(TABLES.wells.repeat(50)) }));
  const inDirectory = (zip: Buffer) => zip.indexOf('PK\x01\x02');
  const refused = (zip: Buffer, message: RegExp) =>
    assert.rejects(load('wells', fileOf(t, 'wells.zip', zip)), { code: 'SERVICE_DATA', message });
  const encrypted = zipped('wells.csv');
  encrypted[inDirectory(encrypted) + 8]! |= 1;
  await refused(encrypted, /its part wells\.csv is encrypted/);
  await refused(zipped('../wells.csv'), /the directory at its end is missing or damaged/);
  const larger = zipped('wells.csv');
  larger.writeUInt32LE(100, inDirectory(larger) + 24);
  await refused(larger, /its part wells\.csv is longer than its header states/);
});

test('GeoJSON: a coordinate system behind the features counts; one page of many is refused', async (t) => {
  const { load } = loading(t);
  const system = { crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } } };
  const metres = collection({ API: '1' }, { type: 'Point', coordinates: [10, 20] }, system);
  await assert.rejects(
    load('wells', fileOf(t, 'a.geojson', metres)),
    /its coordinates are in .*3857/,
  );
  for (const more of [
    { exceededTransferLimit: true },
    { properties: { exceededTransferLimit: true } },
  ]) {
    const page = fileOf(t, 'page1.geojson', collection({ API: '1' }, point, more));
    const last = fileOf(t, 'page2.geojson', collection({ API: '2' }, point));
    await assert.rejects(load('wells', page), {
      code: 'SERVICE_DATA',
      message: /exceededTransferLimit/,
    });
    assert.equal((await load('wells', [page, last])).records, 2);
  }
});

test('a table is read out of a gzip or a zip, and of several in a zip the loader takes its own', async (t) => {
  const { database, load } = loading(t);
  const rows = times({ short: 200, long: 20_000 });
  const big = `${TABLES.wells}${Array.from({ length: rows }, (_, i) => `${i},36.5,-119.5\n`).join('')}`;
  assert.equal((await load('wells', fileOf(t, 'wells.csv.gz', gzipSync(big)))).records, rows + 1);
  const zipped = (files: Record<string, string>, level: 0 | 6 = 6) => {
    const parts = Object.entries(files).map(([name, text]) => [name, Buffer.from(text)] as const);
    return Buffer.from(zipSync(Object.fromEntries(parts), { level }));
  };
  const nested = zipped({ 'x/': '', '__MACOSX/._wells.csv': 'x', 'x/wells.csv': big });
  assert.equal((await load('wells', fileOf(t, 'a.zip', nested))).records, rows + 1);
  const sha256 = createHash('sha256').update(nested).digest('hex');
  assert.equal(describeData(database).datasets[0]!.parts[0]!.files[0]!.sha256, sha256);
  const both = zipped(
    { 'Dictionary.csv': 'Field,Alias\nX,Y\n', 'lmop.csv': TABLES.lmop, 'readme.pdf': 'x' },
    0,
  );
  const result = await load('lmop', fileOf(t, 'EPA.zip', both));
  assert.equal(result.records, 1);
  const named = `${fileOf(t, 'EPA.zip', both)}/lmop.csv`;
  assert.equal((await load('lmop', named)).records, 1);
  await assert.rejects(load('lmop', `${fileOf(t, 'EPA.zip', both)}/other.csv`), {
    message: /has no "other\.csv"/,
    hint: 'It has: Dictionary.csv, lmop.csv, readme.pdf.',
  });
  await assert.rejects(load('tri', fileOf(t, 'EPA.zip', both)), {
    message: /no file in the zip/,
    hint: /lmop\.csv/,
  });
});

const lots = (count: number, lat: number, lng: number, state = '') =>
  `Well,State,Latitude,Longitude\n${Array.from({ length: count }, (_, i) => `${lat}/${i},${state},${lat},${lng}\n`).join('')}`;
const CALIFORNIA = [36, -119] as const;
const NEVADA = [39, -117] as const;

test('--states adds to the states that are there, and replaces the rows of its own only', async (t) => {
  const { database, load } = loading(t);
  const wells = () => {
    const counts: Record<string, number> = {};
    for (const { properties } of featuresOf(database, 'sites_oilGasWell')) {
      const [lat] = properties.Well.split('/');
      counts[lat] = (counts[lat] ?? 0) + 1;
    }
    return counts;
  };
  const [ca, nv] = [
    fileOf(t, 'ca.csv', lots(90, ...CALIFORNIA)),
    fileOf(t, 'nv.csv', lots(50, ...NEVADA)),
  ];
  await load('wells', ca, { states: ['CA'] });
  const both = await load('wells', nv, { states: ['NV'] });
  assert.deepEqual([both.records, both.states], [50, ['NV']]);
  assert.match(both.notes.join(), /Unchanged, in other states: 90 records/);
  assert.deepEqual(wells(), { 36: 90, 39: 50 });
  const described = () => describeData(database).datasets[0]!;
  assert.match(described().source, /ca\.csv.*nv\.csv/);
  // Again: Nevada's are replaced, a cut file of one state is no less cut for the other's rows.
  await load('wells', fileOf(t, 'nv2.csv', lots(60, ...NEVADA)), { states: ['NV'] });
  assert.deepEqual(
    [wells(), described().states, described().rows],
    [{ 36: 90, 39: 60 }, ['CA', 'NV'], 150],
  );
  const cut = fileOf(t, 'nv3.csv', lots(30, ...NEVADA));
  await assert.rejects(
    load('wells', cut, { states: ['NV'] }),
    /NV has 60 records here and 30 in the load/,
  );
  // Of a file of more states only the ones that are asked for.
  const mixed = fileOf(
    t,
    'mixed.csv',
    lots(70, ...NEVADA) + lots(5, 40.5, -111.9).split('\n').slice(1).join('\n'),
  );
  const taken = await load('wells', mixed, { states: ['NV'] });
  assert.match(taken.notes.join(), /Left out, outside of NV: 5 records/);
  assert.deepEqual(wells(), { 36: 90, 39: 70 });
  await assert.rejects(
    load('wells', nv, { states: ['UT'] }),
    /no row is usable \(all are outside of --states\)/,
  );
  // Into data of the whole US, which they stay.
  await load('wells', mixed, { states: 'US', replace: true });
  await load('wells', fileOf(t, 'ut.csv', lots(6, 40.5, -111.9)), { states: ['UT'] });
  assert.deepEqual([wells(), described().states], [{ 39: 70, 40.5: 6 }, undefined]);
});

test('boundaries and ratings of a second state add to those of the first', async (t) => {
  const { database, load } = loading(t);
  const tracts = (...codes: string[]) => {
    const features = codes.map((GEOID) => ({
      properties: { GEOID },
      geometry: square(-78, 38, 0.5),
    }));
    return fileOf(t, 'tracts.geojson', geojson(features));
  };
  const codes = () =>
    database.prepare('SELECT geoid FROM areas_tract ORDER BY geoid').pluck().all();
  const outline = () =>
    database.prepare("SELECT outline FROM areas_tract WHERE geoid = '11001000100'").pluck().get();
  await load('areas', tracts('11001000100', '11001000200'));
  const before = outline();
  const merged = await load('areas', tracts('44001000100'));
  assert.deepEqual([merged.records, codes()], [1, ['11001000100', '11001000200', '44001000100']]);
  assert.deepEqual(outline(), before);
  await load('areas', tracts('44001000300'), { states: ['RI'] });
  assert.deepEqual(codes(), ['11001000100', '11001000200', '44001000300']);
  const radon = (rows: string) => fileOf(t, 'radon.csv', `CountyFIPS,RadonZone\n${rows}`);
  await load('radon', radon('06001,1\n'), { states: ['CA'] });
  await load('radon', radon('32001,2\n32003,3\n'), { states: ['NV'] });
  assert.deepEqual(database.prepare('SELECT geoid, zone FROM radon').raw().all(), [
    ['06001', 1],
    ['32001', 2],
    ['32003', 3],
  ]);
});

test('a file may replace more sample data than it has rows', async (t) => {
  const { load, database } = loading(t);
  const records = Array.from({ length: 90 }, () => featureAt(-119, 36));
  const dataset = {
    kind: 'sites',
    topic: 'oilGasWell',
    info: info('sites:oilGasWell', true),
    records,
  } as const;
  importDataset(database, dataset, new StillClock());
  assert.equal((await load('wells', fileOf(t, 'real.csv', lots(3, ...NEVADA)))).records, 3);
});
