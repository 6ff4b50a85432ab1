import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderWith, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const BOOK = 'id,lat,lng\n1,34.0522,-118.2437\n2,34.05221,-118.24371\n';

test('plan prices a bare CSV and spends nothing: no service is started, no store row is written', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK });
  const words = ['plan', 'book.csv', '--topics', 'wildfire,park', '--store', 'store.db'];
  const { code, stdout } = await perilbook([...words, '--json'], { folder });
  assert.equal(code, 0);
  const plan = JSON.parse(stdout);
  assert.deepEqual(
    [plan.rows, plan.located, plan.cells, plan.cells_cached, plan.credits, plan.calls, plan.fits],
    [2, 2, 1, 0, 2, { single: 2, standard: 0, enterprise: 0 }, true],
  );
  assert.deepEqual(Object.keys(plan.tiers), ['standard', 'enterprise', 'cheapest', 'fewest_calls', 'planned']);
  assert.match((await perilbook(words, { folder })).stdout, /2 credits: fits this period\.\n\n/);
});

test('off a terminal, spending needs --yes or a budget', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK }, 'store.db');
  const words = ['run', 'book.csv', '-t', 'wildfire', '--store', 'store.db', '-o', 'out.csv'];
  const refused = await perilbook(words, { folder });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /would spend 1 credit without approval\n {2}Add --yes or --budget 1/);
  assert.equal((await perilbook([...words, '--yes'], { folder })).code, 0);
  assert.equal((await perilbook(words, { folder })).code, 0, 'nothing is left to spend, so nothing is asked');
});

test('a book of a header alone comes back with the columns, and nothing is spent', async (t) => {
  const folder = folderWith(t, { 'book.csv': 'id,lat,lng\n' }, 'store.db');
  const words = ['run', 'book.csv', '-t', 'radon', '--store', 'store.db', '-o', 'out.csv'];
  const { code, stderr } = await perilbook(words, { folder });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /wrote {4}out\.csv: 0 rows\n.*planned {2}0 credits\n/s);
  const columns = 'hazard_status,hazard_note,hazard_as_of,radon_zone';
  assert.ok(readFileSync(join(folder, 'out.csv'), 'utf8').startsWith(`id,lat,lng,${columns}`));
});

test('what is wrong in rows that are looked up all the same is told apart, and what areas saved is said at the end', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const rows = ['29.7604,-95.3698,48201000100,5', '29.7504,-95.3698,48201000100,none', ',,48201000100,1'];
  writeFileSync(join(folder, 'book.csv'), `lat,lng,tract,tiv\n${rows.join('\n')}\n`);
  const words = ['book.csv', '-t', 'wildfire', '--store', 'store.db', '--order-by', 'tiv'];
  const byTract = ['--tract', 'tract', '--no-counts'];
  const { code, stderr } = await perilbook(['run', ...words, ...byTract, '-o', 'out.csv', '--yes'], { folder });
  assert.equal(code, 3, stderr);
  assert.match(stderr, /cannot be looked up \(.*\):\n.*\n +4 +1 {2}Latitude or longitude is empty\.\n\n/);
  assert.match(
    stderr,
    /looked up, but have a problem \(.*\):\n.*\n +3 +1 {2}The value is not a number and counts as 0\.\n\n/,
  );
  assert.match(stderr, /saved {4}1 \(one answer per area\)\n/);
});

test('data goes to stdout only for -o -, words to stderr', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const { code, stdout, stderr } = await perilbook(['run', '-', '-t', 'wildfire', '--store', 'store.db', '-b', '5'], {
    folder,
    stdin: BOOK,
  });
  assert.equal(code, 0, stderr);
  assert.ok(stdout.startsWith('id,lat,lng,hazard_status,') && stdout.includes('\n1,34.0522,-118.2437,ok,'));
  assert.match(stderr, /wrote +stdout: 2 rows \(2 ok\)/);
});

test('an output can be enriched again: its columns are refreshed, not doubled', async (t) => {
  const folder = folderWith(t, { 'book.csv': BOOK }, 'store.db');
  const run = (from: string, to: string) =>
    perilbook(['run', from, '-t', 'wildfire', '--store', 'store.db', '-b', '5', '-o', to], { folder });
  await run('book.csv', 'once.csv');
  assert.equal((await run('once.csv', 'twice.csv')).code, 0);
  assert.equal(readFileSync(join(folder, 'twice.csv'), 'utf8'), readFileSync(join(folder, 'once.csv'), 'utf8'));
});

