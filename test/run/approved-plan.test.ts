import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { perilbook } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const CITIES = ['34.0522,-118.2437', '29.7604,-95.3698', '41.8781,-87.6298', '39.7392,-104.9903'];

function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const clock = new FastClock('2026-03-15T12:00:00Z', 1);
  provideSampleData(join(folder, 'store.db'));
  const book = (cities: readonly string[]) =>
    writeFileSync(join(folder, 'book.csv'), `lat,lng\n${cities.join('\n')}\n`);
  book(CITIES);
  const common = ['book.csv', '-t', 'wildfire,hail', '--store', 'store.db'];
  return {
    folder,
    clock,
    book,
    plan: (...words: string[]) =>
      perilbook(['plan', ...common, ...(words.includes('--out') ? [] : ['--out', 'plan.json']), ...words], {
        folder,
        clock,
      }),
    run: (...words: string[]) =>
      perilbook(['run', ...common, '--plan', 'plan.json', '--json', ...words], { folder, clock }),
    approved: () => JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8')),
  };
}

test('an approved plan is kept to; the run needs no other approval', async (t) => {
  const { plan, run, approved } = setUp(t);
  assert.equal((await plan()).code, 0);
  assert.deepEqual([approved().credits, approved().credits_at_most], [8, 8]);
  const ended = await run();
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(JSON.parse(ended.stdout).credits_spent, 8);
});

test('the summary states the approved limit, not a larger budget', async (t) => {
  const { plan, run } = setUp(t);
  await plan();
  const ended = await run('--budget', '100');
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(JSON.parse(ended.stdout).credits_limit, 8);
});

test('runs under one plan spend within it together, and a stopped one goes on under it', async (t) => {
  const { plan, run } = setUp(t);
  await plan();
  const first = await run('--budget', '4');
  assert.deepEqual([first.code, JSON.parse(first.stdout).credits_spent], [4, 4]);
  const second = await run();
  assert.deepEqual(
    [second.code, JSON.parse(second.stdout).credits_spent, JSON.parse(second.stdout).credits_limit],
    [0, 4, 4],
  );
});

test('a run whose input, settings or store is another is refused before anything is spent, and says what changed', async (t) => {
  const { folder, clock, plan, run, book } = setUp(t);
  await plan();
  book([...CITIES, '47.6062,-122.3321']);
  const more = await run();
  assert.equal(more.code, 2);
  assert.match(more.stderr, /the input had 4 rows, has 5[\s\S]*needed, 8 of the approved 8 left[\s\S]*PLAN_MISMATCH/);
  book([...CITIES.slice(0, 3), '47.6062,-122.3321']);
  assert.match((await run()).stderr, /other locations or values/);
  book(CITIES);
  assert.match((await run('--precision', '3')).stderr, /precision was 4, is 3/);
  const quota = await perilbook(['quota', '--store', 'store.db', '--json'], { folder, clock });
  assert.equal(JSON.parse(quota.stdout).charged, 0);

  assert.equal((await run()).code, 0);
  clock.moveTo('2027-04-15T12:00:00Z');
  const stale = await run();
  assert.equal(stale.code, 2);
  assert.match(stale.stderr, /the store lacks more than it did: 8 credits needed, 0 of the approved 8 left/);
});

test('a file that is no plan is refused', async (t) => {
  const { folder, run } = setUp(t);
  writeFileSync(join(folder, 'plan.json'), '{"perilbook_plan": 2}');
  assert.match((await run()).stderr, /is not a plan of this version/);
});

test('a plan is never written over the input or the store', async (t) => {
  const { folder, plan } = setUp(t);
  const before = readFileSync(join(folder, 'book.csv'));
  await plan();
  for (const name of ['book.csv', 'store.db']) {
    const bytes = readFileSync(join(folder, name));
    const { code, stderr } = await plan('--out', name);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /is the input itself|holds the store/);
    assert.ok(readFileSync(join(folder, name)).subarray(0, 100).equals(bytes.subarray(0, 100)), name);
  }
  assert.ok(readFileSync(join(folder, 'book.csv')).equals(before));
});
