import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { downloadedSources } from '../../../src/cli/commands/data-get.ts';
import { writeManifest } from '../../../src/data/download/downloads-folder.ts';
import { NRI_PREFIXES } from '../../../src/data/loaders/nri.ts';
import { SOURCES } from '../../../src/data/sources/source-table.ts';
import { openDataDatabase } from '../../../src/data/tables/data-database.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import { perilbook, type SetupOptions } from '../../cli/command-line.ts';
import { until } from '../../until.ts';
import { AQI_HEADER, geojson } from '../loaders/loading.ts';
import { sendPage } from './agency-mirror.ts';
import { dataMachine } from './downloading.ts';

const RADON = 'gispub.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0';
const AIR = 'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2025.zip';
const AIR_2024 = 'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2024.zip';
const FIRES =
  'services3.arcgis.com/T4QMspbfLg3qTGWY/arcgis/rest/services/WFIGS_Interagency_Perimeters/FeatureServer/0';
const NRI_TRACTS =
  'services.arcgis.com/XG15cJAlne2vxtgt/arcgis/rest/services/National_Risk_Index_Census_Tracts/FeatureServer/0';
const triFileOf = (state: string) =>
  `data.epa.gov/efservice/downloads/tri/mv_tri_basic_download/2025_${state}/csv`;
const COUNTIES = ['51001', '51003', '51005'];

const radonLayer = (zone: number) => ({
  fields: ['CountyFIPS', 'CountyName', 'StateName', 'RadonZone'],
  rows: COUNTIES.map((CountyFIPS) => ({
    attributes: { CountyFIPS, CountyName: 'X', StateName: 'VA', RadonZone: zone },
  })),
});

function airZip(days: number, year = 2025, county = 'Accomack'): Buffer {
  const row = `Virginia,${county},${year},${days},${days - 10},10,0,0,0,0,90,60,40`;
  return Buffer.from(
    zipSync({ [`annual_aqi_by_county_${year}.csv`]: strToU8(`${AQI_HEADER}\n${row}\n`) }),
  );
}

const LISTED = `Loaded into /perilbook/data.db (SIZE):
  for         dataset     rows  size   vintage  age         states  source
  airQuality  airQuality     1  318 B     2025  3 days 0 h  US      EPA Air Quality System, annual AQI by county (annual_aqi_by_county_2025.csv)
  radon       radon          3  81 B      1993  3 days 0 h  US      EPA Map of Radon Zones (radon-US.csv)
0 topics can be answered.
Unavailable, because a dataset is missing:
  natural topics: areas, nri                                 perilbook data get natural
  brownfield: areas, sites:brownfield                        perilbook data get brownfield
  oilGasWell: areas, sites:oilGasWell                        perilbook data get oilGasWell --for FILE
  airQuality, radon: areas                                   perilbook data get airQuality radon
  ozone, pm25, pm10: areas, readings                         perilbook data get ozone pm25 pm10
  floodZone: floodZones                                      perilbook data get floodZone --for FILE
  ca_fire_zone: ca_fire_zone                                 perilbook data get ca_fire_zone
  coastal_barrier: coastal_barrier                           perilbook data get coastal_barrier
The next perilbook data update asks these sources, and downloads what changed:
  source       published             checked         newer    states
  air-quality  twice a year          3 days 0 h ago  not yet  US
  radon        never: drawn in 1993  3 days 0 h ago  not yet  US
`;

const CHECKED = `source        state    rows  newest data  changed  first rows in
areas         FAILED
counties      FAILED
air-quality   ok                    2025
radon         WARNING     3
power-plants  FAILED
areas: /www2.census.gov/geo/tiger/GENZ2022/shp/cb_2022_us_tract_500k.zip is missing, and so are newer files
counties: /www2.census.gov/geo/tiger/GENZ2022/shp/cb_2022_us_county_500k.zip is missing, and so are newer files
air-quality: its second address, the Internet Archive, fails: https://web.archive.org/web/2id_/https://aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2015.zip is missing, and so are newer files
radon: it has 3 rows, and about 3144 were expected
radon: its second address, geodata.epa.gov, fails: https://geodata.epa.gov/arcgis/rest/services/ORD/ROE_Radon/MapServer/0?f=json answered with status 404
power-plants: /www.eia.gov/electricity/data/eia860m/ answered with status 404
`;

async function setUp(t: TestContext) {
  const machine = await dataMachine(t);
  machine.mirror.layers.set(RADON, radonLayer(2));
  machine.mirror.files.set(AIR, { body: airZip(360), etag: '"1"' });
  return { ...machine, downloads: join(machine.folder, 'perilbook/downloads') };
}

type Outcome = {
  source: string;
  records?: number;
  ok?: boolean;
  error?: { code: string; message: string };
};

const datasetsOf = async (options: SetupOptions) =>
  (
    JSON.parse((await perilbook(['data', '--json'], options)).stdout) as {
      datasets: { name: string; rows: number }[];
    }
  ).datasets;

