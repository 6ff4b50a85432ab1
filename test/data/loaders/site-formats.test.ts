import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { allParts } from '../../../src/data/tables/parts.ts';
import { PartCoverage } from '../../../src/data/topics/coverage.ts';
import { lines } from '../../geo/lines.ts';
import { workbook } from '../../rows/xlsx-fixture.ts';
import { point } from '../../service/small-data.ts';
import { featuresOf, fileOf, geojson, loading, reasons, rejects, zipOf } from './loading.ts';

test('TRI: one facility of all its chemicals, whatever the names of the columns', async (t) => {
  const { database, load } = loading(t);
  for (const header of [
    'YEAR,TRI_FACILITY_ID,FACILITY_NAME,LATITUDE,LONGITUDE,CHEMICAL, UNIT,5.1_FUGITIVE_AIR,',
    '1. YEAR,2. TRIFD,4. FACILITY NAME,12. LATITUDE,13. LONGITUDE,37. CHEMICAL,50. UNIT,51. AIR,',
  ]) {
    const [, id, , , , chemical] = header.split(',') as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const csv = `${header}
"2017","90001ABC","ACME","33.9","-118.2","LEAD","Pounds",".26"
"2017","90002XYZ","OTHER","34.1","-118.3","ZINC","Pounds","1"
"2017","90001ABC","ACME","33.9","-118.2","TOLUENE","Pounds","3"
"2017","90001ABC","ACME","33.9","-118.2","LEAD","Pounds","4"
`;
    const result = await load('tri', fileOf(t, 'tri.csv', csv));
    assert.deepEqual([result.rows, result.loaded, result.records], [4, 4, 2]);
    const [acme, other] = featuresOf(database, 'sites_toxicReleaseInventory');
    assert.equal(acme.properties[id], '90001ABC');
    assert.deepEqual(acme.properties[chemical], ['LEAD', 'TOLUENE']);
    assert.ok(
      !JSON.stringify(acme.properties).includes('.26'),
      'what differs between the rows is not of the facility',
    );
    assert.equal(other.properties[chemical][0], 'ZINC');
  }
});

test('Superfund: a second row of headings and a total are not sites', async (t) => {
  const { database, load } = loading(t);
  const csv = `Region,State,Site Name,,EPA ID,Zip,Latitude,Longitude,NPL Status
,,,,,(NAI),,,Date
1,CT,"A, LANDFILL",,CTD980732333,6063,41.893947,-72.989337,10/04/89
9,GU,ORDOT,,GUD980637649,,13.45,144.75,09/08/83
8,MT,MINE,,MTD1,,45,-112.5,09/08/83
8,MT,LOST SIGN,,MTD2,,45,112.5,09/08/83
Total: 3,,,,,,,,
`;
  const result = await load('superfund', fileOf(t, 'npl.csv', csv));
  assert.deepEqual([result.rows, result.loaded], [6, 3]);
  assert.deepEqual(rejects(result), [
    ['the coordinates are blank', 2, 2],
    ['its longitude has lost its minus sign', 1, 6],
  ]);
  const [landfill, guam] = featuresOf(database, 'sites_superfund');
  assert.equal(landfill.properties['NPL Status'], '10/04/89');
  assert.equal(landfill.properties.Zip, '06063');
  assert.deepEqual(guam.geometry.coordinates, [144.75, 13.45]);
});

