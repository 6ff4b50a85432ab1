import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { createCellAreaFinder } from '../../src/data/tables/cell-area-finder.ts';
import { openDataDatabase, openDataReadOnly } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../../src/data/tables/records.ts';
import { cellOf, type Location } from '../../src/geo/coordinates.ts';
import { between, randomOf } from '../../src/sample/random.ts';
import { noRealData, realFile } from '../real-data.ts';
import { copySampleDatabase, provideSampleData } from '../sample-database.ts';
import { usage } from '../service/account-usage.ts';
import { createAccount, createKey } from '../service/file-accounts.ts';
import { AREAS, info, openAccountsOf, openDatabase, releaseLater, start } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const BOOK = 'lat,lng\n40.25,-99.75\n40.26,-99.75\n40.27,-99.75\n40.3,-99.5\n37.5,-77.4\n';

function setUp(t: TestContext, records: readonly AreaRecord[], sample = false) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'book.csv'), BOOK);
  if (records.length > 0) {
    using database = openDataDatabase(join(folder, 'perilbook/data.db'));
    importDataset(database, { kind: 'areas', info: info('areas', sample), records }, systemClock);
  }
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  const paid = ['--topics', 'drought,hail', '--no-counts', '--base-url', 'http://127.0.0.1:9/', '--verify-areas', '0'];
  return {
    folder,
    plan: (...args: string[]) => perilbook(['plan', 'book.csv', ...paid, ...args], options),
    options,
  };
}

test('the plan says how many places have a tract, lie on a border, and lack boundaries, with the command', async (t) => {
  const { plan } = setUp(t, AREAS);
  const { stdout, code } = await plan('--by-tract');
  assert.equal(code, 0);
  assert.match(stdout, / boundaries +3 places in an area; bought one by one: 1 on a border, 1 in states without/);
  assert.match(stdout, /boundaries of the other states: perilbook data get areas --for book\.csv\n/);
  const planned = JSON.parse((await plan('--by-tract', '--json')).stdout);
  assert.equal(planned.credits, 3 * 2);
  assert.deepEqual(planned.areas, {
    ...{ representatives: 1, verified: 0, spared: 2 },
    ...{ found: 3, near_border: 1, in_no_area: 0, no_boundaries: 1 },
  });
  const byCounty = JSON.parse((await plan('--by-county', '--json')).stdout);
  assert.deepEqual([byCounty.areas.found, byCounty.areas.near_border, byCounty.credits], [4, 0, 5 * 2]);
});

test('without boundaries, an error names the command before the input is read', async (t) => {
  const { plan, folder } = setUp(t, []);
  writeFileSync(join(folder, 'book.csv'), 'no location here\n');
  const { code, stderr } = await plan('--by-tract');
  assert.equal(code, 2);
  assert.match(stderr, /There are no census tract boundaries on this machine\n.*data get areas --for book\.csv/);
  const counties = setUp(
    t,
    AREAS.filter(({ level }) => level === 'county'),
  );
  const one = await counties.plan('--by-tract');
  assert.match(one.stderr, /There are county boundaries on this machine, but no census tract boundaries/);
  assert.match(one.stderr, /data get areas --for book\.csv, or set areas: county/);
  const sample = await setUp(t, AREAS, true).plan('--by-tract');
  assert.match(sample.stderr, /no census tract boundaries on this machine/, 'sample areas are none of a paid service');
});

test('only one of the ways to know an area is taken', async (t) => {
  const { plan } = setUp(t, AREAS);
  const both = await plan('--by-tract', '--by-county');
  assert.match(both.stderr, /--by-tract cannot be combined with --by-county/);
  assert.match((await plan('--by-tract', '--tract', 'x')).stderr, /--by-tract cannot be combined with --tract\n/);
});

/** The file of the places with a column of codes. */
function writeBooks(folder: string, places: readonly Location[], codeOf: (place: Location) => string | null): void {
  const lines = places.map((place) => `${place.lat},${place.lng}`);
  writeFileSync(join(folder, 'book.csv'), `lat,lng\n${lines.join('\n')}\n`);
  const coded = places.map((place, index) => `${lines[index]},${codeOf(place) ?? ''}`);
  writeFileSync(join(folder, 'coded.csv'), `lat,lng,CODE\n${coded.join('\n')}\n`);
}

/** Status, note and values of each row; without the input's columns and the time of the answers. */
function addedOf(file: string, columns: number): string[][] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').slice(columns))
    .map((fields) => fields.filter((_, index) => index !== 2));
}

