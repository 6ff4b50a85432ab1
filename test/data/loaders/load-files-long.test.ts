import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadFiles } from '../../../src/data/loaders/load-files.ts';
import { describeData } from '../../../src/data/tables/describe-data.ts';
import { DatasetLoad, importDataset } from '../../../src/data/tables/import-dataset.ts';
import type { EventRecord } from '../../../src/data/tables/records.ts';
import {
  HERE,
  info,
  NOON,
  openDatabase,
  pathTo,
  point,
  StillClock,
  setUp,
} from '../../service/small-data.ts';
import { fileOf, loading } from './loading.ts';

const clock = new StillClock();

function wells(rows: number, name = 'well'): string {
  const lines = Array.from({ length: rows }, (_, i) => `${name} ${i},${HERE.lat},${HERE.lng}`);
  return `Well,Latitude,Longitude\n${lines.join('\n')}\n`;
}

test('a running service answers from the old data until a load is complete', async (t) => {
  const { get, accounts, file } = await setUp(t);
  const count = async () => (await get(pathTo('/v1/oilGasWell/risk'))).body.data.result.value;
  assert.equal(await count(), 2);
  const other = openDatabase(t, file);
  const seen: number[] = [];
  const slowly = (async function* (): AsyncGenerator<EventRecord> {
    for (let i = 0; i < 9_000; i++) {
      if (i % 3_000 === 2_500) seen.push(await count());
      yield point(HERE.lng, HERE.lat, { i });
    }
  })();
  using load = new DatasetLoad(other, { name: 'sites:oilGasWell', level: '' });
  for await (const record of slowly) load.add(record, { file: 1, parts: 'US' });
  const part = {
    ...info('sites:oilGasWell'),
    state: 'US',
    askedOf: '',
    reach: 0,
    files: [],
    stateRows: {},
    extent: 'whole' as const,
    territories: [],
    loadedAt: NOON,
  };
  load.publish([part], false, NOON);
  assert.deepEqual(seen, [2, 2, 2]);
  assert.equal(await count(), 9_000);
  // The service charged its calls meanwhile: the load held no lock between its batches.
  assert.equal(accounts.prepare('SELECT count(*) FROM charges').pluck().get(), 5);
});

test('what an interrupted load left behind does not block the next load', async (t) => {
  const { database, load } = loading(t);
  await load('wells', fileOf(t, 'a.csv', wells(10)));
  const broken = (function* (): Generator<EventRecord> {
    for (let i = 0; i < 5_000; i++) yield point(1, 2, { i });
    throw new Error('The file ends early');
  })();
  const target = { kind: 'sites', topic: 'oilGasWell', info: info('sites:oilGasWell') } as const;
  assert.throws(() => importDataset(database, { ...target, records: broken }, clock), /ends early/);
  const tables = () =>
    database
      .prepare(
        "SELECT count(*) FROM sqlite_schema WHERE name GLOB '*_next*' AND name <> 'next_ids'",
      )
      .pluck()
      .get();
  assert.equal(tables(), 0);
  // As a killed process leaves it.
  database.exec('CREATE VIRTUAL TABLE sites_oilGasWell_next USING rtree (id, a, b, c, d)');
  database.exec("INSERT INTO loads VALUES ('sites:oilGasWell', '', 'of the dead')");
  assert.equal((await load('wells', fileOf(t, 'b.csv', wells(20)))).records, 20);
  assert.equal(tables(), 0);
  assert.equal(describeData(database).datasets[0]!.rows, 20);
});

test('of two simultaneous loads of a dataset the one that began last counts, and the other fails with the reason', async (t) => {
  const { database } = loading(t);
  const target = { kind: 'sites', topic: 'park', info: info('sites:park') } as const;
  let interrupted = false;
  const records = (function* (): Generator<EventRecord> {
    for (let i = 0; i < 6_000; i++) {
      if (i === 3_000 && !interrupted) {
        interrupted = true;
        importDataset(database, { ...target, records: [point(1, 2)] }, clock);
      }
      yield point(3, 4, { i });
    }
  })();
  assert.throws(() => importDataset(database, { ...target, records }, clock), {
    code: 'SERVICE_DATA',
    message: /another load of it has started/,
  });
  assert.equal(describeData(database).datasets[0]!.rows, 1);
});

test('an unknown loader is refused with the list', async (t) => {
  const database = openDatabase(t);
  await assert.rejects(loadFiles(database, 'rain', ['x'], {}, clock), {
    code: 'USAGE',
    message: /no loader "rain"/,
  });
  await assert.rejects(loadFiles(database, 'hail', ['/no/such/file.csv'], {}, clock), {
    code: 'SERVICE_DATA',
  });
});
