import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

test('the size of a store counts what is not yet in the file itself', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await using store = openSqliteStore(file, clock, owner);
  const source = await store.source('somewhere');
  const answers = [{ topic: 'hail' as const, asOf: 1, fields: ['x'.repeat(20_000)] }];
  await store.putAnswers(source, [{ cell: { lat7: 1, lng7: 2 }, answers, failures: [] }]);
  assert.equal((await store.stats()).bytes, statSync(file).size + statSync(`${file}-wal`).size);
});

test('a store of a later version, and one of an earlier development version, is refused in one sentence', (t) => {
  const refusals = [
    [99, { code: 'STORE_TOO_NEW' }],
    [1, { code: 'STORE_UNUSABLE', message: /^The store .* was made by an earlier development version of Perilbook$/ }],
  ] as const;
  for (const [version, error] of refusals) {
    const file = join(temporaryFolder(t), 'store.db');
    new Database(file).exec(`CREATE TABLE cells (answers TEXT); PRAGMA user_version = ${version}`).close();
    assert.throws(() => openSqliteStore(file, clock, owner), error);
  }
});

test('what is no database, or no file, is refused with its name and a way out', (t) => {
  const [file, pipe] = ['store.db', 'pipe'].map((name) => join(temporaryFolder(t), name)) as [string, string];
  writeFileSync(file, 'policy,lat,lng\n'.repeat(100));
  assert.throws(() => openSqliteStore(file, clock, owner), { code: 'STORE_UNUSABLE', message: /store\.db/ });
  // A device in its place, such as /dev/null, would be closed to all other users of the machine.
  execFileSync('mkfifo', ['-m', '666', pipe]);
  const message = `The store ${pipe} cannot be used: it is a pipe or a device`;
  assert.throws(() => openSqliteStore(pipe, clock, owner), { code: 'STORE_UNUSABLE', message });
  assert.equal(statSync(pipe).mode & 0o777, 0o666);
});

test('a store whose schema was damaged is told as a damaged store, not as a bug', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await openSqliteStore(file, clock, owner).close();
  new Database(file).exec('ALTER TABLE calls RENAME COLUMN charge TO charfe').close();
  const opened = async () => {
    await using store = openSqliteStore(file, clock, owner);
    await store.stats();
  };
  await assert.rejects(opened(), { code: 'STORE_UNUSABLE', message: /store\.db is damaged: no such column/ });
});
