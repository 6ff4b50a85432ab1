import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith } from '../sample-database.ts';
import { perilbook } from './command-line.ts';

const BOOK = 'id,lat,lng,tiv\n1,34.0522,-118.2437,5\n2,34.1,-118.3,6\n';

test('what stands behind -- is a file, whatever it begins with', async (t) => {
  const folder = folderWith(t, { '-dash.csv': BOOK });
  const { code, stdout } = await perilbook(['plan', '--json', '--store', 's.db', '--', '-dash.csv'], { folder });
  assert.deepEqual([code, JSON.parse(stdout).rows], [0, 2]);
});

test('a terminal of width 0 does not know its width: 80 columns are taken', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK });
  const words = ['plan', 'book.csv', '--store', 's.db'];
  const zero = await perilbook(words, { folder, columns: 0 });
  assert.equal(zero.stdout, (await perilbook(words, { folder, columns: 80 })).stdout);
});

test("the library's own words never reach the user", async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK });
  const cases: readonly (readonly [words: readonly string[], says: RegExp])[] = [
    [['--delimiter', 'ab'], /--delimiter ab: must be exactly one character/],
    [['--time-to-live', 'wildfire'], /--time-to-live wildfire: must be a time such as 90s/],
    [['--topics', 'flood'], /unknown topic "flood"; did you mean coastalFlood or riverineFlood\?/],
    [['--coordinates', 'lenent'], /"lenent" is not strict or lenient; did you mean lenient\?/],
    [['--header-line', 'x'], /--header-line expects a number/],
    [['--header-line', '0'], /--header-line 0: must be at least 1/],
    [['--lat', 'lat', '--location', 'x'], /--location cannot be combined with --lat and --lng/],
  ];
  for (const [words, says] of cases) {
    const { code, stderr } = await perilbook(['plan', 'book.csv', ...words], { folder });
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
  const revoked = await perilbook(['service', 'key', 'revoke', '--key', 'abc', '--db', 's.db'], { folder });
  assert.match(revoked.stderr, /--key expects a number/);
  for (const yaml of [
    'topics: 5',
    'location: a',
    'tiers: x',
    'service: 5',
    'input: 5',
    'input: []',
    'input: [{}]',
    'areas: {tract: 5}',
    'sheet: {}',
    'prefix: null',
    'budget: .nan',
    'time_to_live: {wildfire: null}',
    'delimiter: ""',
  ]) {
    writeFileSync(join(folder, 'job.yaml'), yaml);
    const { stdout } = await perilbook(['job', 'check', 'job.yaml'], { folder });
    assert.doesNotMatch(stdout, /received|Invalid|Too (?:big|small)|undefined|object|record/, `${yaml}: ${stdout}`);
    assert.match(stdout, /cannot run/);
  }
});

test('with --json an error is one JSON value on stdout, in every command', async (t) => {
  const folder = folderWith(t, { 'book.csv': 'id,lat\n1,2\n', 'job.yaml': 'input: book.csv\nbudgte: 5\n' });
  const cases: readonly (readonly [words: readonly string[], error: object])[] = [
    [['plan', 'book.csv'], { code: 'INPUT_COLUMNS' }],
    [['plan', 'none.csv'], { code: 'INPUT_UNREADABLE', file: join(folder, 'none.csv') }],
    [['run', 'job.yaml'], { code: 'JOB_FILE', file: 'job.yaml', line: 2, column: '1' }],
    [['run', 'book.csv', '-o', '-'], { code: 'USAGE' }],
    [['status', '--store', 'book.csv'], { code: 'STORE_UNUSABLE' }],
    [['quota', 'none.yaml'], { code: 'JOB_FILE', file: 'none.yaml' }],
    [['job', 'check'], { code: 'USAGE' }],
    [['cache', 'prune'], { code: 'USAGE' }],
    [['data', '--db', 'book.csv'], { code: 'SERVICE_DATA' }],
    [['topics', '--nonsense'], { code: 'USAGE' }],
    [['nonsense'], { code: 'USAGE' }],
  ];
  for (const [words, expected] of cases) {
    const { code, stdout, stderr } = await perilbook([...words, '--json'], { folder });
    const { error } = JSON.parse(stdout);
    assert.notEqual(code, 0);
    assert.deepEqual({ ...error, ...expected }, error, `${words.join(' ')}: ${stdout}`);
    assert.ok(error.message.length > 5 && error.hint.length > 5);
    assert.ok(stderr.includes(error.message), 'people are told too');
  }
});

test('plan and summary name the columns that were used, and what was assumed', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK }, 's.db');
  const words = ['book.csv', '--order-by', 'tiv', '--store', 's.db'];
  const used = { lat: 'lat', lng: 'lng', tract: null, county: null, value: ['tiv'] };
  const plan = await perilbook(['plan', ...words, '--json'], { folder });
  assert.deepEqual(JSON.parse(plan.stdout).columns, used);
  const run = await perilbook(['run', ...words, '-t', 'radon', '-o', 'o.csv', '--yes', '--json'], { folder });
  assert.deepEqual(JSON.parse(run.stdout).columns, used);
  const assumed = (await perilbook(['plan', ...words], { folder })).stdout;
  assert.match(
    assumed,
    /\nDefaults used: topics natural \(--topics\); subscription starter, 10,000 credits a month \(--subscription\)\.\n/,
  );
  const said = await perilbook(['plan', ...words, '-t', 'radon', '--subscription', 'starter'], { folder });
  assert.doesNotMatch(said.stdout, /assumed/);
});

test('a sample account that is used up says how to go on', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK }, 's.db');
  const words = ['book.csv', '-t', 'radon', '--store', 's.db', '--reserve', '9999', '-o', 'o.csv', '--yes'];
  assert.match(
    (await perilbook(['plan', ...words.slice(0, -1)], { folder })).stdout,
    /The free sample account has too few credits.*--subscription professional/,
  );
  const { stderr, code } = await perilbook(['run', ...words], { folder });
  assert.equal(code, 4);
  assert.match(
    stderr,
    /resume after .*\nThe free sample account has too few credits\. --subscription professional gives it 100,000/,
  );
  assert.match(readFileSync(join(folder, 'o.csv'), 'utf8'), /deferred/);
  const custom = 'input: book.csv\nsubscription: {credits_per_month: 5, credits_per_minute: 60}\nstore: s.db\n';
  writeFileSync(join(folder, 'job.yaml'), custom);
  assert.equal(
    JSON.parse((await perilbook(['quota', 'job.yaml', '--json'], { folder })).stdout).subscription,
    'custom',
  );
});