test('the FRS file gives the facilities of one program', async (t) => {
  const { database, load } = loading(t);
  const csv = `REGISTRY_ID,PRIMARY_NAME,PGM_SYS_ACRNMS,LATITUDE83,LONGITUDE83
1,Mill,"EIS:12663611, ACRES:22",40.1,-80.1
2,Works,TRIS:15001ABC,40.2,-80.2
3,Yard,ACRES:7,,
`;
  for (const loader of ['frs', 'brownfield']) {
    const result = await load(loader, fileOf(t, 'NATIONAL_FACILITY_FILE.CSV', csv));
    assert.deepEqual([result.dataset, result.records], ['sites:brownfield', 1]);
    assert.deepEqual(rejects(result), [
      ["the facility is not in EPA's program ACRES", 1, 3],
      ['the coordinates are blank', 1, 4],
    ]);
  }
  const brownfields = async (columns: string, ...values: string[]) => {
    const rows = values.map((value) => `${value},40,-80\n`).join('');
    const text = `${columns},Latitude,Longitude\n${rows}`;
    return (await load('brownfield', fileOf(t, 'a.csv', text), { replace: true })).records;
  };
  // A list of brownfields alone names no programs.
  assert.equal(await brownfields('PGM_SYS_ID', '1'), 1);
  assert.equal(await brownfields('PGM_SYS_ACRNMS', 'TRIS:1', 'ACRES:2'), 1);
  assert.equal(await brownfields('PGM_SYS_ACRNM', 'TRIS', 'ACRES'), 1);
  await assert.rejects(
    brownfields('PGM_SYS_ID,REGISTRY_ID', '1,2'),
    /the facility is not in EPA's program ACRES/,
  );
  await load('tri', fileOf(t, 'NATIONAL_FACILITY_FILE.CSV', csv));
  assert.equal(
    featuresOf(database, 'sites_toxicReleaseInventory')[0].properties.PRIMARY_NAME,
    'Works',
  );
});