test('nothing is downloaded before somebody said yes; --dry-run shows addresses, sizes and licences', async (t) => {
  const { run, mirror, own, options } = await setUp(t);
  const refused = await run(['get', 'air-quality']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /annual_aqi_by_county_\{year\}\.zip/);
  assert.match(
    refused.stderr,
    /without a terminal it needs --yes\n {2}hint: Add --yes.*NEEDS_APPROVAL/,
  );
  const dry = await run(['get', 'natural', '--states', 'Virginia,md', '--dry-run', '--json']);
  assert.equal(dry.code, 0);
  const plan = JSON.parse(dry.stdout);
  assert.deepEqual(plan.states, ['MD', 'VA']);
  const nri = plan.sources.find(({ source }: { source: string }) => source === 'nri-tracts');
  assert.deepEqual(nri.states, ['MD', 'VA']);
  assert.match(nri.licence, /not endorsed by FEMA/);
  assert.ok(nri.bytes > 1_000_000 && !nri.measured);
  const sized = JSON.parse(
    (await run(['get', 'areas', '--states', 'CA,VA', '--dry-run', '--json'])).stdout,
  );
  assert.match(
    sized.sources[0].addresses.join(),
    /_\{fips\}_tract_500k\.zip$/,
    'what is asked for states',
  );
  // California's size is known, Virginia's is a 51st of the US.
  assert.equal(Math.round(sized.sources[0].bytes / 10_000), Math.round(428 + 5_780 / 51));
  const words = await run(['get', 'all', '--dry-run']);
  assert.match(
    words.stdout,
    /nri-tracts, nri-counties: Taken from FEMA's map service\. If that fails: .* in a browser/,
  );
  assert.match(words.stderr, /Without parks: it needs --states or --for/);
  assert.match(words.stdout, /In all about \d\.\d GB/);
  // The size of a file at the user's own address is not the publisher's.
  const ownRadon = own('sources: {radon: {url: "https://files.example.com/radon.csv"}}\n');
  const ask = ['get', 'radon', 'air-quality', '--dry-run', ...ownRadon];
  const { stdout } = await run(ask);
  assert.match(stdout, /^radon +unknown /m);
  assert.match(stdout, /^In all about [\d.]+ .B and 1 source of unknown size\.$/m);
  assert.match(
    stdout,
    /^Except for your own addresses, all is taken from http:[^ ]+; the sizes are those of the publishers' files\.$/m,
  );
  const { sources } = JSON.parse((await run([...ask, '--json'])).stdout);
  const unknown = sources.filter(({ bytes }: { bytes: number | null }) => bytes === null);
  assert.equal(unknown.map(({ source }: { source: string }) => source).join(), 'radon');
  assert.equal(mirror.requests.length, 0);
  const { stdout: here } = await perilbook(['data'], options);
  assert.match(
    here,
    /^No data is here\. .*: perilbook data get natural --for FILE\nCan be[\s\S]*nri-tracts/,
  );
});

test('the program names itself and who downloads, and asks nobody but the mirror', async (t) => {
  const { run, mirror, own } = await setUp(t);
  const contact = own('contact: data@example.com\n');
  assert.equal((await run(['get', 'air-quality', '--yes', ...contact])).code, 0);
  const agents = new Set(mirror.requests.map(({ headers }) => headers['user-agent']));
  assert.deepEqual([...agents], ['perilbook/0.0.0 (+data@example.com)']);
});

test('a source that fails keeps none of the others from coming, and its old data stays', async (t) => {
  const { run, mirror, options } = await setUp(t);
  const both = ['air-quality', 'radon', '--yes'];
  mirror.files.set('www2.census.gov/x', { body: Buffer.from('') });
  await run(['get', ...both]);
  const before = await datasetsOf(options);
  const rowsOf = before.map(({ name, rows }) => `${name} ${rows}`);
  assert.deepEqual(rowsOf, ['airQuality 1', 'radon 3']);
  mirror.files.set(AIR, { body: airZip(362), etag: '"2"' });
  mirror.fail(/RadonZone|ROE_Radon/, 99, (_, response) => sendPage(response, 403));
  const updated = await run(['update', '--json']);
  assert.equal(updated.code, 6);
  const { sources } = JSON.parse(updated.stdout) as { sources: Outcome[] };
  const told = sources.map(({ source, records, error }) => `${source} ${records} ${error?.code}`);
  assert.deepEqual(told, ['air-quality 1 undefined', 'radon undefined DOWNLOAD_FAILED']);
  assert.equal((await datasetsOf(options)).find(({ name }) => name === 'radon')!.rows, 3);
});

test('a file that the loader refuses leaves the data as it was, and is downloaded again, though the server names no change', async (t) => {
  const { run, mirror, options } = await setUp(t);
  await run(['get', 'air-quality', '--yes']);
  mirror.files.set(AIR, { body: airZip(360, 2025, 'Nowhere'), etag: '"2"' });
  const refused = await run(['update']);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /air-quality: Cannot load .*no row is usable/);
  assert.equal((await datasetsOf(options))[0]!.rows, 1);
  const { stdout } = await perilbook(['data'], options);
  assert.match(
    stdout,
    /^Downloaded and refused, in part or .* \(.* data update downloads it again\): air-quality$/m,
  );
  assert.doesNotMatch(stdout, /not loaded/);
  mirror.files.set(AIR, { body: airZip(364), etag: '"2"' });
  assert.match((await run(['update'])).stderr, /air-quality: loaded 1 record, 2025/);
  // And then it is asked for changes again.
  mirror.downloads();
  assert.equal((await run(['update'])).code, 0);
  assert.equal(mirror.downloads(), 0);
});

test('from January to May air quality is of the last complete year, and of the new one when it is complete', async (t) => {
  const { run, mirror, options } = await setUp(t);
  options.clock.move(Date.parse('2027-02-01T00:00:00Z') - options.clock.now());
  const newer = 'aqs.epa.gov/aqsweb/airdata/annual_aqi_by_county_2026.zip';
  // The agency publishes the new year at once, with some days of it.
  mirror.files.set(newer, { body: airZip(31, 2026), etag: '"n1"' });
  const got = await run(['get', 'air-quality', '--yes']);
  assert.equal(got.code, 0, got.stderr);
  assert.match(got.stderr, /air-quality: loaded 1 record, 2025\./);
  const checked = await run(['check', 'air-quality']);
  assert.doesNotMatch(checked.stdout, /newer data/);
  assert.match((await run(['update'])).stderr, /air-quality: unchanged\./);
  options.clock.move(140 * 86_400_000);
  mirror.files.set(newer, { body: airZip(360, 2026), etag: '"n2"' });
  assert.match((await run(['update'])).stderr, /air-quality: loaded 1 record, 2026\./);
});

