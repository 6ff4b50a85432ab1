import assert from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { geojson } from '../loaders/loading.ts';
import { setUp } from './data-scene.ts';

/* Downloads of another machine, and files at addresses of one’s own. */

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
