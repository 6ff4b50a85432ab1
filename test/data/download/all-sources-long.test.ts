import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { strToU8, zipSync } from 'fflate';
import { snakeCase } from '../../../src/columns/topic-columns.ts';
import { NATURAL_SLUGS } from '../../../src/contract/topics.ts';
import { NRI_PREFIXES } from '../../../src/data/loaders/nri.ts';
import { chooseSources, SOURCES } from '../../../src/data/sources/source-table.ts';
import { readLand } from '../../../src/sample/land.ts';
import { perilbook } from '../../cli/command-line.ts';
import { workbook } from '../../rows/xlsx-fixture.ts';
import { square } from '../../service/small-data.ts';
import { AQI_HEADER, geojson } from '../loaders/loading.ts';
import { type AgencyMirror, type MirroredLayer, sendJson } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

const ROWS = 60;

/** A row of each layer as its server sends it: the agencies' names in their case, numbers as text, times in milliseconds, blanks and nulls. */
const ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, string | number | null>>>> = {
  brownfield: {
    ...{
      REGISTRY_ID: '110022386925',
      PRIMARY_NAME: 'MILL',
      CITY_NAME: 'NORFOLK',
      STATE_CODE: 'VA',
      POSTAL_CODE: ' ',
    },
    ...{
      LATITUDE83: 37.5,
      LONGITUDE83: -78,
      PGM_SYS_ACRNM: 'ACRES',
      PGM_SYS_ID: '68054',
      LAST_REPORTED_DATE: null,
    },
  },
  superfund: {
    ...{
      Region_ID: 3,
      State: 'Virginia',
      Site_Name: 'LANDFILL',
      Site_EPA_ID: 'VAD980712913',
      NPL_Status_Code: 'F',
    },
    ...{
      Status: 'NPL Site',
      Deletion_Date: null,
      Listing_Date: '9/8/1983',
      CreationDate: 1_519_931_834_000,
    },
  },
  'ust-facilities': {
    Facility_ID: 'VA1',
    Name: 'STATION',
    State: 'Virginia',
    Open_USTs: 2,
    Closed_USTs: 0,
    TOS_USTs: null,
  },
  'ust-releases': {
    Facility_ID: 'VA1',
    LUST_ID: 'VA19',
    Name: 'STATION',
    State: 'Virginia',
    Substance: 'Diesel',
    Reported_Date: 599_616_000_000,
  },
  wells: {
    API: '0402900001',
    WellDesignation: '1',
    LeaseName: ' ',
    WellStatus: 'Idle',
    SpudDate: null,
    Longitude: -78,
  },
  'gas-pipelines': {
    fid: 1,
    typepipe: 'Interstate',
    operator: 'Columbia Gas Trans Co',
    status: 'Operating',
    shape__len: 1.5,
  },
  'power-plants': {
    ...{
      Plant_Code: 3,
      Plant_Name: 'Hill',
      StateName: 'Virginia',
      PrimSource: 'solar',
      Total_MW: 5,
      Period: 202_502,
    },
    ...{ Coal_MW: null, source_des: 'Solar = 5 MW', Longitude: -78, Latitude: 37.5 },
  },
  'nuclear-reactors': {
    Plant_Code: 3806,
    Plant_Name: 'Surry',
    PrimSource: 'nuclear',
    Total_MW: 1_676,
    Period: 202_502,
  },
  'transmission-lines': {
    ID: '140834',
    TYPE: 'AC; OVERHEAD',
    OWNER: 'NOT AVAILABLE',
    VOLTAGE: -999_999,
    VOLT_CLASS: 'NOT AVAILABLE',
    VAL_DATE: 1_405_296_000_000,
  },
  'alternative-fuels': {
    ...{
      access_code: 'public',
      fuel_type_code: 'E85',
      station_name: 'One',
      status_code: 'E',
      country: 'US',
      state: 'VA',
    },
    ...{ id: 17, expected_date: null, updated_at: 1_775_113_201_000 },
  },
  parks: {
    FeatClass: 'Fee',
    Unit_Nm: 'Green',
    State_Nm: 'VA',
    Pub_Access: 'OA',
    GIS_Acres: 3,
    Date_Est: ' ',
  },
};
const WELL_STATES = 'CA,CO,ND,NM,OH,OK,TX,UT,VA,WV,WY';
const LINES = ['gas-pipelines', 'transmission-lines'];

