import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { createCellAreaFinder } from '../../src/data/tables/cell-area-finder.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
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

/** Twenty-five places in a tract, one on its border, and one in another state. */
const BOOK = `lat,lng\n${Array.from({ length: 25 }, (_, number) => `40.2${number + 10},-99.75\n`).join('')}40.3,-99.5\n37.5,-77.4\n`;

function setUp(t: TestContext, records: readonly AreaRecord[], sample = false) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'perilbook'));
  writeFileSync(join(folder, 'book.csv'), BOOK);
  if (records.length > 0) {
    using database = openDataDatabase(join(folder, 'perilbook/data.db'));
    importDataset(database, { kind: 'areas', info: info('areas', sample), records }, systemClock);
  }
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  const paid = ['--topics', 'drought,hail', '--base-url', 'http://127.0.0.1:9/'];
  return {
    folder,
    plan: (...args: string[]) => perilbook(['plan', 'book.csv', ...paid, ...args], options),
    options,
  };
}

test('the plan says how many places have a tract, lie on a border, and lack boundaries, with the command', async (t) => {
  const { plan } = setUp(t, AREAS);
  const { stdout, code } = await plan('--areas', 'tract');
  assert.equal(code, 0);
  assert.match(stdout, / boundaries +25 places in an area; bought one by one: 1 on a border, 1 in states without/);
  assert.match(stdout, /boundaries of the other states: perilbook data get areas --for book\.csv\n/);
  const planned = JSON.parse((await plan('--areas', 'tract', '--json')).stdout);
  assert.equal(planned.credits, (1 + 20 + 2) * 2);
  assert.deepEqual(planned.areas, {
    ...{ representatives: 1, verified: 20, spared: 4 },
    ...{ areas_verified: 0, areas_differed: 0, each_place: false },
    ...{ found: 25, near_border: 1, in_no_area: 0, no_boundaries: 1 },
  });
  const byCounty = JSON.parse((await plan('--areas', 'county', '--json')).stdout);
  assert.deepEqual([byCounty.areas.found, byCounty.areas.near_border, byCounty.credits], [26, 0, 27 * 2]);
});

test('without boundaries, an error names the command before the input is read', async (t) => {
  const { plan, folder } = setUp(t, []);
  writeFileSync(join(folder, 'book.csv'), 'no location here\n');
  const { code, stderr } = await plan('--areas', 'tract');
  assert.equal(code, 2);
  assert.match(stderr, /There are no census tract boundaries on this machine\n.*data get areas --for book\.csv/);
  const counties = setUp(
    t,
    AREAS.filter(({ level }) => level === 'county'),
  );
  const one = await counties.plan('--areas', 'tract');
  assert.match(one.stderr, /There are county boundaries on this machine, but no census tract boundaries/);
  assert.match(one.stderr, /data get areas --for book\.csv, or set areas: county/);
  const sample = await setUp(t, AREAS, true).plan('--areas', 'tract');
  assert.match(sample.stderr, /no census tract boundaries on this machine/, 'sample areas are none of a paid service');
});

/** Status and values of each row; without the input's columns, the note and the time of the answers. */
function addedOf(file: string): string[][] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').filter((_, index) => index > 1 && index !== 3 && index !== 4));
}

function writeBook(folder: string, places: readonly Location[]): void {
  writeFileSync(join(folder, 'book.csv'), `lat,lng\n${places.map(({ lat, lng }) => `${lat},${lng}\n`).join('')}`);
}

test('with sample data, one answer a county gives what an answer for each place gives', async (t) => {
  const folder = temporaryFolder(t);
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  for (const store of ['a', 'b']) provideSampleData(join(folder, store, 'store.db'));
  copySampleDatabase(join(folder, 'perilbook/data.db'));
  const random = randomOf(3, 'book');
  writeBook(
    folder,
    Array.from({ length: 400 }, () => ({
      lat: Number(between(random, 39.6, 39.9).toFixed(4)),
      lng: Number(between(random, -105.1, -104.8).toFixed(4)),
    })),
  );
  const run = async (store: string, ...args: string[]) => {
    const rest = [
      '--service',
      'sample',
      '--topics',
      'radon,airQuality',
      '-o',
      `${store}.out.csv`,
      '--store',
      `${store}/store.db`,
    ];
    const { stdout, stderr } = await perilbook(
      ['run', 'book.csv', ...rest, '--budget', '5000', '--json', ...args],
      options,
    );
    assert.ok(stdout, stderr);
    return JSON.parse(stdout);
  };
  const { areas, credits_spent: shared } = await run('a', '--areas', 'county');
  const { credits_spent: each } = await run('b');
  assert.ok(shared < each / 4, `${shared} credits in place of ${each}`);
  assert.ok(areas.areas_verified >= 1 && areas.areas_differed === 0, JSON.stringify(areas));
  assert.deepEqual(addedOf(join(folder, 'a.out.csv')), addedOf(join(folder, 'b.out.csv')));
});

test('with real tracts, the service charges one answer a tract and twenty to verify, and the end says what they showed', {
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
  writeBook(folder, places);
  const service = await start(t, { data, accounts, clock: systemClock });
  const run = async (name: string, ...args: string[]) => {
    createAccount(accounts, { name, subscription: customSubscription(100_000, 100_000) }, systemClock);
    const { key } = createKey(accounts, name, ['bundle', ...TOPIC_SLUGS], systemClock);
    writeFileSync(join(folder, 'key'), key);
    const from = ['--base-url', service.url, '--api-key-file', 'key', '--store', `${name}.db`, '-o', `${name}.out.csv`];
    const ended = await perilbook(
      ['run', 'book.csv', ...from, '--topics', 'drought,volcano', '--budget', '5000', ...args],
      options,
    );
    assert.equal(ended.code, 0, ended.stderr);
    return { ...ended, charged: usage(accounts, name, systemClock.now()).totalCredits };
  };
  const tracts = new Set(places.map((place) => find(cellOf(place, 4)).tract));
  assert.ok(tracts.size > 5 && places.length > 5 * tracts.size, `${places.length} places in ${tracts.size} tracts`);
  const shared = await run('shared', '--areas', 'tract');
  assert.equal(shared.charged, 2 * (tracts.size + 20));
  assert.match(shared.stderr, /Saved: [^\n]*\(one answer per area\)\.\nAreas: \d+ areas verified, 0 differed\.\n/);
  assert.equal((await run('each')).charged, 2 * places.length);
  assert.deepEqual(addedOf(join(folder, 'shared.out.csv')), addedOf(join(folder, 'each.out.csv')));
});