test('each of two data files gets what was downloaded since it was loaded', async (t) => {
  const { run, mirror, options } = await setUp(t);
  const update = async (...args: string[]) =>
    JSON.parse((await run(['update', '--json', ...args])).stdout).sources[0];
  await run(['get', 'air-quality', '--yes']);
  mirror.downloads();
  assert.equal((await update('--db', 'other.db')).records, 1);
  assert.equal(mirror.downloads(), 0);
  options.clock.move(1_000);
  mirror.files.set(AIR, { body: airZip(364), etag: '"2"' });
  assert.equal((await update()).records, 1);
  const others = [
    (await update('--db', 'other.db')).records,
    (await update('--db', 'other.db')).records,
  ];
  assert.deepEqual(others, [1, undefined]);
});

test('a stop in the middle says how to go on, and the same command does', async (t) => {
  const { run, mirror, downloads } = await setUp(t);
  const stop = new AbortController();
  mirror.fail(/annual_aqi/, 9, (_, response) => {
    response
      .writeHead(200, { etag: '"1"', 'content-length': 5_000 })
      .write(airZip(360).subarray(0, 100));
    setTimeout(() => stop.abort(), 30);
  });
  const stopped = await run(['get', 'air-quality', '--yes'], { interrupt: stop.signal });
  assert.equal(stopped.code, 130);
  assert.match(
    stopped.stderr,
    /The download was interrupted\n {2}hint: Run the same command again/,
  );
  assert.equal(existsSync(join(downloads, 'lock')), false);
});

test('a source is loaded when it is here, whatever another server does', async (t) => {
  const { run, mirror, downloads } = await setUp(t);
  const stop = new AbortController();
  const manifest = join(downloads, 'air-quality/manifest.json');
  const isLoaded = () =>
    existsSync(manifest) && readFileSync(manifest, 'utf8').includes('loadedAt');
  mirror.fail(/ROE_Radon/, 9, async () => {
    await until(isLoaded);
    stop.abort();
  });
  const stopped = await run(['get', 'radon', 'air-quality', '--yes'], { interrupt: stop.signal });
  assert.equal(stopped.code, 130);
  assert.match(stopped.stderr, /air-quality: loaded 1 record, 2025\.\n/);
});

test('a server that does not answer for long is named, with when it is asked again', async (t) => {
  const { run, mirror, options } = await setUp(t);
  mirror.fail(/annual_aqi/, 1, (_, response) => {
    options.clock.move(60_000);
    response.destroy();
  });
  const { code, stderr } = await run(['get', 'air-quality', '--yes']);
  assert.equal(code, 0);
  assert.match(
    stderr,
    /The connection to 127\.0\.0\.1:\d+ broke off: [^\n]*\. Trying again in 1 s\.\n/,
  );
});

test('two commands do not download into one folder; the lock of a process that is gone is taken over', async (t) => {
  const { run, downloads } = await setUp(t);
  mkdirSync(downloads, { recursive: true });
  writeFileSync(join(downloads, 'lock'), 'machine/1/x');
  const second = await run(['get', 'air-quality', '--yes']);
  assert.equal(second.code, 2);
  assert.match(second.stderr, /Another perilbook data command downloads/);
  assert.equal((await run(['get', 'air-quality', '--yes'], { isAlive: () => false })).code, 0);
});

test('a folder that cannot be written is named', async (t) => {
  const { run, folder } = await setUp(t);
  writeFileSync(join(folder, 'file'), '');
  const refused = await run(['get', 'air-quality', '--yes'], {
    env: { XDG_DATA_HOME: join(folder, 'file') },
  });
  assert.equal(refused.code, 6);
  assert.match(refused.stderr, /Cannot write into .*file[/\\]perilbook[/\\]downloads: ENOTDIR/);
});

test('a machine without a network takes the downloads of another one', async (t) => {
  const { run, mirror, downloads, folder, onAnother, own } = await setUp(t);
  await run(['get', 'air-quality', '--yes']);
  cpSync(downloads, join(folder, 'stick'), { recursive: true });
  mirror.downloads();
  const copy = () =>
    onAnother('other', ['get', 'air-quality', '--mirror', 'stick', '--yes', '--json', ...own('')]);
  const got = await copy();
  assert.equal(got.code, 0, got.stderr);
  assert.equal(JSON.parse(got.stdout).sources[0].records, 1);
  const again = JSON.parse((await copy()).stdout).sources[0];
  assert.deepEqual([again.new_files, again.records], [0, undefined]);
  assert.equal(mirror.downloads(), 0);
  const missing = await onAnother('other', ['get', 'tri', '--mirror', 'stick', '--yes']);
  assert.match(missing.stderr, /The folder ".*stick" has no tri/);
  const file = join(folder, 'stick/air-quality/annual_aqi_by_county_2025.zip');
  const bytes = readFileSync(file);
  rmSync(join(folder, 'other/perilbook'), { recursive: true });
  const changed = Buffer.from(bytes);
  changed[60]! ^= 1;
  for (const damaged of [bytes.subarray(0, 100), changed]) {
    writeFileSync(file, damaged);
    assert.match((await copy()).stdout, /does not match its manifest/);
  }
  // A file that was refused there is none that anybody should load.
  writeFileSync(file, bytes);
  const manifest = join(folder, 'stick/air-quality/manifest.json');
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace('"bytes"', '"refused": true, "bytes"'),
  );
  assert.match((await copy()).stdout, /was refused on the machine that it comes from/);
});

