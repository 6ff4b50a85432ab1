import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { testStore } from './store-contract.ts';

testStore('SQLite', (t) => {
  const file = join(temporaryFolder(t), 'deep', 'store.db');
  return { open: (clock, owner) => openSqliteStore(file, clock, owner) };
});

const owner = { name: 'me', isAlive: () => true };
const clock = new MovedClock('2026-03-10T12:00:00Z');

test('a store of a later version is refused, and left as it is', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await openSqliteStore(file, clock, owner).close();
  const database = new Database(file);
  database.pragma('user_version = 99');
  database.close();
  assert.throws(() => openSqliteStore(file, clock, owner), { code: 'STORE_TOO_NEW' });
});

test('a store of an earlier development version is refused in one sentence, and left as it is', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  for (const version of [1, 12]) {
    const database = new Database(file);
    database.exec('CREATE TABLE IF NOT EXISTS cells (answers TEXT)');
    database.pragma(`user_version = ${version}`);
    database.close();
    assert.throws(() => openSqliteStore(file, clock, owner), {
      code: 'STORE_UNUSABLE',
      message: `The store ${file} was made by an earlier development version of Perilbook`,
    });
  }
});

test('the size of a store counts what is not yet in the file itself', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await using store = openSqliteStore(file, clock, owner);
  const source = await store.source('somewhere');
  const answers = [{ topic: 'hail' as const, asOf: 1, fields: ['x'.repeat(20_000)] }];
  await store.putAnswers(source, [{ cell: { lat7: 1, lng7: 2 }, answers, failures: [] }]);
  assert.equal((await store.stats()).bytes, statSync(file).size + statSync(`${file}-wal`).size);
});

test('a file that is no database is refused with its name and a way out', (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  writeFileSync(file, 'policy,lat,lng\n'.repeat(100));
  assert.throws(() => openSqliteStore(file, clock, owner), { code: 'STORE_UNUSABLE', message: /store\.db/ });
});

test('the sums by period and run are those of the ledger, whatever came when', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  const store = openSqliteStore(file, clock, owner);
  const source = await store.source('somewhere');
  const run = await store.startRun({
    job: 'job',
    input: 'in',
    output: 'out',
    account: 'a',
    plannedCredits: 1,
    budget: 1e6,
  });
  const period = { start: 0, end: Date.UTC(2099, 0) };
  const terms = {
    run,
    source,
    account: 'a',
    period,
    periodLimit: 1e6,
    creditsPerMinute: 1e6,
    budget: 1e6,
    leaseMs: 1e6,
  };
  const charges = ['charged', 'free', 'unknown'] as const;
  for (let number = 0; number < 60; number++) {
    const cell = { lat7: number, lng7: number };
    const [claim] = await store.claim(terms, [{ cell, call: { kind: 'standard' }, credits: 15, key: 'k', wanted: [] }]);
    if (claim?.outcome !== 'granted') throw new Error(claim?.outcome);
    const charge = charges[number % 4];
    if (charge === undefined) continue;
    const credits = charge === 'free' ? 0 : 15;
    await store.settle([{ call: claim.call, charge, credits, period, outcome: '', answers: [], failures: [] }]);
  }
  assert.deepEqual(await store.runSpending(run), { charged: 225, unknown: 225, open: 225 });
  assert.deepEqual(await store.spending('a', period), { charged: 225, unknown: 225, open: 225, exhaustedAt: null });
  assert.deepEqual((await store.stats()).credits, { charged: 225, unknown: 225, open: 225 });
  await store.close();
});
