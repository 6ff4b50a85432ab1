import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { MovedClock } from '../moved-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { callAt, chargedFor, SINGLE, termsOf } from './claims.ts';
import { testStore } from './contract/store-contract.ts';

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

test('a store gives room back while no other program has it open, and goes on as a store', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await using store = openSqliteStore(file, clock, owner);
  const source = await store.source('somewhere');
  const put = (lat7: number) => {
    const answers = [{ topic: 'hail' as const, asOf: 1, fields: ['x'.repeat(20_000)] }];
    return store.putAnswers(source, [{ cell: { lat7, lng7: 2 }, answers, failures: [] }]);
  };
  for (let cell = 1; cell <= 30; cell++) await put(cell);
  assert.equal(await store.prune(2), 30);
  const other = openSqliteStore(file, clock, owner);
  const { bytes } = await store.stats();
  assert.deepEqual(await store.compact(), { kind: 'busy' });
  await other.close();
  const compacted = await store.compact();
  const freed = bytes - (await store.stats()).bytes;
  assert.deepEqual(compacted, { kind: 'done', freed });
  assert.ok(freed > 500_000, `${freed} of ${bytes}`);
  await put(1);
  await using another = openSqliteStore(file, clock, owner);
  assert.equal((await another.stats()).sources[0]!.answers, 1);
});

test('no call is claimed in a store that was cut off, also where it is as large as when it was opened', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await using store = openSqliteStore(file, clock, owner);
  const source = await store.source('somewhere');
  const opened = statSync(file).size;
  const answers = [{ topic: 'hail' as const, asOf: 1, fields: ['x'.repeat(20_000)] }];
  await store.putAnswers(source, [{ cell: { lat7: 1, lng7: 2 }, answers, failures: [] }]);
  new Database(file).exec('PRAGMA wal_checkpoint(TRUNCATE)').close();
  const terms = await termsOf(store);
  assert.equal((await store.claim(terms, [callAt(1)]))[0]!.outcome, 'granted');
  assert.ok(statSync(file).size > opened);
  truncateSync(file, opened);
  await assert.rejects(store.claim(terms, [callAt(2)]), {
    code: 'STORE_MOVED',
    message: /store\.db was overwritten or cut off while this run used it$/,
  });
});

test('the ledger tells of each call what the provider is asked about: kind, topic, place, key and request id', async (t) => {
  const file = join(temporaryFolder(t), 'store.db');
  await using store = openSqliteStore(file, clock, owner);
  const claims = await store.claim(await termsOf(store), [callAt(1, SINGLE), callAt(2)]);
  const requestId = '7f0c6f0e-7d0f-4d5e-8f3c-0a1b2c3d4e5f';
  await store.settle([chargedFor(claims[0], 1, { requestId }), chargedFor(claims[1], 15)]);
  const sql = 'SELECT kind, topic, lat7, lng7, key, price, request_id FROM calls ORDER BY id';
  const call = (lat7: number, told: object) => ({
    lat7,
    lng7: -1_180_000_000,
    key: 'key',
    request_id: null,
    ...told,
  });
  using other = { read: new Database(file), [Symbol.dispose]: () => void other.read.close() };
  assert.deepEqual(other.read.prepare(sql).all(), [
    call(340_000_001, { kind: 'single', topic: 'hail', price: 1, request_id: requestId }),
    call(340_000_002, { kind: 'standard', topic: null, price: 15 }),
  ]);
});

test('a store of a later version, and one of an earlier development version, is refused in one sentence', (t) => {
  const refusals = [
    [99, { code: 'STORE_TOO_NEW' }],
    [
      1,
      {
        code: 'STORE_UNUSABLE',
        message: /^The store .* was made by an earlier development version of Perilbook$/,
      },
    ],
  ] as const;
  for (const [version, error] of refusals) {
    const file = join(temporaryFolder(t), 'store.db');
    new Database(file)
      .exec(`CREATE TABLE cells (answers TEXT); PRAGMA user_version = ${version}`)
      .close();
    assert.throws(() => openSqliteStore(file, clock, owner), error);
  }
});

test('what is no database, or no file, is refused with its name and a way out', (t) => {
  const [file, pipe] = ['store.db', 'pipe'].map((name) => join(temporaryFolder(t), name)) as [
    string,
    string,
  ];
  writeFileSync(file, 'policy,lat,lng\n'.repeat(100));
  assert.throws(() => openSqliteStore(file, clock, owner), {
    code: 'STORE_UNUSABLE',
    message: /store\.db/,
  });
  if (process.platform === 'win32') return;
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
  await assert.rejects(opened(), {
    code: 'STORE_UNUSABLE',
    message: /store\.db is damaged: no such column/,
  });
});