test('what came along with what was named fails as a warning: the rest of a copy is loaded', async (t) => {
  const { run, downloads, folder, onAnother, own } = await setUp(t);
  await run(['get', 'air-quality', '--yes']);
  cpSync(downloads, join(folder, 'stick'), { recursive: true });
  const get = (...words: string[]) =>
    onAnother('other', ['get', ...words, '--mirror', 'stick', '--yes', ...own('')]);
  const { code, stdout, stderr } = await get('airQuality');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /The folder ".*stick" has no areas/);
  assert.match(stderr, /areas, counties were not named: what was named needs the boundaries/);
  assert.match(stdout + stderr, /air-quality: .*1 record/s);
  // What was named is an error, and does not keep the rest from being loaded.
  const both = await get('tri', 'air-quality');
  assert.notEqual(both.code, 0);
  assert.match(both.stderr, /has no tri/);
});

test('a file at an own address answers for its states alone, also on a machine that has no sources.yaml', async (t) => {
  const { run, mirror, downloads, folder, own, onAnother, list } = await setUp(t);
  const body = Buffer.from('TRIFD,YEAR,ST,LATITUDE,LONGITUDE\nF1,2025,VA,38,-78.1\n');
  mirror.files.set('files.example.com/tri.csv', { body });
  const get = (settings: string, command = 'get') => {
    const sources = own(
      `sources: {tri: {url: "${mirror.url}/files.example.com/tri.csv"${settings}}}\n`,
    );
    return run([...(command === 'get' ? ['get', 'tri', '--yes'] : [command]), ...sources]);
  };
  const statesAt = async (settings: string, name: string) => {
    const here = await get(settings);
    assert.equal(here.code, 0);
    // What it covers is not loaded again.
    assert.match((await get(settings, 'update')).stderr, /tri: unchanged/);
    cpSync(downloads, join(folder, name), { recursive: true });
    const got = await onAnother(`at ${name}`, ['get', 'tri', '--mirror', name, '--yes', '--json']);
    assert.equal(got.code, 0, got.stderr);
    const other = JSON.parse((await onAnother(`at ${name}`, ['--json'])).stdout);
    const [covered, again] = [await list(), other].map(
      ({ datasets }) =>
        datasets.find((one: { name: string }) => one.name === 'sites:toxicReleaseInventory').states,
    );
    assert.deepEqual(again, covered);
    return [covered, ...(here.stderr.match(/The data covers .*/g) ?? [])];
  };
  assert.deepEqual(await statesAt('', 'stick'), [
    ['VA'],
    'The data covers VA only. If it covers the whole US, set states: US of tri in sources.yaml.',
  ]);
  assert.deepEqual(await statesAt(', states: "VA, DC"', 'newer stick'), [['DC', 'VA']]);
  assert.deepEqual(await statesAt(', states: us', 'stick'), [undefined], 'the whole US');
  const elsewhere = await get(', states: "MD, DC"');
  assert.equal(elsewhere.code, 2, elsewhere.stderr);
  assert.match(
    elsewhere.stderr,
    /no row is usable \(all are outside of DC, MD: states of tri in sources\.yaml\)/,
  );
});

test('a file at an own address may have any form that its loader reads, also on a machine that has no sources.yaml', async (t) => {
  const { run, mirror, downloads, own, onAnother } = await setUp(t);
  const properties = {
    mag: 3.1,
    time: 1_700_000_000_000,
    place: 'x',
    type: 'earthquake',
    net: 'us',
    code: '1',
  };
  const quakes = geojson([
    { id: 'us1', properties, geometry: { type: 'Point', coordinates: [-78, 37, 10] } },
  ]);
  mirror.files.set('files.example.com/quakes.geojson', { body: Buffer.from(quakes) });
  const sources = own(
    `sources: {earthquakes: {url: "${mirror.url}/files.example.com/quakes.geojson"}}\n`,
  );
  const got = await run(['get', 'earthquakes', '--yes', ...sources]);
  assert.match(got.stderr, /earthquakes: loaded 1 record/);
  const copied = await onAnother('other', ['get', 'earthquakes', '--mirror', downloads, '--yes']);
  assert.match(copied.stderr, /earthquakes: loaded 1 record/);
});

test('a key that is missing, a mirror that is none and an update of nothing say what to do', async (t) => {
  const { run, options } = await setUp(t);
  const keyless = await perilbook(['data', 'get', 'alternative-fuels-afdc', '--yes'], options);
  assert.match(
    keyless.stderr,
    /PERILBOOK_AFDC_KEY holds none\n {2}hint: Needs a free key from https/,
  );
  const nowhere = await perilbook(
    ['data', 'get', 'radon', '--mirror', 'nowhere', '--yes'],
    options,
  );
  assert.match(nowhere.stderr, /--mirror "nowhere" is neither an address nor a folder/);
  assert.match((await run(['update'])).stderr, /Nothing to update/);
  assert.match((await run(['get'])).stderr, /Missing argument: topics/);
  assert.match(
    (await run(['get', 'radon', '--states', 'Virgina'])).stderr,
    /"Virgina" is not a state/,
  );
});

