import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import test from 'node:test';
import { Worker } from 'node:worker_threads';
import { openDataReadOnly } from '../../src/data/tables/data-database.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import {
  info,
  openAccountsOf,
  openDatabase,
  pathTo,
  RATINGS,
  releaseLater,
  request,
  setUp,
  start,
  subscriptionOf,
} from './small-data.ts';

test('a load that holds the write lock of the data file blocks no charge', async (t) => {
  const { get, single, file, database, accounts, charged } = await setUp(t);
  for (const handle of [database, accounts]) handle.pragma('busy_timeout = 0');
  const load = openDatabase(t, file);
  load.exec('BEGIN IMMEDIATE; DELETE FROM radon');
  assert.equal((await single()).status, 200);
  const bundle = await get(pathTo('/v1/bundle/enterprise'));
  assert.equal(bundle.status, 200);
  assert.equal(
    bundle.body.data.topics.radon.value.value,
    'Zone 2',
    'the load is not visible before it is whole',
  );
  assert.equal(charged(), 36);
  load.exec('ROLLBACK');
});

test('a call beside another writer of the accounts waits for it, and is charged once', async (t) => {
  const { single, accounts, charged } = await setUp(t);
  const workerData = { file: accounts.name, holdMs: 300 };
  const writer = new Worker(new URL('../sql/first-writer.ts', import.meta.url), { workerData });
  const ended = once(writer, 'exit');
  await once(writer, 'message');
  assert.equal((await single()).status, 200);
  assert.equal(charged(), 1);
  await ended;
});

test('a data file that cannot be written is served', async (t) => {
  const { file, database, accounts, clock, key, service, charged } = await setUp(t);
  await service.close();
  database.close();
  chmodSync(file, 0o444);
  const data = openDataReadOnly(file);
  releaseLater(t, () => data.close());
  assert.throws(() => data.exec('DELETE FROM radon'), { code: 'SQLITE_READONLY' });
  const { url } = await start(t, { data, accounts, clock });
  const { status, body } = await request(url + pathTo('/v1/bundle/enterprise'), key);
  assert.equal(status, 200);
  const failed = Object.values<{ error?: string }>(body.data.topics).filter(
    ({ error }) => error !== undefined,
  );
  assert.deepEqual(failed, []);
  assert.equal(charged(), 35);
});

test('two services on one data file and one accounts file share one quota exactly', async (t) => {
  const { file, database, clock, key, service, charged } = await setUp(t, {
    subscription: subscriptionOf(97, 1_000_000),
  });
  await service.close();
  database.close();
  const urls: string[] = [];
  for (let instance = 0; instance < 2; instance++) {
    const data = openDataReadOnly(file);
    releaseLater(t, () => data.close());
    urls.push((await start(t, { data, accounts: openAccountsOf(t, file), clock })).url);
  }
  const paths = [
    pathTo('/v1/drought/risk'),
    pathTo('/v1/drought/risk'),
    pathTo('/v1/bundle/standard'),
  ];
  const replies = await Promise.all(
    Array.from({ length: 150 }, (_, index) => request(urls[index % 2]! + paths[index % 3]!, key)),
  );
  const credits = replies.reduce(
    (sum, { headers }) => sum + Number(headers.get('x-credit-cost') ?? 0),
    0,
  );
  assert.equal(credits, 97);
  assert.ok(replies.every(({ status }) => status === 200 || status === 429));
  assert.equal(charged(), 97);
});

test('all topics of an answer are of one version of the data, also if a load replaces it meanwhile', async (t) => {
  let replace = () => {};
  const { get, file, clock } = await setUp(t, {
    service: {
      failures: (topic) => {
        if (topic === 'hail') replace();
        return false;
      },
    },
  });
  const other = openDatabase(t, file);
  const records = RATINGS.map((rating) => ({
    ...rating,
    score: rating.score === null ? null : 10,
  }));
  replace = () => {
    importDataset(other, { kind: 'nri', info: info('nri'), records }, clock);
    replace = () => {};
  };
  const scores = async () => {
    const { body } = await get(pathTo('/v1/bundle/standard'));
    return new Set(
      Object.values<{ value: { score: number } }>(body.data.topics).map(({ value }) => value.score),
    );
  };
  assert.deepEqual(await scores(), new Set([81.5]));
  assert.deepEqual(await scores(), new Set([10]));
});