test('with sample data, a file without codes costs what the one with codes costs', async (t) => {
  const folder = temporaryFolder(t);
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  for (const store of ['a', 'b']) provideSampleData(join(folder, store, 'store.db'));
  copySampleDatabase(join(folder, 'perilbook/data.db'));
  using database = openDataReadOnly(join(folder, 'perilbook/data.db'));
  const find = createCellAreaFinder(database, 'county', 4);
  const random = randomOf(3, 'book');
  const places = Array.from({ length: 400 }, () => ({
    lat: Number(between(random, 39.6, 39.9).toFixed(4)),
    lng: Number(between(random, -105.1, -104.8).toFixed(4)),
  })).filter((place) => find(cellOf(place, 4)).lacks === null);
  assert.ok(places.length > 100, String(places.length));
  writeBooks(folder, places, (place) => find(cellOf(place, 4)).county);
  const run = async (file: string, store: string, ...args: string[]) => {
    const wanted = ['--topics', 'radon,airQuality', '--verify-areas', '2 %', '-o', `${store}.out.csv`];
    const rest = ['--store', `${store}/store.db`, '--budget', '5000', '--json'];
    const { stdout, stderr } = await perilbook(['run', file, ...wanted, ...rest, ...args], options);
    assert.ok(stdout, stderr);
    return JSON.parse(stdout).credits_spent as number;
  };
  const found = await run('book.csv', 'a', '--by-county');
  assert.equal(found, await run('coded.csv', 'b', '--county', 'CODE'));
  assert.ok(found < places.length, `${found} credits for ${places.length} places`);
  assert.deepEqual(addedOf(join(folder, 'a.out.csv'), 2), addedOf(join(folder, 'b.out.csv'), 3));
});

test('with real tracts, the service counts the same credits with codes and without', {
  skip: noRealData,
}, async (t) => {
  const folder = temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  for (const [loader, file, loaded] of [
    ['areas', 'boundaries/va_tracts_tiger.geojson', /: 61 rows\./],
    ['nri', 'nri/NRI_Table_Counties_Virginia.csv', /: 133 rows, stored as 2,394 records\./],
  ] as const) {
    const { code, stderr } = await perilbook(['data', 'load', loader, realFile(file)], options);
    assert.deepEqual([code, loaded.test(stderr)], [0, true], stderr);
  }
  const data = openDatabase(t, join(folder, 'perilbook/data.db'));
  const accounts = openAccountsOf(t, join(folder, 'perilbook/data.db'));
  const find = createCellAreaFinder(data, 'tract', 4);
  const random = randomOf(4, 'book');
  const places = Array.from({ length: 300 }, () => ({
    lat: Number(between(random, 37.9, 38.4).toFixed(4)),
    lng: Number(between(random, -78.8, -78.2).toFixed(4)),
  })).filter((place) => find(cellOf(place, 4)).lacks === null);
  writeBooks(folder, places, (place) => find(cellOf(place, 4)).tract);
  const service = await start(t, { data, accounts, clock: systemClock });
  const run = async (file: string, name: string, ...args: string[]) => {
    createAccount(accounts, { name, subscription: customSubscription(100_000, 100_000) }, systemClock);
    const { key } = createKey(accounts, name, ['bundle', ...TOPIC_SLUGS], systemClock);
    writeFileSync(join(folder, 'key'), key);
    const from = ['--base-url', service.url, '--api-key-file', 'key', '--store', `${name}.db`, '-o', `${name}.out.csv`];
    const wanted = ['--topics', 'drought,volcano', '--verify-areas', '0', '--budget', '5000'];
    const ended = await perilbook(['run', file, ...from, ...wanted, ...args], options);
    assert.equal(ended.code, 0, ended.stderr);
    return usage(accounts, name, systemClock.now()).totalCredits;
  };
  const tracts = new Set(places.map((place) => find(cellOf(place, 4)).tract));
  const found = await run('book.csv', 'found', '--by-tract');
  assert.deepEqual([found, await run('coded.csv', 'coded', '--tract', 'CODE')], [2 * tracts.size, 2 * tracts.size]);
  assert.ok(tracts.size > 5 && places.length > 5 * tracts.size, `${places.length} places in ${tracts.size} tracts`);
  assert.deepEqual(addedOf(join(folder, 'found.out.csv'), 2), addedOf(join(folder, 'coded.out.csv'), 3));
});