test('data load says how many rows of a file were used', async (t) => {
  const { options, folder } = await setUp(t);
  writeFileSync(
    join(folder, 'nri.csv'),
    'STCOFIPS,HAIL_RISKR,HAIL_RISKS,HAIL_AFREQ,DRGT_RISKR,DRGT_RISKS,DRGT_AFREQ\n51001,Very High,99,3,Very Low,1,1\n99,Very Low,1,1,Very Low,1,1\n',
  );
  const ratings = await perilbook(['data', 'load', 'nri', 'nri.csv', '--vintage', '2025'], options);
  assert.match(
    ratings.stderr,
    /^Loaded nri \(county\), 2025: 1 of 2 rows, stored as 2 records\.$/m,
  );
});

test('--quiet prints errors only, but hides nothing that the user is asked to approve', async (t) => {
  const { run, options, folder } = await setUp(t);
  writeFileSync(join(folder, 'annual_aqi_by_county_2025.zip'), airZip(360));
  const loaded = await perilbook(
    ['data', 'load', 'air-quality', 'annual_aqi_by_county_2025.zip', '-q'],
    options,
  );
  assert.deepEqual([loaded.code, loaded.stdout, loaded.stderr], [0, '', '']);
  const missing = await perilbook(['data', 'load', 'air-quality', 'none.zip', '--quiet'], options);
  assert.match(missing.stderr, /none\.zip/);
  const asked = await run(['get', 'radon', '--states', 'VA', '--quiet']);
  assert.match(asked.stderr, /radon[\s\S]*Nothing was downloaded/);
  const got = await run(['get', 'radon', '--states', 'VA', '--quiet', '--yes']);
  // The sources are downloaded concurrently: whichever is first is told first.
  for (const source of ['areas', 'counties']) {
    assert.match(
      got.stderr,
      new RegExp(`^warning: ${source}: .* is missing.*\\n.*\\[DOWNLOAD_FAILED\\]$`, 'm'),
    );
  }
  // Two addresses each, with what to do, and that nobody named them.
  assert.equal(got.stderr.trimEnd().split('\n').length, 9);
  // New, and unchanged.
  for (let i = 0; i < 2; i++)
    assert.equal((await run(['get', 'air-quality', '--quiet', '--yes'])).stderr, '');
});

test('data lists what is loaded by topic, and the command that gets what is missing', async (t) => {
  const { run, mirror, options, folder, downloads } = await setUp(t);
  await run(['get', 'air-quality', 'radon', '--yes', '--states', 'VA']);
  options.clock.move(3 * 86_400_000);
  const short = (await perilbook(['data'], options)).stdout;
  assert.match(short, /\n\d+ other sources can be downloaded: perilbook data --all\n/);
  const { stdout } = await perilbook(['data', '--all'], options);
  const [before, offered] = stdout.split('Can be downloaded');
  const others = /\n {2}\w+: areas, sites:(?!brownfield|oilGasWell)\w+ .*/g;
  const listed = before!
    .replace(/\([\d.]+ kB\)/, '(SIZE)')
    .replaceAll(folder, '')
    .replace(/^Loaded into \S+/, (words) => words.replaceAll('\\', '/'))
    .replaceAll(others, '');
  assert.equal(listed, LISTED);
  assert.match(
    offered!,
    /\n {2}areas {2,}US Census Bureau, cartographic boundaries of census tracts, 57\.8 MB\n/,
  );
  assert.doesNotMatch(offered!, /\n {2}radon {3}/, 'a source that is here is not offered');
  const json = JSON.parse((await perilbook(['data', '--json'], options)).stdout);
  const one = json.topics.find(({ topic }: { topic: string }) => topic === 'park');
  assert.deepEqual(one, {
    topic: 'park',
    answered: false,
    datasets: [],
    missing: ['areas', 'sites:park'],
    get: 'perilbook data get park --for FILE',
  });

  // A rhythm of half a year; the network is not asked.
  const asked = mirror.requests.length;
  options.clock.move(180 * 86_400_000);
  const later = await perilbook(['data'], { ...options, columns: 60 });
  assert.match(
    later.stdout,
    /\n {2}air-quality {2}183 days 0 h ago {2}due {6}US\n {2}radon .* not yet {2}US\n/,
  );
  assert.ok(
    later.stdout.split('\n').every((line) => line.length <= 60 || !line.trim().includes(' ')),
  );
  const { sources } = JSON.parse((await perilbook(['data', '--json'], options)).stdout) as {
    sources: { source: string; due: boolean }[];
  };
  const due = sources.filter((source) => source.due).map(({ source }) => source);
  assert.deepEqual(due, ['air-quality']);
  assert.equal(mirror.requests.length, asked);

  rmSync(join(folder, 'perilbook/data.db'));
  const other = await perilbook(['data', '--db', 'other.db'], options);
  assert.deepEqual([other.code, other.stdout], [2, '']);
  assert.match(
    other.stderr,
    /There is no file .*other\.db\n {2}hint: Check the name that --db gives/,
  );
  assert.ok(existsSync(downloads));
});

