import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDataDatabase } from '../../../src/data/tables/data-database.ts';
import { importDataset } from '../../../src/data/tables/import-dataset.ts';
import { perilbook } from '../../cli/command-line.ts';
import { copySampleDatabase } from '../../sample-database.ts';
import { airZip, datasetsOf, setUp } from './data-scene.ts';

/* What `perilbook data` lists, loads by hand and removes. */

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
  copySampleDatabase(join(folder, 'perilbook/data.db'));
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