const mistakes: readonly [name: string, args: string[], code: number, says: RegExp][] = [
  ['a misspelt command', ['rnu', 'book.csv'], 2, /did you mean run\?/],
  ['a misspelt option', ['run', 'book.csv', '--topic', 'x'], 2, /Unknown option: --topic; did you mean --topics\?/],
  ['a misspelt topic', ['plan', 'book.csv', '-t', 'wildfir'], 2, /unknown topic "wildfir"; did you mean wildfire\?/],
  ['no input', ['plan'], 2, /Missing input file/],
  ['a missing input', ['plan', 'nothing.csv'], 2, /nothing\.csv/],
  ['a missing job file', ['plan', 'nothing.yaml'], 2, /Job file nothing\.yaml/],
  [
    'a setting that does not exist',
    ['plan', 'wrong.yaml'],
    2,
    /wrong\.yaml:2:\d+: .*unknown setting "topcis"; did you mean topics\?/,
  ],
  ['a key in the job file', ['plan', 'key.yaml'], 2, /does not belong in a job file|unknown setting "key"/],
  [
    'a key that is nowhere',
    ['run', 'book.csv', '--base-url', 'http://127.0.0.1:9', '--yes'],
    5,
    /PERILBOOK_API_KEY holds no API key/,
  ],
  ['a column that is taken', ['plan', 'taken.csv', '-t', 'wildfire'], 2, /already has a column wildfire_rating/],
];

for (const [name, args, code, says] of mistakes) {
  test(`${name}: exit code ${code}, and what to do`, async (t) => {
    const folder = folderWith(t, {
      'book.csv': BOOK,
      'taken.csv': BOOK.replace('id', 'wildfire_rating'),
      'wrong.yaml': 'input: book.csv\ntopcis: all\n',
    });
    writeFileSync(
      join(folder, 'key.yaml'),
      'input: book.csv\nservice: {base_url: "https://h.example", api_keys: [{key: secret}]}\n',
    );
    const store = args[0] === 'rnu' || args.includes('--topic') ? [] : ['--store', 'store.db'];
    const ended = await perilbook([...args, ...store], { folder });
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, says);
    assert.doesNotMatch(ended.stderr, /this is a bug/);
  });
}

test('topics lists 37; cache stats and prune work', async (t) => {
  const folder = temporaryFolder(t);
  const topics = await perilbook(['topics', '--json']);
  assert.equal(JSON.parse(topics.stdout).length, 37);
  writeFileSync(join(folder, 'book.csv'), BOOK);
  provideSampleData(join(folder, 'store.db'));
  await perilbook(['run', 'book.csv', '-t', 'wildfire', '--store', 'store.db', '-b', '5'], { folder });
  const stats = await perilbook(['cache', 'stats', '--json', '--store', 'store.db'], { folder });
  assert.deepEqual(JSON.parse(stats.stdout).credits, { charged: 1, unknown: 0, in_flight: 0 });
  const exported = await perilbook(['cache', 'export', '--store', 'store.db'], { folder });
  assert.equal(JSON.parse(exported.stdout).topic, 'wildfire');
  assert.equal((await perilbook(['cache', 'prune', '--store', 'store.db'], { folder })).code, 2);
  const pruned = await perilbook(['cache', 'prune', '--older-than', '1d', '--json', '--store', 'store.db'], { folder });
  assert.deepEqual(JSON.parse(pruned.stdout), { forgotten: 0 });
});

test('--no-header: columns are named by number, and no line is taken for a header', async (t) => {
  const folder = folderWith(t, { 'book.csv': '1,34.0522,-118.2437\n2,,\n' }, 'store.db');
  const words = [
    'run',
    'book.csv',
    '--no-header',
    '--lat',
    '2',
    '--lng',
    '3',
    '-t',
    'wildfire',
    '-b',
    '5',
    '--max-invalid',
    '50%',
  ];
  const { code, stderr } = await perilbook([...words, '--store', 'store.db', '-o', 'out.csv'], { folder });
  assert.equal(code, 0, stderr);
  const lines = readFileSync(join(folder, 'out.csv'), 'utf8').trimEnd().split('\n');
  assert.match(lines[0]!, /^1,34\.0522,-118\.2437,ok,sample data,/);
  assert.match(lines[1]!, /^2,,,invalid,/);
  assert.equal(lines.length, 2);
});

test('status and quota refuse options that have no effect on them', async () => {
  for (const [command, option] of [
    ['status', '--topics'],
    ['status', '--budget'],
    ['quota', '--prefix'],
    ['quota', '--output'],
  ] as const) {
    const { code, stderr } = await perilbook([command, option, '1']);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`Unknown option: ${option}`));
  }
});