test('data check says which sources moved, changed their form or shrank, and downloads nothing', async (t) => {
  const { run, mirror, downloads } = await setUp(t);
  mirror.files.set('www.spc.noaa.gov/wcm/', {
    body: Buffer.from('<html><a href="data/other.csv">hail</a></html>'),
  });
  mirror.files.set('developer.nlr.gov/api/alt-fuel-stations/v1.csv', {
    body: Buffer.from('Id,Name\n1,x\n'),
  });
  const names = [
    'air-quality',
    'tornado',
    'tri',
    'power-plants',
    'counties',
    'alternative-fuels-afdc',
    'radon',
  ];
  const key = { env: { XDG_DATA_HOME: join(downloads, '..', '..'), PERILBOOK_AFDC_KEY: 'k' } };
  const checked = await run(['check', ...names, '--json'], key);
  assert.equal(checked.code, 6);
  const { sources } = JSON.parse(checked.stdout) as { sources: Outcome[] };
  const by = new Map(sources.map((one) => [one.source, one]));
  assert.equal(by.get('air-quality')!.ok, true);
  assert.match(JSON.stringify(by.get('air-quality')), /"newest":"2025"/);
  assert.match(
    by.get('tornado')!.error!.message,
    /has no link to 1950-YYYY_actual_tornadoes\.csv$/,
  );
  assert.match(by.get('tri')!.error!.message, /is missing, and so are newer files/);
  assert.match(by.get('power-plants')!.error!.message, /status 404/);
  assert.match(by.get('alternative-fuels-afdc')!.error!.message, /begins with "Id,Name"/);
  // 3 counties where 3,144 were expected.
  assert.match(JSON.stringify(by.get('radon')), /"ok":false,"warning":"it has 3 rows/);
  assert.equal(existsSync(downloads), false);
  const words = await run(['check', 'air-quality', 'power-plants', 'radon']);
  assert.equal(words.code, 6);
  assert.equal(words.stdout.replaceAll(mirror.url, ''), CHECKED);
  assert.match(
    words.stderr,
    /^Of files \(air-quality\) only the first bytes were read, .*: perilbook data update$/m,
  );
  assert.equal(
    words.stderr.match(/The mirror http:\S+ may not have it/g)?.length,
    1,
    'the advice is printed once',
  );
  const noQuakes = await run(['check', 'earthquakes']);
  assert.equal(noQuakes.code, 6);
  assert.match(noQuakes.stdout, /count\?.* counts no events in a year$/m);
  mirror.quakes = [{ time: Date.UTC(2026, 4, 1), lat: 37, lng: -78 }];
  const quakes = await run(['check', 'earthquakes']);
  assert.match(quakes.stdout, /^earthquakes {2}ok +1$/m);
  const one = await run(['check', 'air-quality']);
  assert.equal(one.code, 0);
  assert.match(one.stdout, /^air-quality {2}ok +2025$/m);
  assert.ok(mirror.requests.at(-1)!.headers.range);
});

for (const got of ['--states VA,MD,DC', ''] as const) {
  test(`data check sees a state and columns that vanished from what was downloaded (${got || 'the whole US'})`, async (t) => {
    const { run, mirror } = await setUp(t);
    const hazards = NRI_PREFIXES.map(([, prefix]) => prefix);
    const names = hazards.flatMap((hazard) =>
      ['RISKR', 'RISKS', 'AFREQ'].map((suffix) => `${hazard}_${suffix}`),
    );
    const valueIn = (name: string) => (name.endsWith('_RISKR') ? 'Very Low' : 1);
    const rows = ['VA 51 30', 'MD 24 20', 'DC 11 12']
      .map((of) => of.split(' '))
      .flatMap(([STATEABBRV, STATEFIPS, count]) =>
        Array.from({ length: Number(count) }, (_, index) => ({
          attributes: {
            ...{
              TRACTFIPS: `${STATEFIPS}001${String(100 + index).padStart(6, '0')}`,
              STATEFIPS,
              STATEABBRV,
            },
            ...Object.fromEntries(names.map((name) => [name, valueIn(name)])),
          },
        })),
      );
    const layer = { fields: Object.keys(rows[0]!.attributes), rows, edited: 1_770_000_000_000 };
    mirror.layers.set(NRI_TRACTS, layer);
    const first = await run(['get', 'nri-tracts', ...got.split(' ').filter(Boolean), '--yes']);
    assert.match(first.stderr, /nri-tracts: loaded 1,116 records/);
    const warning = async () => (await checked(run, 'nri-tracts')).warning!;
    const usual = 'it has 62 rows, and about 85154 were expected';
    assert.equal(await warning(), usual);
    const isLeft = (name: string) => !/^DRGT_/.test(name);
    mirror.layers.set(NRI_TRACTS, { ...layer, fields: layer.fields.filter(isLeft) });
    assert.equal(await warning(), `${usual}; it has no column DRGT_RISKR, DRGT_RISKS, DRGT_AFREQ`);
    mirror.layers.set(NRI_TRACTS, {
      ...layer,
      rows: rows.filter(({ attributes }) => attributes.STATEABBRV !== 'DC'),
    });
    assert.match(await warning(), /; DC has 0 rows; 12 are loaded$/);
    mirror.layers.set(NRI_TRACTS, { ...layer, rows: rows.slice(15) });
    assert.match(await warning(), /; VA has 15 rows; 30 are loaded$/);
  });
}

test('data check fails for what was named, and not for what came along: the boundaries of a rating', async (t) => {
  const { run } = await setUp(t);
  // The mirror has no boundaries.
  const along = await run(['check', 'airQuality']);
  assert.match(along.stdout, /^areas +FAILED$/m);
  assert.match(along.stdout, /^air-quality +ok/m);
  assert.equal(along.code, 0, along.stdout);
  assert.equal((await run(['check', 'airQuality', 'areas'])).code, 6, 'named itself');
});

test('data check sees that the file of a downloaded state is gone', async (t) => {
  const { run, mirror } = await setUp(t);
  const body = Buffer.from('1. YEAR,2. TRIFD,12. LATITUDE,13. LONGITUDE\n2025,1,37,-78\n');
  for (const slice of ['US', 'VA', 'MD']) mirror.files.set(triFileOf(slice), { body, etag: '"1"' });
  await run(['get', 'tri', '--states', 'VA,MD', '--yes']);
  assert.match((await run(['check', 'tri'])).stdout, /^tri +ok +2025$/m);
  mirror.files.delete(triFileOf('MD'));
  assert.match(
    (await run(['check', 'tri'])).stdout,
    /^tri: the file of MD is gone \(https:[^ ]*2025_MD\/csv\)$/m,
  );
});

test('the states whose files are missing are named, and keep none of the others from coming', async (t) => {
  const { run, mirror } = await setUp(t);
  for (const state of ['DC', 'VA']) {
    const body = Buffer.from(
      `TRIFD,YEAR,ST,LATITUDE,LONGITUDE\n${state}1,2025,${state},38,-78.1\n`,
    );
    mirror.files.set(triFileOf(state), { body, etag: '"1"' });
  }
  const got = await run(['get', 'tri', '--states', 'VA,CA,MD,DC', '--yes']);
  assert.equal(got.code, 6);
  assert.match(got.stderr, /tri: loaded 2 records of DC, VA, 2025\.\n/);
  assert.match(
    got.stderr,
    /_CA\/csv is missing, and so are newer files\. Not downloaded: CA, MD\n/,
  );
  // A server that does not answer is not asked for each state in turn.
  mirror.requests.length = 0;
  mirror.fail(/^data\.epa\.gov.*tri_basic/, 99, (_, response) => response.writeHead(503).end());
  const down = await run(['get', 'tri', '--states', 'VA,CA,DC', '--yes']);
  assert.match(down.stderr, /_CA\/csv answered with status 503\. Not downloaded: CA, DC, VA\n/);
  assert.equal(
    mirror.requests.filter(({ target }) => target.startsWith('data.epa.gov')).length,
    12,
  );
});

test('a mirror that cannot be reached is named, not the agency that was not asked', async (t) => {
  const { options } = await setUp(t);
  const check = ['data', 'check', 'radon', '--mirror', 'http://127.0.0.1:9'];
  const { code, stdout, stderr } = await perilbook(check, options);
  assert.equal(code, 6);
  assert.match(stdout, /^radon: 127\.0\.0\.1:9 cannot be reached: connect ECONNREFUSED/m);
  assert.match(stderr, /Check the network, .*--mirror/);
});

test('data remove takes away what a source brought, and what was loaded by its name', async (t) => {
  const { run, options, folder, downloads } = await setUp(t);
  await run(['get', 'air-quality', '--yes']);
  const misspelt = await run(['remove', 'air-qualty']);
  assert.match(
    misspelt.stderr,
    /no source or loaded dataset "air-qualty"; did you mean air-quality\?/,
  );
  assert.match((await run(['remove', 'air-quality'])).stderr, /air-quality: removed airQuality/);
  assert.deepEqual(await datasetsOf(options), []);
  assert.equal(existsSync(join(downloads, 'air-quality')), false);
  assert.match((await run(['remove', 'air-quality'])).stderr, /nothing of it was here/);

  await run(['get', 'air-quality', '--yes']);
  options.clock.move(1_000);
  writeFileSync(join(folder, 'annual_aqi_by_county_2025.zip'), airZip(361));
  const load = ['data', 'load', 'air-quality', 'annual_aqi_by_county_2025.zip', '--replace'];
  const loaded = await perilbook(load, options);
  assert.equal(loaded.code, 0, loaded.stderr);
  assert.match((await run(['remove', 'air-quality'])).stderr, /removed airQuality/);
  assert.equal((await datasetsOf(options)).length, 0);
  assert.equal(existsSync(join(downloads, 'air-quality')), false);

  await run(['get', 'air-quality', '--yes']);
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(folder, `perilbook/data.db${end}`), { force: true });
  assert.match(
    (await run(['remove', 'air-quality'])).stderr,
    /removed its downloads/,
    'without a data file',
  );
  assert.equal(existsSync(join(downloads, 'air-quality')), false);
});

