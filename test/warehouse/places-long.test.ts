import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openService, PLACES } from './two-stores.ts';

test('places buys each place once, the heaviest first, without writing rows', async (t) => {
  const { command, write, charged, folder } = await openService(t);
  write('places.csv', PLACES);
  const before = readdirSync(folder).sort();
  const first = await command('places', 'places.csv', '-t', 'wildfire', '--budget', '1', '--store', 's.db');
  assert.equal(first.code, 4, first.stderr);
  assert.match(first.stderr, /wrote +no file: 3 rows \(1 ok, 2 deferred\)/);
  assert.match(first.stderr, /33 % of the places, 91 % of the weight; the rest is deferred/);
  assert.match(first.stderr, / of weight\n.*91 %\n/, 'the table of shares');
  assert.match(first.stderr, /complete +33 % of locations, 91 % of weight/);
  assert.doesNotMatch(first.stderr, /of (the )?value/, 'a weight is not called a value');
  assert.equal(charged(), 1);
  const left = readdirSync(folder).filter((name) => !before.includes(name) && !name.startsWith('s.db'));
  assert.deepEqual(left, []);
  const exported = await command('cache', 'export', '--store', 's.db');
  assert.deepEqual(exported.stdout.match(/"lat":[\d.]+/g), ['"lat":40.06']);

  // An output is the table that the join reads; what is bought is not bought again.
  const words = ['-t', 'wildfire', '--budget', '9', '--store', 's.db'];
  const second = await command('places', 'places.csv', '-o', 'answers.csv', ...words, '--json');
  assert.equal(second.code, 0, second.stderr);
  assert.deepEqual([JSON.parse(second.stdout).credits_spent, charged()], [2, 3]);
  const [header] = readFileSync(`${folder}/answers.csv`, 'utf8').split('\n');
  assert.match(header!, /^lat,lng,weight,hazard_status,/);
  const third = await command('places', 'places.csv', ...words);
  assert.deepEqual([third.code, charged()], [0, 3], third.stderr);
  assert.match(third.stderr, /High, [\d,]+ of weight\n/, 'a weight is not called a value');
});

test('places takes part files: the heaviest place of all parts comes first', async (t) => {
  const { command, write, file, charged } = await openService(t);
  const [header, first, ...others] = PLACES.trim().split('\n');
  mkdirSync(file('parts'));
  write('parts/a.csv', `${[header, first].join('\n')}\n`);
  write('parts/b.csv', `${[header, ...others].join('\n')}\n`);
  const ran = await command('places', 'parts', '-t', 'wildfire', '--budget', '1', '--store', 's.db');
  assert.equal(ran.code, 4, ran.stderr);
  assert.equal(charged(), 1);
  const exported = await command('cache', 'export', '--store', 's.db');
  assert.deepEqual(exported.stdout.match(/"lat":[\d.]+/g), ['"lat":40.06']);
  assert.deepEqual(readdirSync(file('parts.hazards')).sort(), ['a.csv', 'b.csv']);
});

test('places takes an order and a job file as they are', async (t) => {
  const { command, write, file, charged } = await openService(t);
  write('places.csv', PLACES);
  const words = ['-t', 'wildfire', '--budget', '1', '--store', 's.db'];
  await command('places', 'places.csv', '--order-by', 'file', ...words);
  const exported = await command('cache', 'export', '--store', 's.db');
  assert.match(exported.stdout, /^\{"source":"http:[^}]*"lat":40\.05,/);
  write('job.yaml', 'input: places.csv\noutput: answers.csv\ntopics: [wildfire]\nbudget: 1\nstore: s.db\n');
  const ran = await command('places', 'job.yaml');
  assert.equal(ran.code, 4, ran.stderr);
  assert.ok(existsSync(file('answers.csv')));
  assert.match((await command('cache', 'export', '--store', 's.db')).stdout, /"lat":40\.06/);
  assert.equal(charged(), 2);
  assert.equal((await command('places')).code, 2);
});
