import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import type { Answer, CellRecord } from '../../src/contract/answer.ts';
import type { TopicSlug } from '../../src/contract/topics.ts';
import type { CellAnswers, Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { perilbook } from '../cli/command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openService, PLACES } from './two-stores.ts';

const WAYS = {
  'a Parquet folder': ['--format', 'parquet', '-o', 'answers'],
  'a CSV file': ['-o', 'answers.csv'],
  'an NDJSON file': ['-o', 'answers.ndjson'],
  'the lines of answers': [],
  'the other store': null,
};

test('a run after an import buys nothing and writes what the buyer of the answers wrote', async (t) => {
  const { command, write, charged } = await openService(t);
  write('places.csv', PLACES);
  const topics = ['-t', 'all', '--budget', '200'];
  const bought = await command('run', 'places.csv', '-o', 'first.parquet', ...topics, '--store', 'bought.db');
  assert.ok([0, 3].includes(bought.code), bought.stderr);
  const spent = charged();
  assert.ok(spent > 30);
  for (const [index, [way, words]] of Object.entries(WAYS).entries()) {
    const output = words === null ? 'bought.db' : (words.at(-1) ?? 'lines.ndjson');
    if (words !== null) {
      const exported = await command('cache', 'export', '--store', 'bought.db', ...words);
      assert.equal(exported.code, 0, exported.stderr);
      if (words.length === 0) write(output, exported.stdout);
    }
    const store = ['--store', `imported-${index}.db`];
    const imported = await command('cache', 'import', output, ...store);
    assert.equal(imported.code, 0, `${way}: ${imported.stderr}`);
    assert.match(imported.stderr, /^Imported \d+ answers at 3 places\. The ledger is unchanged\./);
    const again = await command('cache', 'import', output, ...store, '--json');
    const { places, answers, already_known } = JSON.parse(again.stdout);
    assert.deepEqual([places, answers, already_known > 90], [0, 0, true], way);
    const stats = JSON.parse((await command('cache', 'stats', '--json', ...store)).stdout);
    assert.deepEqual(stats.calls, { charged: 0, free: 0, unknown: 0, in_flight: 0 }, way);
    const natural = ['-t', 'natural', '--budget', '200', '-o', 'natural.csv'];
    const ran = await command('run', 'places.csv', ...natural, ...store, '--json');
    assert.deepEqual(
      [ran.code, JSON.parse(ran.stdout).credits_spent, charged()],
      [0, 0, spent],
      `${way}: ${ran.stderr}`,
    );
    const original = await command('cache', 'export', '--store', 'bought.db', '--format', 'csv');
    const copied = await command('cache', 'export', ...store, '--format', 'csv');
    assert.equal(copied.stdout, original.stdout, way);
  }
});

const OWNER = { name: 'test', isAlive: () => true };
const REAL = 'https://api.example.com';
const LA = { lat7: 340_522_000, lng7: -1_182_437_000 };
const NOW = Date.parse('2026-11-20T12:00:00Z');

function openStoreAt(folder: string, name: string): Store {
  return openSqliteStore(join(folder, name), systemClock, OWNER, (topic) => columnsOf(topic).length);
}

const answer = (topic: TopicSlug, asOf: number, value: string): Answer => ({
  topic,
  asOf,
  fields: columnsOf(topic).map(({ type }) => (type === 'text' ? value : null)),
});

/** Two stores in one folder, `from.db` and `to.db`, with these answers at one place. */
async function twoStores(
  t: TestContext,
  from: Record<string, Partial<CellAnswers>>,
  to: Record<string, Partial<CellAnswers>>,
) {
  const folder = temporaryFolder(t);
  for (const [name, sources] of Object.entries({ 'from.db': from, 'to.db': to })) {
    await using store = openStoreAt(folder, name);
    for (const [source, put] of Object.entries(sources)) {
      await store.putAnswers(await store.source(source), [{ cell: LA, answers: [], failures: [], ...put }]);
    }
  }
  const command = (...words: string[]) => perilbook(['cache', ...words], { folder });
  const found = async (source = REAL): Promise<CellRecord | null> => {
    await using store = openStoreAt(folder, 'to.db');
    return (await store.read(await store.source(source), [LA]))[0]!;
  };
  return { folder, command, found };
}

test('the newer answer wins, topic by topic, and sources stay apart', async (t) => {
  const { command, found } = await twoStores(
    t,
    {
      [REAL]: {
        answers: [answer('wildfire', NOW, 'new'), answer('hail', NOW - 9, 'old'), answer('drought', 5, 'only')],
      },
      'https://other.example.com': { answers: [answer('wildfire', NOW + 5, 'other')] },
      'embedded 1': { answers: [answer('wildfire', NOW + 9, 'sample')] },
    },
    { [REAL]: { answers: [answer('wildfire', NOW - 1, 'old'), answer('hail', NOW, 'new')] } },
  );
  const imported = await command('import', 'from.db', '--store', 'to.db');
  assert.match(imported.stderr, /Imported 4 answers at 3 places.*\nThe store already had 1 /);
  const texts = (record: CellRecord | null) =>
    [...record!.answers.values()].map(({ topic, fields }) => `${topic} ${fields[0]}`).sort();
  assert.deepEqual(texts(await found()), ['drought only', 'hail new', 'wildfire new']);
  assert.deepEqual(texts(await found('https://other.example.com')), ['wildfire other']);
  assert.deepEqual(texts(await found('embedded 1')), ['wildfire sample']);
});

test('a rejection comes along unless the store knows better', async (t) => {
  const rejected = (topic: TopicSlug, at: number) =>
    ({ topic, reason: 'rejected', note: 'no such place', at }) as const;
  const { command, found } = await twoStores(
    t,
    {
      [REAL]: {
        failures: [rejected('wildfire', NOW), rejected('hail', NOW), { ...rejected('drought', NOW), reason: 'failed' }],
      },
    },
    { [REAL]: { answers: [answer('hail', NOW + 1, 'answered')] } },
  );
  assert.equal((await command('import', 'from.db', '--store', 'to.db')).code, 0);
  assert.deepEqual([...(await found())!.failures.keys()], ['wildfire']);
});

/** Marks the answers of the real source as sample data, as a service does that says so. */
async function markSample(folder: string, asOf: number): Promise<void> {
  await using store = openStoreAt(folder, 'from.db');
  const run = await store.startRun({ job: 'j', input: 'i', output: 'o', account: 'a', plannedCredits: 0, budget: 9 });
  const period = { start: 0, end: 2 * NOW };
  const limits = {
    run,
    source: await store.source(REAL),
    account: 'a',
    period,
    periodLimit: 9,
    creditsPerMinute: 9,
    budget: 9,
  };
  const call = { kind: 'single', topic: 'wildfire' } as const;
  const [claim] = await store.claim({ ...limits, leaseMs: 1e6 }, [
    { cell: LA, call, credits: 1, key: 'k', wanted: [] },
  ]);
  if (claim?.outcome !== 'granted') throw new Error(claim?.outcome);
  const charge = { charge: 'charged', credits: 1, period, outcome: '200', failures: [], sample: true } as const;
  await store.settle([{ call: claim.call, ...charge, answers: [answer('wildfire', asOf, 'sample')] }]);
}

test('sample data never comes among the real answers of a service, by whatever way', async (t) => {
  const { folder, command, found } = await twoStores(t, { [REAL]: { answers: [answer('hail', NOW + 9, 'real')] } }, {});
  await markSample(folder, NOW);
  assert.equal((await command('export', '--store', 'from.db', '-o', 'wide.csv', '-t', 'wildfire')).code, 0);
  writeFileSync(join(folder, 'long.ndjson'), (await command('export', '--store', 'from.db')).stdout);
  for (const path of ['from.db', 'wide.csv', 'long.ndjson']) {
    const imported = await command('import', path, '--store', 'to.db');
    assert.match(imported.stderr, /Left out 1 of sample data/, `${path}: ${imported.stderr}`);
    assert.deepEqual([...(await found())!.answers.keys()], ['hail'], path);
  }
});

const HEAD = `source,lat,lng,hazard_note,${columnsOf('wildfire').map(({ name }) => name)},wildfire_as_of`;
const GOOD = `${REAL},34.0522,-118.2437,,Low,1.5,0.1,1,2,3,2026-11-01T00:00:00.000Z`;

test('a malformed file is refused with row and column, and nothing of it is imported', async (t) => {
  const { folder, command, found } = await twoStores(t, {}, {});
  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['34.0522', '91', /row 2, column lat: 91 is beyond 90 degrees/],
    ['34.0522', 'x', /row 2, column lat: "x" is not a number/],
    [REAL, '', /row 2, column source: the source is empty/],
    ['1.5', 'high', /row 2, column wildfire_score: "high" is not a number/],
    ['2,3', '2.5,3', /row 2, column wildfire_historical: 2.5 is not a whole number/],
    ['2026-11-01T00:00:00.000Z', 'soon', /row 2, column wildfire_as_of: "soon" is not a time/],
    ['2026-11-01T00:00:00.000Z', '2999-01-01T00:00:00Z', /row 2, column wildfire_as_of: .* is in the future/],
    ['2026-11-01T00:00:00.000Z', '', /row 2, column wildfire_as_of: there is no time for the value in wildfire_rating/],
  ];
  for (const [from, to, message] of bad) {
    writeFileSync(join(folder, 'bad.csv'), `${HEAD}\n${GOOD}\n${GOOD.replace(from, to)}\n`);
    const refused = await command('import', 'bad.csv', '--store', 'to.db', '--json');
    assert.equal(refused.code, 2, refused.stderr);
    assert.match(refused.stderr, message);
    assert.equal(JSON.parse(refused.stdout).error.row, 2);
  }
  const lines = [
    [
      '{"source":"s","lat":1,"lng":1,"topic":"fire","as_of":"2026-01-01T00:00:00Z","fields":[]}',
      /column topic: "fire" is not/,
    ],
    [
      '{"source":"s","lat":1,"lng":1,"topic":"radon","as_of":"2026-01-01T00:00:00Z","fields":[1]}',
      /1 fields where radon has 3/,
    ],
    [
      '{"source":"s","lat":1,"lng":1,"topic":"radon","as_of":"2026-01-01T00:00:00Z"}',
      /column fields: "" is not a list/,
    ],
    ['{"source":"s","lat":1,"lng":1,"topic":"radon","as_of":"x","no_data":true}', /column as_of: "x" is not a time/],
    ['{"source"', /The line is not a JSON object/],
  ] as const;
  const good = '{"source":"s","lat":1,"lng":1,"topic":"radon","as_of":"2026-01-01T00:00:00Z","no_data":true}';
  for (const [line, message] of lines) {
    writeFileSync(join(folder, 'bad.ndjson'), `${good}\n${line}\n`);
    assert.match((await command('import', 'bad.ndjson', '--store', 'to.db')).stderr, message);
  }
  writeFileSync(join(folder, 'other.csv'), 'id,lat,lng\n1,2,3\n');
  assert.match((await command('import', 'other.csv', '--store', 'to.db')).stderr, /has no column source, hazard_note/);
  assert.equal(await found(), null);
  writeFileSync(join(folder, 'good.csv'), `${HEAD}\n${GOOD}\n`);
  assert.equal((await command('import', 'good.csv', '--store', 'to.db')).code, 0);
  assert.equal((await found())!.answers.get('wildfire')!.fields[1], 1.5);
});

test('import says what a path lacks, and refuses the store itself', async (t) => {
  const { folder, command } = await twoStores(t, {}, {});
  mkdirSync(join(folder, 'empty'));
  const said = async (...words: string[]) => (await command('import', ...words, '--store', 'to.db')).stderr;
  assert.match(await said(), /cache import needs a path/);
  assert.match(await said('absent'), /absent does not exist/);
  assert.match(await said('empty'), /has no \.parquet, \.csv or \.ndjson file/);
  assert.match(await said('to.db'), /is the store itself/);
  assert.match((await command('stats', 'extra')).stderr, /Unexpected argument: extra/);
});