test('data names a few of many topics and states: the list stays narrower than a screen', async (t) => {
  const { options, folder } = await setUp(t);
  await perilbook(['data', 'load', 'sample'], options);
  const lines = (await perilbook(['data'], options)).stdout.replaceAll(folder, '').split('\n');
  const areas = lines.find((line) => line.includes('areas (county)'))!;
  assert.match(areas, /^ {2}\w+, \w+ and \d+ others +areas \(county\)/);
  for (const line of lines.slice(1)) assert.ok(line.indexOf('sample-4') < 90, line);
});

test('sample data beside real data is named', async (t) => {
  const { run, options, folder } = await setUp(t);
  mkdirSync(join(folder, 'perilbook'), { recursive: true });
  const database = openDataDatabase(join(folder, 'perilbook/data.db'));
  const made = {
    name: 'radon',
    source: 'made up',
    vintage: 'x',
    licence: '',
    sample: true,
  } as const;
  importDataset(
    database,
    { kind: 'radon', info: made, records: [{ countyGeoid: '51001', zone: 1 }] },
    options.clock,
  );
  database.close();
  assert.match(
    (await run(['get', 'air-quality', '--yes'])).stderr,
    /also holds sample data \(made up\): radon\./,
  );
});

/** What `data check` says of one source. */
async function checked(run: Awaited<ReturnType<typeof setUp>>['run'], name: string) {
  const { code, stdout } = await run(['check', name, '--json']);
  const { sources } = JSON.parse(stdout) as {
    sources: { source: string; ok: boolean; warning?: string }[];
  };
  const allOk = sources.every(({ ok }) => ok);
  assert.equal(allOk, code === 0);
  return { code, warning: sources.find(({ source }) => source === name)!.warning };
}

