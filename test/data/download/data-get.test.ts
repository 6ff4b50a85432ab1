import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { perilbook } from '../../cli/command-line.ts';
import { until } from '../../until.ts';
import { sendPage } from './agency-mirror.ts';
import { AIR, airZip, datasetsOf, type Outcome, setUp } from './data-scene.ts';

/* What `perilbook data get` and `data update` download. */

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

test('a mirror that cannot be reached is named, not the agency that was not asked', async (t) => {
  const { options } = await setUp(t);
  const check = ['data', 'check', 'radon', '--mirror', 'http://127.0.0.1:9'];
  const { code, stdout, stderr } = await perilbook(check, options);
  assert.equal(code, 6);
  assert.match(stdout, /^radon: 127\.0\.0\.1:9 cannot be reached: connect ECONNREFUSED/m);
  assert.match(stderr, /Check the network, .*--mirror/);
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
