import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import type { JobFile } from '../../src/job/job-file.ts';
import type { Connection } from '../../src/run/frame/connection-kinds.ts';
import { readLocalData } from '../../src/run/frame/local-data.ts';
import { openStoreAt } from '../../src/run/frame/open-store-at.ts';
import { openContext } from '../../src/run/frame/run-context.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run, runJob } from '../../src/run/run-job.ts';
import { releaseLater } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/* Data on this machine that is loaded, or damaged, while a run goes on. */

/** What a load does to the file: it makes and renames tables. */
function replaceData(file: string): void {
  const database = new Database(file);
  database.exec('CREATE TABLE made_by_a_load (a); DROP TABLE made_by_a_load');
  database.close();
}

/** As a copy that is put back in place does: pages of tables change, and the file stays. */
function damage(file: string): void {
  const database = new Database(file);
  const roots = database
    .prepare<[], number>(
      "SELECT rootpage FROM sqlite_schema WHERE name LIKE 'area%' AND rootpage > 0",
    )
    .pluck()
    .all();
  const size = database.pragma('page_size', { simple: true }) as number;
  database.close();
  const bytes = readFileSync(file);
  for (const root of roots) bytes.fill(0x55, (root - 1) * size, root * size);
  writeFileSync(file, bytes, { flag: 'r+' });
}

async function scene(t: TestContext, count: number) {
  const harness = await openHarness(t);
  harness.writeInput(places(count));
  return { ...harness, file: join(harness.folder, 'data.db') };
}

const localConnection = (file: string, { clock }: Pick<Harness, 'clock'>): Connection => ({
  kind: 'local',
  source: 'local',
  sample: false,
  data: readLocalData(file, clock.now())!,
});

test('a run whose data is replaced before its look-up begins again with the new data, and not for ever', async (t) => {
  const harness = await scene(t, 150);
  const { file, notices, store, output } = harness;
  const settings: JobFile = { topics: ['hail'] };
  const renew = () => harness.open(settings, { connection: localConnection(file, harness) });
  let loads = 1;
  const approve = () => {
    if (loads-- > 0) replaceData(file);
  };
  using done = await runJob(await renew(), { approve, renew });
  assert.deepEqual([done.result.state, done.result.summary.status.ok], ['complete', 150]);
  assert.deepEqual(
    notices.filter((line) => line.includes('begins again')),
    [`The data in ${file} was replaced while the run began: it begins again with the new data.`],
  );
  assert.equal(column(output(), 'hazard_status').length, 150);

  loads = 100;
  const more: JobFile = { topics: ['tornado'], output: 'more.csv' };
  const again = () => harness.open(more, { connection: localConnection(file, harness) });
  await assert.rejects(runJob(await again(), { approve, renew: again }), {
    code: 'LOCAL_DATA',
    message: /was replaced while the run began/,
  });
  assert.equal(100 - loads, 3);
  assert.ok((await store.runs()).every(({ state }) => state !== 'running'));
});

test('what was bought is written where the data beside it is replaced meanwhile', async (t) => {
  const harness = await scene(t, 20);
  const { file, output, charged } = harness;
  const settings: JobFile = { topics: ['hail'], losses: true, store: 'own.db' };
  harness.database.exec('UPDATE ratings_tract SET loss_rate = 0.0003');
  const bought = await harness.open(settings);
  const data = readLocalData(file, harness.clock.now())!;
  const connection = { ...bought.connection, losses: { data, source: 'local' } } as Connection;
  let isReplaced = false;
  const trace = () => {
    if (!isReplaced) replaceData(file);
    isReplaced = true;
  };
  const owner = { name: 'test', isAlive: () => true };
  // The store of the harness keeps no rates.
  const store = await openStoreAt(join(harness.folder, 'own.db'), harness.clock, owner);
  releaseLater(t, () => store.close());
  const context = await openContext(harness.job(settings), {
    connection,
    store,
    effects: { ...bought.effects, trace },
  });
  const renew = () => assert.fail('What was bought is not thrown away');
  using done = await runJob(context, { approve: () => {}, renew });
  assert.deepEqual([isReplaced, done.result.state], [true, 'complete']);
  assert.equal(column(output(), 'hazard_status').filter((status) => status === 'ok').length, 20);
  assert.equal(column(output(), 'hail_loss_rate').filter(Boolean).length, 20);
  assert.deepEqual([charged(), (await store.stats()).credits.charged], [20, 20]);
});

test('a note never names the datasets of one version and the years of another', async (t) => {
  const harness = await scene(t, 5);
  const connection = localConnection(harness.file, harness);
  const context = await harness.open({ topics: ['hail'] }, { connection });
  replaceData(harness.file);
  await assert.rejects(prepare(context), { code: 'LOCAL_DATA' });
});

for (const [count, where] of [
  [20, 'in this thread'],
  [400, 'in another thread'],
] as const) {
  test(`a data file that is damaged under a look-up ${where} is no bug`, async (t) => {
    const harness = await scene(t, count);
    harness.database.pragma('wal_checkpoint(TRUNCATE)');
    const file = join(harness.folder, 'copy.db');
    copyFileSync(harness.file, file);
    const connection = localConnection(file, harness);
    using prepared = await prepare(await harness.open({ topics: ['hail'] }, { connection }));
    damage(file);
    await assert.rejects(
      run(prepared),
      (error: { code?: string; message: string; hint: string }) => {
        assert.equal(error.code, 'SERVICE_DATA');
        assert.match(error.message, /^The data file .*copy\.db is damaged: /);
        return true;
      },
    );
  });
}