test('data check warns about a source that missed its cadence, by its last change or the year in its address', async (t) => {
  const { mirror, run } = await setUp(t);
  const body = airZip(360);
  mirror.files.set(AIR, { body, lastModified: 'Fri, 15 May 2026 00:00:00 GMT' });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 0, warning: undefined });
  mirror.files.set(AIR, { body, lastModified: 'Wed, 01 Jan 2025 00:00:00 GMT' });
  const warning = 'its last change is of 2025-01-01, and it is published twice a year';
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning });
  const { stdout } = await run(['check', 'air-quality']);
  assert.match(
    stdout,
    /^air-quality {2}WARNING +2025 +2025-01-01\nair-quality: its last change is of 2025-01-01/m,
  );
  mirror.files.delete(AIR);
  mirror.files.set(AIR_2024, { body: airZip(360, 2024) });
  assert.match((await checked(run, 'air-quality')).warning!, /its newest data is of 2024-12-31/);
  const fires = { fields: ['OBJECTID', 'attr_POOState'], rows: [{ attributes: {} }] };
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 4, 30) });
  assert.equal((await checked(run, 'wildfire-perimeters')).code, 0);
  mirror.layers.set(FIRES, { ...fires, edited: Date.UTC(2026, 2, 1) });
  const { warning: late } = await checked(run, 'wildfire-perimeters');
  assert.match(late!, /last change is of 2026-03-01, and it is published daily/);
  // Without a date nothing is claimed.
  mirror.layers.set(FIRES, { ...fires, edited: null });
  assert.equal((await checked(run, 'wildfire-perimeters')).code, 0);
});

test('data check warns when newer data is published than is here, until it is updated', async (t) => {
  const { mirror, options, run } = await setUp(t);
  mirror.files.delete(AIR);
  mirror.layers.delete(RADON);
  const OUTDATED = 'newer data is published: run perilbook data update air-quality';
  mirror.files.set(AIR_2024, {
    body: airZip(360, 2024),
    lastModified: 'Fri, 15 May 2026 00:00:00 GMT',
    etag: '"1"',
  });
  assert.equal((await run(['get', 'air-quality', '--yes'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);
  mirror.files.set(AIR_2024, {
    body: airZip(360, 2024),
    lastModified: 'Sat, 16 May 2026 00:00:00 GMT',
    etag: '"2"',
  });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run(['update'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);
  mirror.files.set(AIR, {
    body: airZip(360),
    lastModified: 'Sun, 17 May 2026 00:00:00 GMT',
    etag: '"3"',
  });
  assert.deepEqual(await checked(run, 'air-quality'), { code: 6, warning: OUTDATED });
  assert.equal((await run(['update'])).code, 0);
  assert.equal((await checked(run, 'air-quality')).code, 0);

  mirror.layers.set(RADON, { ...radonLayer(2), edited: 1_000 });
  // The topic's boundaries are not at the mirror.
  assert.match((await run(['get', 'radon', '--yes'])).stderr, /radon: loaded 3 records/);
  assert.doesNotMatch((await checked(run, 'radon')).warning!, /newer data/);
  options.clock.move(1_000);
  mirror.layers.set(RADON, { ...radonLayer(2), edited: 2_000 });
  assert.match(
    (await checked(run, 'radon')).warning!,
    /newer data is published: run perilbook data update radon/,
  );
});

test('the file of the last tornado year is taken beside that of all years, where the page links to it', async (t) => {
  const { run, mirror } = await setUp(t);
  const row = (day: string) =>
    `1,2025,${day},2025-${day.replace(',', '-')},20:00:00,3,OK,40,0,0,0,0,0,0,35.1,-97.1,0,0,1,50,1,1,1,1,0,0,0,0\n`;
  const page = (...names: string[]) => {
    const links = names.map((name) => `<a href="/wcm/data/${name}">${name}</a>`);
    mirror.files.set('www.spc.noaa.gov/wcm/', { body: Buffer.from(`<html>${links.join('\n')}`) });
  };
  const [all, last] = ['1950-2025_actual_tornadoes.csv', '2025_torn.csv'];
  mirror.files.set(`www.spc.noaa.gov/wcm/data/${all}`, {
    body: Buffer.from(row('03,14') + row('09,09')),
    etag: '"a"',
  });
  mirror.files.set(`www.spc.noaa.gov/wcm/data/${last}`, {
    body: Buffer.from(row('09,09') + row('12,18')),
    etag: '"l"',
  });
  page(all);
  assert.match(
    (await run(['get', 'tornado', '--yes'])).stderr,
    /tornado: loaded 2 records, 2025, to 2025-09-09/,
  );
  page(all, '2024_torn.csv', last);
  assert.match(
    (await run(['update', 'tornado'])).stderr,
    /tornado: loaded 3 records, 2025\b(?!, to)/,
  );
  assert.doesNotMatch((await run(['update', 'tornado'])).stderr, /loaded/);
});

test('a source that was downloaded by state and is one file now is asked for the whole US, once', async (t) => {
  const { downloads } = await setUp(t);
  const entry = (file: string) => ({
    file,
    url: 'https://x',
    bytes: 1,
    fetchedAt: 1,
    checkedAt: 1,
  });
  for (const name of ['cell-towers', 'ust-facilities']) {
    writeManifest(
      join(downloads, name),
      new Map(['VA', 'MD'].map((state) => [state, entry(`${state}.geojson`)])),
    );
  }
  const found = downloadedSources(SOURCES, downloads).map(({ source, slices }) => [
    source.name,
    slices,
  ]);
  assert.deepEqual(found, [
    ['ust-facilities', ['VA', 'MD']],
    ['cell-towers', ['US']],
  ]);
});
