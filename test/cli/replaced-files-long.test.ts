import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { provideLocalData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { perilbook } from './command-line.ts';

const INPUT = 'id,lat,lng\n1,38.9,-77.03\n2,39.1,-77.2\n';

/** A folder with an input, and a data folder with local data: runs cost nothing. */
function scene(t: TestContext) {
  const folder = temporaryFolder(t);
  const home = join(folder, 'home');
  provideLocalData(home);
  writeFileSync(join(folder, 'in.csv'), INPUT);
  const path = (name: string) => join(folder, name);
  return {
    folder,
    path,
    read: (name: string) => readFileSync(path(name), 'utf8'),
    write: (name: string, text: string) => writeFileSync(path(name), text),
    perilbook: (...args: string[]) => perilbook(args, { folder, env: { XDG_DATA_HOME: home } }),
  };
}

const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** A job, and its files, all of which exist. */
async function jobScene(t: TestContext) {
  const files = scene(t);
  const { path, write } = files;
  write('key.txt', 'a-key\n');
  write('secret.txt', 'a-secret\n');
  write('notify.sh', '#!/bin/sh\ncat > told.json\n');
  chmodSync(path('notify.sh'), 0o755);
  symlinkSync('key.txt', path('link-to-key.csv'));
  linkSync(path('key.txt'), path('second-name-of-key.csv'));
  const service = { base_url: 'http://127.0.0.1:9', api_keys: [{ file: 'key.txt' }] };
  const settings = { input: 'in.csv', topics: 'wildfire', store: 'store.db', budget: 0, service };
  write('job.yaml', JSON.stringify({ ...settings, on_finish: ['./notify.sh'] }));
  assert.equal(
    (await files.perilbook('run', 'in.csv', '-t', 'wildfire', '--store', 'store.db')).code,
    0,
  );
  const account = [
    'account',
    'create',
    '--account',
    'acme',
    '--subscription',
    'starter',
    '--accounts',
    'accounts.db',
  ];
  const made = await files.perilbook('service', ...account);
  assert.equal(made.code, 0, made.stderr);
  const other = new Database(path('other.db'));
  other.exec('CREATE TABLE policies (id)');
  other.close();
  write('other.db-journal', '');
  return files;
}

/** Each way to write a file over one that the job of `job.yaml` reads. */
const WAYS: Readonly<Record<string, (file: string) => string[]>> = {
  'run -o': (file) => ['run', 'job.yaml', '-o', file],
  'run --report': (file) => ['run', 'job.yaml', '-o', 'new.csv', '--report', file],
  'report --report': (file) => ['report', 'job.yaml', '--report', file],
};

const OWN_FILES: readonly (readonly [file: string, message: RegExp])[] = [
  ['in.csv', /is the input itself/],
  ['key.txt', /holds an API key of the job/],
  ['link-to-key.csv', /holds an API key of the job/],
  ['second-name-of-key.csv', /holds an API key of the job/],
  ['job.yaml', /is the job file/],
  ['notify.sh', /is run by on_finish/],
  ['store.db', /holds the store/],
  ['accounts.db', /is a SQLite database/],
  ['other.db', /is a SQLite database/],
  ['other.db-journal', /belongs to a SQLite database/],
];

for (const [way, commandOf] of Object.entries(WAYS)) {
  test(`${way} never replaces a file that the job reads or a database, even with --force`, async (t) => {
    const { path, perilbook } = await jobScene(t);
    for (const [file, message] of OWN_FILES) {
      const before = digestOf(path(file));
      // What is refused with --force is refused without: the check is made before the one that --force passes.
      const { code, stderr } = await perilbook(...commandOf(file), '--force');
      assert.deepEqual(
        [code, /\[(\w+)\]/.exec(stderr)?.[1]],
        [2, 'OUTPUT_UNWRITABLE'],
        `${file}: ${stderr}`,
      );
      assert.match(stderr, message);
      assert.equal(digestOf(path(file)), before, file);
    }
    assert.ok(!existsSync(path('new.csv')));
  });
}

test('a database of another program becomes neither a store, nor a data file, nor a file of accounts', async (t) => {
  const { path, perilbook } = await jobScene(t);
  const before = digestOf(path('other.db'));
  const cases = [
    ['run', 'in.csv', '-t', 'wildfire', '-o', 'new.csv', '--store', 'other.db'],
    ['data', 'load', 'sample', '--db', 'other.db'],
    [
      'service',
      'account',
      'create',
      '--account',
      'a',
      '--subscription',
      'starter',
      '--accounts',
      'other.db',
    ],
  ];
  for (const command of cases) {
    const { code, stderr } = await perilbook(...command);
    assert.deepEqual([code, digestOf(path('other.db'))], [2, before], stderr);
    assert.match(stderr, /other\.db.* it is a database of another program/);
  }
});

test('an output or a key file that cannot be looked at is refused by its name', async (t) => {
  const { path, perilbook } = scene(t);
  symlinkSync('loop.csv', path('loop.csv'));
  for (const output of ['loop.csv', `${'o'.repeat(300)}.csv`]) {
    const { code, stderr } = await perilbook('run', 'in.csv', '-t', 'wildfire', '-o', output);
    assert.deepEqual([code, /\[(?:OUTPUT_UNWRITABLE|USAGE)\]/.test(stderr)], [2, true], stderr);
  }
  const service = ['--base-url', 'http://127.0.0.1:9', '--api-key-file', 'loop.csv'];
  const ended = await perilbook('run', 'in.csv', '-t', 'wildfire', ...service, '--budget', '1');
  assert.match(ended.stderr, /The key file .*loop\.csv cannot be read\n[\s\S]*\[KEY_MISSING\]/);
  const { stderr } = await perilbook('plan', 'in.csv', '-t', 'wildfire', ...service);
  assert.match(stderr, /The key file .*loop\.csv cannot be read; the plan assumes/);
});