/** A map service's layer: so many sites in Virginia. */
function layerOf(loader: string): MirroredLayer {
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const place = [-78 - index / 1_000, 37.5];
    const geometry = LINES.includes(loader)
      ? { type: 'LineString', coordinates: [place, [place[0]!, 37.6]] }
      : { type: 'Point', coordinates: place };
    return { attributes: ATTRIBUTES[loader]!, geometry };
  });
  // Hosted layers say under "properties" that there is more, map servers at the top, and name no edit date.
  const ofServer = ['wells', 'gas-pipelines'].includes(loader)
    ? ({ flag: 'top', edited: null } as const)
    : { edited: 1_770_000_000_000 };
  return { fields: Object.keys(ATTRIBUTES[loader]!), rows, mostRows: 25, ...ofServer };
}

/** What a busy map server answers with status 200. */
const BUSY = { error: { code: 500, message: 'Unable to complete operation.', details: [] } };

const plantsLayer = () =>
  (SOURCES.find(({ name }) => name === 'nuclear-reactors')!.download as { layer: string }).layer;
const withoutProtocol = (url: string) => url.replace('https://', '');

/** A table with a header and the same row at so many places or counties. */
const table = (header: string, row: (index: number) => string) =>
  `${header}\n${Array.from({ length: ROWS }, (_, index) => `${row(index)}\n`).join('')}`;

/** What writes texts, and zips of a text, into the files of a mirror. */
const filesOf = ({ files }: AgencyMirror) => ({
  text: (path: string, content: string, etag?: string) =>
    files.set(path, { body: Buffer.from(content), ...(etag && { etag }) }),
  zip: (path: string, name: string, content: string) =>
    files.set(path, { body: Buffer.from(zipSync({ [name]: strToU8(content) })), etag: '"1"' }),
});