test('EIA-860M: below the title a plant of all its generators, of the month in the name of the file', async (t) => {
  const { database, load } = loading(t);
  const cells = (...values: string[]) =>
    `<row>${values.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;
  const plant = (id: string, generator: string, technology: string, lat = '38.8', lng = '-75.4') =>
    cells(
      '9',
      'Testville Power',
      id,
      `Plant ${id}`,
      'DE',
      generator,
      technology,
      '(OP) Operating',
      lat,
      lng,
    );
  const rows = [
    cells('Inventory of Operating Generators as of August 2026') + cells(' ', ' '),
    cells(
      ...'Entity ID,Entity Name,Plant ID,Plant Name,Plant State,Generator ID,Technology,Status,Latitude,Longitude'.split(
        ',',
      ),
    ),
    plant('101', '1', 'Natural Gas') +
      plant('101', '2', 'Solar Photovoltaic') +
      plant('102', '1', 'Hydro', '44.1', '-72.6'),
    plant('103', '1', 'Solar Photovoltaic', ' ', ' ') +
      cells('NOTES: Capacity of less than 1 MW is excluded.'),
  ];
  const file = fileOf(t, 'august_generator2026.xlsx', '');
  writeFileSync(
    file,
    workbook([
      { name: 'Operating', rows: rows.join('') },
      { name: 'Planned', rows: '' },
    ]),
  );
  const result = await load('power-plants', file);
  assert.deepEqual([result.records, result.vintage], [2, 'August 2026']);
  const [first, second] = featuresOf(database, 'sites_powerPlant');
  assert.deepEqual(first.properties.Technology, ['Natural Gas', 'Solar Photovoltaic']);
  assert.equal(first.properties['Plant Name'], 'Plant 101');
  assert.equal(second.properties['Plant Name'], 'Plant 102');
});

test('EIA-860M: the sheets of operating generators are read by name, each with its header; planned and retired ones do not count', async (t) => {
  const { database, load } = loading(t);
  const cells = (text: string) =>
    `<row>${text
      .split(',')
      .map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`)
      .join('')}</row>`;
  const head = cells('Plant ID,Plant Name,Plant State,Generator ID,Status,Latitude,Longitude');
  const sheets = {
    'Read me': cells('EIA-860M'),
    Planned: head + cells('3,Planned,DE,1,(P) Planned,38.8,-75.4'),
    Operating:
      cells('Inventory') +
      head +
      cells('1,One,DE,1,(OP) Operating,38.8,-75.4') +
      cells('1,One,DE,2,(TS) Complete,38.8,-75.4'),
    Retired: head + cells('4,Old,DE,1,(RE) Retired,38.8,-75.4'),
    Operating_PR:
      cells('Inventory in Puerto Rico') +
      cells('Latitude,Longitude,Plant ID,Plant Name,Plant State,Generator ID,Status') +
      cells('18.4,-66.1,9,San Juan,PR,1,(OP) Operating'),
  };
  const book = (names: readonly (keyof typeof sheets)[]) => {
    const file = fileOf(t, 'august_generator2026.xlsx', '');
    writeFileSync(file, workbook(names.map((name) => ({ name, rows: sheets[name] }))));
    return file;
  };
  const all = Object.keys(sheets) as (keyof typeof sheets)[];
  for (const names of [all, all.toReversed()]) {
    const result = await load('power-plants', book(names), { states: 'US' });
    assert.deepEqual(rejects(result), [['the generator does not operate: (TS) Complete', 1, 4]]);
    const plants = featuresOf(database, 'sites_powerPlant').map(
      ({ properties }) => `${properties['Plant Name']} ${properties['Generator ID']}`,
    );
    assert.deepEqual(plants.sort(), ['One 1', 'San Juan 1']);
  }
  // A sheet that was saved alone.
  await assert.rejects(load('power-plants', book(['Planned'])), /the generator does not operate/);
  // A territory without a sheet is not known.
  const places = { PR: [18.41, -66.1], GU: [13.45, 144.78], DE: [38.8, -75.4] } as const;
  const covered = () => {
    const parts = allParts(database);
    const coverage = new PartCoverage([...parts.values()].flat());
    return Object.keys(places).filter((state) => coverage.covers('sites:powerPlant', state));
  };
  assert.deepEqual(covered(), ['PR', 'DE']);
  await load('power-plants', book(['Operating']), { states: 'US', replace: true });
  assert.deepEqual(covered(), ['DE']);
  await load('power-plants', book(['Operating']), { states: 'US', territories: ['GU'] });
  assert.deepEqual(covered(), ['GU', 'DE']);
});

test('LMOP: one landfill of all its projects', async (t) => {
  const { database, load } = loading(t);
  const csv = `GHGRP ID,Landfill ID,Landfill Name,State,Latitude,Longitude,Project ID,Project Name
1,10,Hill,VA,38,-78,P1,Flare
1,10,Hill,VA,38,-78,P2,Turbine
1,10,Hill,VA,38,-78,,
,11,Vale,VA,38.1,-78.1,,
,,Nameless,VA,38.2,-78.1,,
,,Other,VA,38.3,-78.1,,
`;
  assert.equal((await load('lmop', fileOf(t, 'lmop.csv', csv))).records, 4);
  const [, , hill, vale] = featuresOf(database, 'sites_solidWasteLandfill');
  assert.deepEqual(hill.properties['Project ID'], ['P1', 'P2']);
  assert.deepEqual(hill.properties['Project Name'], ['Flare', 'Turbine']);
  assert.deepEqual(vale.properties, { 'Landfill ID': 11, 'Landfill Name': 'Vale', State: 'VA' });
});

test('LMOP as a workbook: the sheet of the table, shared and inline texts, gaps and days', async (t) => {
  const { database, load } = loading(t);
  const inline = (cell: string, text: string) =>
    `<c r="${cell}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const names =
    inline('C1', 'Latitude') + inline('D1', 'Longitude') + inline('E1', 'Project Start Date');
  const rows =
    `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>${names}</row><row r="3"><c r="A3"><v>10</v></c>` +
    '<c r="C3"><v>38.5</v></c><c r="D3"><v>-78.25</v></c><c r="E3" s="1"><v>45568</v></c></row>';
  const notes = { name: 'Notes', rows: `<row r="1">${inline('A1', 'About')}</row>` };
  const content = workbook([notes, { name: 'LMOP Database', rows }], {
    strings: ['<si><t>Landfill ID</t></si>', '<si><r><t>Landfill </t></r><r><t>Name</t></r></si>'],
    styles:
      '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>',
  });
  assert.equal((await load('lmop', fileOf(t, 'landfilllmopdata.xlsx', content))).records, 1);
  const [landfill] = featuresOf(database, 'sites_solidWasteLandfill');
  assert.deepEqual(landfill.geometry.coordinates, [-78.25, 38.5]);
  assert.deepEqual(landfill.properties, { 'Landfill ID': 10, 'Project Start Date': '2024-10-03' });
  await assert.rejects(
    load('lmop', fileOf(t, 'a.xlsx', Buffer.from(zipSync({ 'a.txt': new Uint8Array(1) })))),
    {
      code: 'SERVICE_DATA',
      message: /it is a zip archive/,
    },
  );
});

test('of a list of power plants only the nuclear ones are reactors', async (t) => {
  const { load } = loading(t);
  const csv = 'Plant_Name,PrimSource,Latitude,Longitude\nA,nuclear,34,-87\nB,coal,35,-87\n';
  const result = await load('nuclear-reactors', fileOf(t, 'plants.csv', csv));
  assert.deepEqual([result.records, rejects(result)], [1, [['the plant is not nuclear', 1, 3]]]);
  for (const [column, nuclear, other] of [
    ['PRIM_FUEL', 'NUC', 'SUN'],
    ['primsource', 'Nuclear', 'Coal'],
  ]) {
    const hifld = `NAME,${column},LATITUDE,LONGITUDE\nA,${nuclear},34,-87\nB,${other},35,-87\nC,${other},35,-86\n`;
    const found = await load('nuclear-reactors', fileOf(t, 'hifld.csv', hifld));
    assert.deepEqual([found.records, rejects(found)], [1, [['the plant is not nuclear', 2, 3]]]);
  }
  const odd =
    'Docket Number,old_prim_fuel,prim_fuel_note,Latitude,Longitude\n1,coal,coal,34.7,-87.1\n';
  assert.equal((await load('nuclear-reactors', fileOf(t, 'o.csv', odd))).records, 1);
  const none = 'NAME,PRIM_FUEL,LATITUDE,LONGITUDE\nA,NUC,34,-87\nB,Non-nuclear,35,-87\n';
  assert.equal((await load('nuclear-reactors', fileOf(t, 'n.csv', none))).records, 1);
  const reactors = 'Docket Number,Name,Latitude,Longitude\n05000259,Browns Ferry 1,34.7,-87.1\n';
  assert.equal((await load('nuclear-reactors', fileOf(t, 'r.csv', reactors))).records, 1);
});

test('lines and towers: HIFLD columns are read in any case, and projected lines are noted', async (t) => {
  const { database, load } = loading(t);
  const properties = { ID: '1', VOLTAGE: -999999 };
  const features = [
    { properties, geometry: lines('-80 30, -80.1 30.1') },
    { properties, geometry: lines('-8905559 3503549, -8905559 3503550') },
    { properties: {}, geometry: null },
  ];
  const result = await load('transmission-lines', fileOf(t, 'lines.geojson', geojson(features)), {
    replace: true,
  });
  assert.deepEqual(reasons(result), [
    'its coordinates are not degrees of longitude and latitude',
    'it has no geometry',
  ]);
  assert.equal(featuresOf(database, 'sites_highVoltageLine')[0].properties.VOLTAGE, -999999);
  const towers =
    'LICENSEE,LAT_DMS,LON_DMS,LATDEC,LONDEC\nX,"41-52-41.2 N","87-1-1 W",41.878,-87.017\n';
  assert.equal((await load('cell-towers', fileOf(t, 't.csv', towers))).records, 1);
});

test("EPA's layer of one program a row, in capitals and not", async (t) => {
  const { load } = loading(t);
  for (const [registry, program] of [
    ['REGISTRY_ID', 'PGM_SYS_ACRNM'],
    ['registry_id', 'pgm_sys_acrnm'],
  ] as const) {
    const features = ['ACRES', 'ICIS'].map((of) =>
      point(-80, 40, { [registry]: '110000', [program]: of }),
    );
    const result = await load('brownfield', fileOf(t, 'acres.geojson', geojson(features)));
    assert.deepEqual(
      [result.records, rejects(result)],
      [1, [["the facility is not in EPA's program ACRES", 1, 1]]],
    );
  }
});

test("the vintage is that of the rows' own columns, or the day of the file", async (t) => {
  const { load } = loading(t);
  const vintage = async (loader: string, csv: string) =>
    (await load(loader, fileOf(t, 'a.csv', csv), { replace: true })).vintage;
  const table = (columns: string, ...rows: string[]) =>
    `${columns},Latitude,Longitude\n${rows.map((row) => `${row},38,-78\n`).join('')}`;
  assert.equal(await vintage('tri', table('1. YEAR,2. TRIFD', '2017,A', '2017,B')), '2017');
  assert.equal(
    await vintage('tri', table('YEAR,TRI_FACILITY_ID', '2016,A', '2017,B')),
    '2016-2017',
  );
  assert.equal(
    await vintage('power-plants', table('Plant_Code,Period', '1,202108', '2,202502')),
    '2025-02',
  );
  const days = ['1,ELEC,2024-10-03 08:00:00 UTC', '2,ELEC,2023-01-01 08:00:00 UTC'];
  assert.equal(
    await vintage('alternative-fuels', table('ID,Fuel Type Code,Updated At', ...days)),
    'to 2024-10-03',
  );
  assert.match(
    await vintage('alternative-fuels', table('ID,Fuel Type Code', '1,ELEC')),
    /^file of 20/,
  );
  for (const column of ['VAL_DATE', 'SourceDate']) {
    const power = geojson([
      { properties: { VOLTAGE: 1, [column]: '2024/01/05' }, geometry: lines('-80 30, -80.1 30.1') },
    ]);
    const file = fileOf(t, 'lines.geojson', power);
    assert.equal(
      (await load('transmission-lines', file, { replace: true })).vintage,
      'to 2024-01-05',
    );
  }
});

test("the FCC's antenna structures: constructed ones, by degrees, minutes and seconds, with their owners", async (t) => {
  const { database, load } = loading(t);
  const registration = (number: number, status: string) => {
    const cells = [
      'RA',
      'REG',
      'A1',
      number,
      90 + number,
      'NE',
      '',
      'E',
      status,
      '',
      '',
      '',
      '05/06/1997',
      '',
      '10/28/2026',
    ];
    return [
      ...cells,
      ...Array(8).fill(''),
      '1 Hill',
      'Bedford',
      'VA',
      '',
      '',
      '60.5',
      '',
      '71.9',
      '',
      'TOWER',
    ].join('|');
  };
  const place = (number: number, lat: string, lng: string, type = 'T') =>
    `CO|REG|A1|${number}|${90 + number}|${type}|${lat}|134640.0|${lng}|284400.0||`;
  const owner = (number: number, type: string, name: string) =>
    `EN|REG|A1|${number}|${90 + number}|${type}|1|L|x|${name}|`;
  const files = {
    'RA.dat': [
      registration(1, 'C'),
      registration(2, 'G'),
      registration(3, 'C'),
      registration(4, 'C'),
      registration(5, 'C'),
      registration(6, 'C'),
    ],
    'CO.dat': [
      place(1, '37|24|0.0|N', '79|30|36.0|W'),
      place(1, '37|25|0.0|N', '79|30|36.0|W', 'A'),
      place(2, '37|24|0.0|N', '79|0|0.0|W'),
      place(3, '37|61|0.0|N', '79|0|0.0|W'),
      place(5, '14|15|18.0|S', '170|0|0.0|W'),
      place(6, '37|24||N', '79|0|0.0|W'),
    ],
    'EN.dat': [owner(1, 'C', 'An Agent'), owner(1, 'O', 'Tower "A" Inc'), owner(9, 'O', 'Nobody')],
    'HS.dat': ['HS|x'],
  };
  const texts = Object.entries(files).map(([name, lines]) => [
    name,
    strToU8(`${lines.join('\r\n')}\r\n`),
  ]);
  const result = await load('cell-towers', zipOf(t, Object.fromEntries(texts)));
  assert.deepEqual(rejects(result), [
    ['not constructed: granted', 1, 2],
    ['the coordinates are not degrees, minutes and seconds', 2, 3],
    ['the registration has no coordinates', 1, 4],
  ]);
  assert.equal(result.vintage, 'to 2026-10-28');
  const [first, second] = featuresOf(database, 'sites_cellTower');
  assert.deepEqual(first.geometry.coordinates, [-79.51, 37.4]);
  assert.deepEqual(first.properties, {
    ...{
      TowReg: 1,
      LocAdd: '1 Hill',
      LocCity: 'Bedford',
      LocState: 'VA',
      AllStruc: 71.9,
      StrucType: 'TOWER',
    },
    ...{ Constructed: '1997-05-06', Changed: '2026-10-28', Owner: 'Tower "A" Inc' },
  });
  assert.deepEqual(second.geometry.coordinates, [-170, -14.255]);
  await assert.rejects(load('cell-towers', zipOf(t, { 'RA.dat': strToU8('RA|REG\n') })), {
    code: 'SERVICE_DATA',
  });
});