/** The sources of sites and measurements, in the forms in which they are published. */
function serveSites(mirror: AgencyMirror): void {
  for (const { loader, download, when } of SOURCES) {
    if (download.kind !== 'layer' || when === 'named' || !(loader in ATTRIBUTES)) continue;
    const layers =
      typeof download.layer === 'string' ? [download.layer] : Object.values(download.layer);
    for (const layer of layers) mirror.layers.set(withoutProtocol(layer), layerOf(loader));
  }
  // One layer of EIA's held all plants; the newest are in the workbook of a month.
  const [plants, reactors] = [layerOf('power-plants'), layerOf('nuclear-reactors')];
  mirror.layers.set(withoutProtocol(plantsLayer()), {
    ...plants,
    rows: [...plants.rows, ...reactors.rows],
  });
  const counties = readLand().counties.filter(({ state }) => state === 'VA');
  const radon = SOURCES.find(({ name }) => name === 'radon')!.download as { layer: string };
  mirror.layers.set(withoutProtocol(radon.layer), {
    fields: ['CountyFIPS', 'RadonZone'],
    rows: counties.map(({ geoid }) => ({ attributes: { CountyFIPS: geoid, RadonZone: 2 } })),
    edited: 1_770_000_000_000,
  });
  const { text, zip } = filesOf(mirror);
  // Of the last year nothing is published yet.
  text(
    'data.epa.gov/efservice/downloads/tri/mv_tri_basic_download/2024_US/csv',
    table(
      '1. YEAR,2. TRIFD,12. LATITUDE,13. LONGITUDE',
      (index) => `2024,F${index},37.5,-78.${index}`,
    ),
  );
  const years = table(
    AQI_HEADER,
    (index) => `VA,${counties[index]!.name},2025,365,349,16,0,0,0,0,90,60,41`,
  );
  zip(
    'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2025.zip',
    'annual_aqi_by_county_2025.csv',
    years,
  );
  const place = (index: number) =>
    `CO|REG|A1|${index}|${index}|T|37|30|0.0|N|0|78|${index}|0.0|W|0`;
  const registers = {
    'RA.dat': table(
      'RA|REG|A1|x|x|NE|||G',
      (index) => `RA|REG|A1|${index}|${index}|NE|||C||||||05/28/2026`,
    ),
    'CO.dat': table('CO|REG|A1|x', place),
    'EN.dat': table('EN|REG|A1|x', (index) => `EN|REG|A1|${index}|${index}|O||||One|`),
  };
  const packed = Object.entries(registers).map(([name, lines]) => [name, strToU8(lines)] as const);
  const towers = Buffer.from(zipSync(Object.fromEntries(packed)));
  mirror.files.set('data.fcc.gov/download/pub/uls/complete/r_tower.zip', {
    body: towers,
    etag: '"t"',
  });
  const airnow = 'files.airnowtech.org/airnow/today';
  const hour = (index: number) => `06/01/26|10:00|51000${1_000 + index}|Here|-5|OZONE|PPB|34|VA`;
  // The running hour and the one before are not there yet.
  text(`${airnow}/HourlyData_2026060110.dat`, table(hour(0), hour), '"10"');
  const monitors = table('StationID|AQSID|FullAQSID|Latitude|Longitude', (index) => {
    return `${index}|51000${1_000 + index}|x|37.5|-78.${index}`;
  });
  text(`${airnow}/Monitoring_Site_Locations_V2.dat`, monitors, '"s"');
  const link = '/system/files/documents/2024-09/landfilllmopdata.xlsx';
  text('www.epa.gov/lmop/landfill-technical-data', `<html><a href="${link}">LMOP</a></html>`);
  const cells = (values: readonly string[]) =>
    `<row>${values.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;
  const month = 'xls/april_generator2026.xlsx';
  text('www.eia.gov/electricity/data/eia860m/', `<html><a href="${month}">XLS</a></html>`);
  const generators = Array.from({ length: ROWS }, (_, index) =>
    cells([`${index}`, 'Hill', '37.5', `${-78 - index / 1_000}`]),
  );
  const inventory = [
    cells(['Inventory of Operating Generators']),
    cells(['Plant ID', 'Plant Name', 'Latitude', 'Longitude']),
    ...generators,
  ];
  mirror.files.set(`www.eia.gov/electricity/data/eia860m/${month}`, {
    body: workbook([{ name: 'Operating', rows: inventory.join('') }]),
    etag: '"e"',
  });
  const names = ['Landfill ID', 'Landfill Name', 'State', 'Latitude', 'Longitude'];
  const rows = cells(names) + cells(['7', 'Hill', 'VA', '37.5', '-78.5']);
  mirror.files.set(`www.epa.gov${link}`, {
    body: workbook([{ name: 'LMOP Database', rows }]),
    etag: '"l"',
    lastModified: 'Wed, 04 Sep 2024 12:00:00 GMT',
  });
  text(
    'developer.nlr.gov/api/alt-fuel-stations/v1.csv',
    table(
      'Fuel Type Code,Station Name,State,Latitude,Longitude',
      (index) => `E85,One,VA,37.5,-78.${index}`,
    ),
  );
}

/** Where each dataset's date comes from: its rows, the agency's words for an archived copy, the name of a file. A layer without any has the
 * day on which it was edited, and says so; what has not even that, the day of the file at its publisher. */
const VINTAGES_OF_SITES = {
  airQuality: '2025',
  radon: '1993',
  readings: '2026-06-01 10:00 UTC',
  'sites:alternativeFuels': 'to 2026-04-02',
  'sites:brownfield': 'edited 2026-02-02',
  'sites:cellTower': 'to 2026-05-28',
  'sites:highVoltageLine': '2024-09-30 (archived)',
  'sites:naturalGasPipeline': 'January 2020',
  'sites:nuclearReactors': '2025-02',
  'sites:oilGasWell': 'file of DAY',
  'sites:park': 'PAD-US 4.1 (2024)',
  'sites:powerPlant': 'April 2026',
  'sites:solidWasteLandfill': 'file of 2024-09-04',
  'sites:superfund': 'edited 2026-02-02',
  'sites:toxicReleaseInventory': '2024',
  'sites:ustFacility': 'edited 2026-02-02',
  'sites:ustRelease': 'edited 2026-02-02',
};
const VINTAGES_OF_NATURAL = {
  'areas county': '2025',
  'areas tract': '2025',
  'nri county': 'December 2025',
  'nri tract': 'December 2025',
  'records:earthquake': 'to 2024-01-01',
  'records:hail': '2024, to 2024-01-07',
  'records:hurricane': '2025',
  'records:tornado': '2024, to 2024-01-07',
  'records:wildfire.current': 'to 2023-11-14',
  'records:wildfire.historical': 'to 2023-11-14',
  'records:wildfire.perimeters': 'to 2023-11-14',
};
const vintagesOf = (datasets: readonly { name: string; level: string; vintage: string }[]) =>
  Object.fromEntries(
    datasets.map(({ name, level, vintage }) => [
      `${name} ${level}`.trim(),
      vintage.replace(/^file of 20(2[6-9]|[3-9]\d)-\d\d-\d\d$/, 'file of DAY'),
    ]),
  );

test('every source of sites and measurements comes from its server into the database', async (t) => {
  const { folder, mirror, ...machine } = await dataMachine(t, {
    PERILBOOK_AFDC_KEY: 'secret-key-of-ours',
  });
  serveSites(mirror);
  for (const { download, name } of SOURCES) {
    const [layer] =
      download.kind !== 'layer'
        ? []
        : [download.layer].flatMap((one) => (typeof one === 'string' ? one : Object.values(one)));
    if (layer !== undefined && name !== 'nuclear-reactors') {
      mirror.fail(
        new RegExp(`${withoutProtocol(layer).replace(/[()]/g, '.')}/query`),
        1,
        (_, response) => sendJson(response, BUSY),
      );
    }
  }
  const names = SOURCES.filter(
    ({ topics, when, name }) =>
      topics.length > 0 &&
      !topics.some((topic) =>
        ['hail', 'tornado', 'hurricane', 'earthquake', 'wildfire', 'avalanche'].includes(topic),
      ) &&
      when === undefined &&
      name !== 'nri-tracts',
  ).map(({ name }) => name);
  const run = (...args: string[]) =>
    machine.run([...args, ...(args[0] === 'get' ? ['--yes'] : []), '--json']);
  const got = await run('get', ...names);
  const { sources } = JSON.parse(got.stdout) as {
    sources: { source: string; records?: number; error?: { message: string } }[];
  };
  // Names that are topics too bring the boundaries, which nobody serves here.
  const failed = sources.filter(
    ({ source, error }) => error !== undefined && names.includes(source),
  );
  assert.deepEqual(failed, []);
  for (const { source, records } of sources) {
    if (names.includes(source))
      assert.ok(source === 'lmop' ? records === 1 : records! > 20, `${source}: ${records}`);
  }
  const states = await run('get', 'wells', 'parks', 'ust-facilities', '--states', WELL_STATES);
  assert.match(states.stderr, /States: CA, CO, ND, NM, OH, OK, TX, UT, VA, WV, WY/);
  assert.equal(states.code, 0, states.stdout);

  assert.deepEqual(vintagesOf((await machine.list()).datasets), VINTAGES_OF_SITES);
  // The table tells the age of the data, and where its first rows are; not the day on which a server changed it.
  const table = (await machine.run(['check', 'nuclear-reactors', 'wells', 'tri', 'gas-pipelines']))
    .stdout;
  assert.match(
    table,
    /^nuclear-reactors +(?:ok|WARNING) +60 +2025-02 +2026-02-02 +-78\.0 to -78\.0, 37\.5 to 37\.5$/m,
  );
  assert.match(table, /^gas-pipelines +WARNING +60 +January 2020 +-78/m);
  assert.match(table, /^tri +ok +2024 *$/m);
  assert.match(table, /^wells +ok +600 +-78.0 to -78.0, 37.5 to 37.5$/m);
  for (const place of [
    [121, 14],
    [-3, 40],
  ]) {
    const rows = layerOf('nuclear-reactors').rows.map((row) => ({
      ...row,
      geometry: { type: 'Point', coordinates: place },
    }));
    mirror.layers.set(withoutProtocol(plantsLayer()), { ...layerOf('nuclear-reactors'), rows });
    const away = await machine.run(['check', 'nuclear-reactors']);
    assert.match(
      away.stdout,
      /^nuclear-reactors: none of the first rows of https:.* is in the US$/m,
    );
  }
  serveSites(mirror);

  mirror.downloads();
  const updated = await run('update');
  assert.equal(updated.code, 0, updated.stdout);
  assert.equal(mirror.downloads(), 0);

  // The agency's own list takes the place of the copy; its key is in no file, no address and no word.
  const own = await run('get', 'alternative-fuels-afdc');
  assert.equal(own.code, 0, own.stderr);
  const asked = mirror.requests.find(({ target }) => target.startsWith('developer.nlr.gov'))!;
  assert.equal(asked.headers['x-api-key'], undefined, 'a mirror gets no key');
  assert.doesNotMatch(mirror.requests.map(({ target }) => target).join(), /secret-key/);
  const manifest = readFileSync(
    join(folder, 'perilbook/downloads/alternative-fuels-afdc/manifest.json'),
    'utf8',
  );
  assert.doesNotMatch(manifest + own.stdout + own.stderr, /secret-key/);
  const here = (await machine.list()).sources.filter(
    (one: { downloaded: unknown }) => one.downloaded !== null,
  );
  assert.ok(!here.some((one: { source: string }) => one.source === 'alternative-fuels'));
});

const RATED = { RISKR: 'Very High', RISKS: 99, AFREQ: 0.5 };

/** A tract and its county in Virginia, and what each source of a natural topic has there. */
function serveNatural(mirror: AgencyMirror): void {
  const outline = square(-78, 37.3, 0.1);
  const { text, zip } = filesOf(mirror);
  const boundary = (GEOID: string) => geojson([{ properties: { GEOID }, geometry: outline }]);
  const census = 'www2.census.gov/geo/tiger/GENZ2025/shp/cb_2025';
  zip(`${census}_51_tract_500k.zip`, 'cb_2025_51_tract_500k.geojson', boundary('51007000100'));
  zip(`${census}_us_county_500k.zip`, 'cb_2025_us_county_500k.geojson', boundary('51007'));
  const codes = { STATEABBRV: 'VA', STATEFIPS: '51', STCOFIPS: '51007', NRI_VER: 'December 2025' };
  const figures = NRI_PREFIXES.flatMap(([, prefix]) =>
    Object.entries(RATED).map(([suffix, value]) => [`${prefix}_${suffix}`, value] as const),
  );
  const fire = {
    IncidentName: 'Ridge',
    IncidentTypeCategory: 'WF',
    POOState: 'US-VA',
    FireDiscoveryDateTime: 1.7e12,
  };
  const prefixed = Object.fromEntries(
    Object.entries(fire).map(([name, value]) => [`attr_${name}`, value]),
  );
  const point = { type: 'Point', coordinates: [-77.9, 37.4] };
  const layers: Readonly<Record<string, MirroredLayer['rows'][number]>> = {
    'nri-tracts': {
      attributes: { ...codes, TRACTFIPS: '51007000100', ...Object.fromEntries(figures) },
    },
    'nri-counties': { attributes: { ...codes, ...Object.fromEntries(figures) } },
    'wildfire-incidents': { attributes: fire, geometry: point },
    'wildfire-history': { attributes: fire, geometry: point },
    'wildfire-perimeters': { attributes: prefixed, geometry: outline },
  };
  for (const [name, row] of Object.entries(layers)) {
    const { layer } = SOURCES.find((source) => source.name === name)!.download as { layer: string };
    mirror.layers.set(withoutProtocol(layer), {
      fields: Object.keys(row.attributes),
      rows: [row],
      edited: 1.77e12,
    });
  }
  const report = (magnitude: string, segment: string) =>
    `1,2024,1,7,2024-01-07,17:17:00,3,VA,51,1,${magnitude},0,0,0,0,37.4,-77.9,37.41,-77.91,1,9,1,1,${segment},7,0,0,0\n`;
  const spc = 'www.spc.noaa.gov/wcm/';
  const names = [
    '1950-2023_actual_tornadoes.csv',
    '1950-2024_actual_tornadoes.csv',
    '1955-2024_hail.csv.zip',
  ];
  text(spc, `<html>${names.map((name) => `<a href="data/${name}">x</a>`).join('')}</html>`);
  text(`${spc}data/${names[1]}`, report('2', '1'));
  zip(`${spc}data/${names[2]}`, 'hail.csv', report('1.75', '0'));
  const hurdat = 'www.nhc.noaa.gov/data/hurdat/';
  const oceans = ['hurdat2-1851-2025-091226.txt', 'hurdat2-nepac-1949-2025-091426.txt'];
  text(hurdat, `<html>${oceans.map((name) => `<a href="${name}">x</a>`).join('')}</html>`);
  for (const [index, name] of oceans.entries()) {
    const fix = `20250628, 1800,  , HU, 37.4N,  77.9W,  85,  973,${'    0,'.repeat(12)}`;
    text(hurdat + name, `${['AL', 'EP'][index]}012025,             ARTHUR,      1,\n${fix}\n`);
  }
  mirror.quakes = [{ time: Date.UTC(2024, 0, 1), lat: 37.4, lng: -77.9 }];
}

test('every source of natural topics comes from its server, and a place in the tract gets its ratings', async (t) => {
  const { folder, mirror, options, run, list } = await dataMachine(t);
  serveNatural(mirror);
  const data = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([...args, '--json']);
    assert.equal(code, 0, stderr + stdout);
    return (
      JSON.parse(stdout).sources as { source: string; records?: number; new_files: number }[]
    ).filter(({ new_files }) => new_files > 0);
  };
  const got = await data('get', 'natural', '--states', 'VA', '--yes');
  assert.ok(
    got.every(({ records }) => records! > 0),
    JSON.stringify(got),
  );
  const natural = chooseSources(['natural'], true).sources.map(({ name }) => name);
  assert.deepEqual(got.map(({ source }) => source).sort(), natural.sort());

  assert.deepEqual(vintagesOf((await list()).datasets), VINTAGES_OF_NATURAL);
  writeFileSync(join(folder, 'places.csv'), 'lat,lng\n37.35,-77.95\n');
  const ran = await perilbook(['run', 'places.csv', '--topics', 'natural'], options);
  assert.equal(ran.code, 0, ran.stderr);
  const [row] = parse(readFileSync(join(folder, 'places.hazards.csv')), {
    columns: true,
  }) as Record<string, string>[];
  for (const topic of NATURAL_SLUGS) {
    const stem = snakeCase(topic);
    const { RISKR, RISKS, AFREQ } = RATED;
    const rated = ['rating', 'score', 'frequency'].map((name) => row![`${stem}_${name}`]);
    assert.deepEqual(rated, [RISKR, String(RISKS), String(AFREQ)], topic);
  }
  const counts = ['earthquake_records', 'hail_reports', 'hurricane_tracks', 'tornado_reports'];
  const counted = counts.map((name) => row![name]);
  assert.deepEqual(counted, ['1', '1', '2', '1']);

  assert.deepEqual(await data('update'), [], 'nothing changed');
  const { layer } = SOURCES.find(({ name }) => name === 'nri-counties')!.download as {
    layer: string;
  };
  const counties = mirror.layers.get(withoutProtocol(layer))!;
  mirror.layers.set(withoutProtocol(layer), { ...counties, edited: 1.78e12 });
  const updated = await data('update');
  assert.deepEqual(
    updated.map(({ source }) => source),
    ['nri-counties'],
  );
});

/** The files of second addresses: as the first address has them, or the rows of its layer in a zip. */
const COPIES: Readonly<Record<string, string>> = {
  'www.spc.noaa.gov/wcm/data/1950-2025_actual_tornadoes.csv':
    'www.spc.noaa.gov/wcm/data/1950-2024_actual_tornadoes.csv',
  'www.spc.noaa.gov/wcm/data/1955-2025_hail.csv.zip':
    'www.spc.noaa.gov/wcm/data/1955-2024_hail.csv.zip',
};
const TRACKS = `SID,SEASON,NUMBER,BASIN,NAME,ISO_TIME,LAT,LON,WMO_WIND,WMO_PRES,TRACK_TYPE
2025179N15001,2025,1,NA,ARTHUR,2025-06-28 18:00:00,37.4,-77.9,85,973,main
2025179N15001,2025,1,NA,ARTHUR,2025-06-29 00:00:00,37.6,-77.9,80,975,main
`;
const ARCHIVE = 'web.archive.org/web/2id_/https://';

test('every second address is loaded from, and named with the vintage, when the first is gone', async (t) => {
  const { mirror, run, list } = await dataMachine(t, { PERILBOOK_AFDC_KEY: 'secret-key-of-ours' });
  serveSites(mirror);
  serveNatural(mirror);
  const { text, zip } = filesOf(mirror);
  const storms = SOURCES.find(({ name }) => name === 'ibtracs')!.download;
  assert.ok(storms.kind === 'file');
  text(withoutProtocol(storms.files[0]!.url), TRACKS);
  const chosen = SOURCES.filter(
    (source) => source.else !== undefined && source.name !== 'alternative-fuels-afdc',
  );
  const firsts = new Set<string>();
  const served = new Set<string>();
  for (const { name, loader, download, else: others = [] } of chosen) {
    if (download.kind === 'layer') {
      for (const layer of typeof download.layer === 'string'
        ? [download.layer]
        : Object.values(download.layer)) {
        firsts.add(withoutProtocol(layer));
      }
    }
    const [other] = others;
    assert.ok(other !== undefined, name);
    if (other.download.kind === 'layer') {
      const layers =
        typeof other.download.layer === 'string'
          ? [other.download.layer]
          : Object.values(other.download.layer);
      const own = download.kind === 'layer' ? mirror.layers.get([...firsts].at(-1)!) : undefined;
      const outlines = { areas: '51007000100', counties: '51007' }[name];
      const boundary =
        outlines === undefined
          ? undefined
          : {
              fields: ['GEOID'],
              rows: [{ attributes: { GEOID: outlines }, geometry: square(-78, 37.3, 0.1) }],
            };
      for (const layer of layers) {
        const copy = boundary ?? (loader in ATTRIBUTES ? layerOf(loader) : own);
        mirror.layers.set(withoutProtocol(layer), copy!);
        served.add(withoutProtocol(layer));
      }
      continue;
    }
    assert.ok(other.download.kind === 'file', name);
    for (const { url } of other.download.files) {
      const dates = {
        year: name === 'tri' ? '2024' : name === 'airnow' ? '2026' : '2025',
        date: '20260601',
      };
      const filled = url
        .replace('{year}', dates.year)
        .replace('{date}', dates.date)
        .replace('{hour}', '2026060110');
      const path = withoutProtocol(filled).replace('&limit=all', '').replace(/\?.*/, '');
      const from = COPIES[path] ?? path.replace(ARCHIVE, '').replace('2026/20260601', 'today');
      served.add(path);
      const file = mirror.files.get(from);
      if (file !== undefined) mirror.files.set(path, file);
      else if (/NRI_Table/.test(path)) {
        const [row] = mirror.layers.get([...firsts].at(-1)!)!.rows;
        const cells = [Object.keys(row!.attributes), Object.values(row!.attributes)].map(
          (line) => `${line.join()}\n`,
        );
        zip(path, `${name}.csv`, cells.join(''));
      } else if (loader in ATTRIBUTES) {
        const features = layerOf(loader).rows.map(({ attributes, geometry }) => ({
          properties: attributes,
          geometry,
        }));
        zip(path, 'rows.geojson', geojson(features));
      }
    }
  }
  for (const path of [...mirror.layers.keys()])
    if (firsts.has(path) && !served.has(path)) mirror.layers.delete(path);
  for (const path of [...mirror.files.keys()]) if (!served.has(path)) mirror.files.delete(path);
  const failed: string[] = [];
  for (const { name, when } of chosen) {
    const of = name === 'wells' ? 'CO,ND' : when === 'states' || name === 'areas' ? 'VA' : '';
    const states = of === '' ? [] : ['--states', of];
    const got = await run(['get', name, ...states, '--yes', '--json']);
    const outcome = (
      JSON.parse(got.stdout) as { sources: { source: string; records?: number; error?: unknown }[] }
    ).sources;
    const own = outcome.find(({ source }) => source === name);
    if (!((own?.records ?? 0) > 0)) failed.push(`${name}: ${JSON.stringify(own)}`);
  }
  assert.deepEqual(failed, []);
  const { datasets } = await list();
  const vintages = (datasets as { name: string; vintage: string }[]).map(
    ({ name, vintage }) => `${name} ${vintage}`,
  );
  assert.ok(
    vintages.every((one) => / from /.test(one)),
    vintages.join('\n'),
  );
});
