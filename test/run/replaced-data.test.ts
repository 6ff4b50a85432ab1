import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { enrich, local, type RunEvent } from '../../src/index.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import type { Connection } from '../../src/run/frame/connection-kinds.ts';
import { readLocalData } from '../../src/run/frame/local-data.ts';
import { openStoreAt } from '../../src/run/frame/open-store-at.ts';
import { openContext } from '../../src/run/frame/run-context.ts';
import { prepare, priceJob } from '../../src/run/prepare.ts';
import { run, runJob } from '../../src/run/run-job.ts';
import { perilbook } from '../cli/command-line.ts';
import { localFile, openScene, rowsOf } from '../library/library-scene.ts';
import { damageAreas, releaseLater } from '../service/small-data.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

/* Data on this machine that is loaded, or damaged, while a run goes on. */

/** What a load does to the file: it makes and renames tables. */
function replaceData(file: string): void {
  const database = new Database(file);
  database.exec('CREATE TABLE made_by_a_load (a); DROP TABLE made_by_a_load');
  database.close();
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
  assert.deepEqual(
    (await store.runs()).map(({ state }) => state),
    ['complete'],
    'both beginnings are one run',
  );

  loads = 100;
  const more: JobFile = { topics: ['tornado'], output: 'more.csv' };
  const again = () => harness.open(more, { connection: localConnection(file, harness) });
  await assert.rejects(runJob(await again(), { approve, renew: again }), {
    code: 'LOCAL_DATA',
    message: /was replaced while the run began/,
  });
  assert.equal(100 - loads, 3);
  assert.deepEqual(
    (await store.runs()).map(({ state }) => state),
    ['stopped', 'complete'],
  );
});

test('rows on standard input are read once, and a run of them begins again with the new data', async (t) => {
  const harness = await scene(t, 0);
  const { file, output } = harness;
  const settings: JobFile = { input: '-', topics: ['hail'] };
  const renew = () => harness.open(settings, { connection: localConnection(file, harness) });
  const context = await renew();
  const rows = places(150).map(([lat, lng]) => `${lat},${lng}\n`);
  (context.effects.streams.stdin as PassThrough).end(`lat,lng\n${rows.join('')}`);
  let loads = 1;
  const approve = () => {
    if (loads-- > 0) replaceData(file);
  };
  using done = await runJob(context, { approve, renew });
  assert.deepEqual([done.result.state, done.result.summary.status.ok], ['complete', 150]);
  assert.equal(column(output(), 'hazard_status').length, 150);
});

test('rows of a program are answered from the new data where the data is replaced between two batches', async (t) => {
  const { harness, store } = await openScene(t);
  const file = localFile(harness);
  const notices: string[] = [];
  const onEvent = (event: RunEvent) => {
    if (event.type === 'notice') notices.push(event.message);
  };
  const options = { topics: ['hail'], source: local({ file }), store, batch: 2, onEvent } as const;
  const statuses: string[] = [];
  for await (const { status } of enrich(rowsOf(places(6)), options)) {
    if (statuses.push(status) === 2) replaceData(file);
  }
  assert.deepEqual(statuses, Array(6).fill('ok'));
  assert.deepEqual(notices, [
    `The data in ${file} was replaced while the run began: it begins again with the new data.`,
  ]);
});

test('a command that begins again tells an equal plan once, and is one run in status', async (t) => {
  const { folder, database } = await scene(t, 20);
  const file = join(folder, 'perilbook/data.db');
  mkdirSync(dirname(file));
  database.exec(`VACUUM INTO '${file}'`);
  const options = { folder, env: { XDG_DATA_HOME: folder } };
  let isReplaced = false;
  const { code, stderr } = await perilbook(['run', 'input.csv', '--topics', 'hail'], {
    ...options,
    onStderr: (text) => {
      if (isReplaced || !text.includes('places to look up')) return;
      isReplaced = true;
      replaceData(file);
    },
  });
  assert.deepEqual([code, isReplaced], [0, true], stderr);
  assert.match(stderr, /it begins again with the new data/);
  assert.equal(stderr.split('places to look up').length, 2, stderr);
  const { stdout } = await perilbook(['status', '--json'], options);
  assert.deepEqual(
    JSON.parse(stdout).map(({ state }: { state: string }) => state),
    ['complete'],
  );
});

/** A store of its own, because that of the harness keeps no rates; and contexts of runs that buy, with rates from the data. */
async function buyingWithLosses(t: TestContext, harness: Awaited<ReturnType<typeof scene>>) {
  harness.database.exec('UPDATE ratings_tract SET loss_rate = 0.0003');
  const owner = { name: 'test', isAlive: () => true };
  const store = await openStoreAt(join(harness.folder, 'own.db'), harness.clock, owner);
  releaseLater(t, () => store.close());
  const open = async (more: JobFile, trace?: () => void) => {
    const settings: JobFile = { topics: ['hail'], losses: true, store: 'own.db', ...more };
    const bought = await harness.open(settings);
    const data = readLocalData(harness.file, harness.clock.now())!;
    const connection = { ...bought.connection, losses: { data, source: 'local' } } as Connection;
    const effects = { ...bought.effects, ...(trace && { trace }) };
    return await openContext(harness.job(settings), { connection, store, effects });
  };
  return { store, open };
}

test('a run that begins again has the limits of its second plan', async (t) => {
  const harness = await scene(t, 20);
  const { store, open } = await buyingWithLosses(t, harness);
  let isReplaced = false;
  const approve = () => {
    if (!isReplaced) replaceData(harness.file);
    isReplaced = true;
  };
  using done = await runJob(await open({ budget: 12 }), {
    approve,
    renew: () => open({ budget: 10, topics: ['hail', 'tornado'] }),
  });
  assert.equal(done.result.stop?.reason, 'budget');
  const runs = await store.runs();
  assert.deepEqual(
    runs.map(({ budget, plannedCredits }) => [budget, plannedCredits]),
    [[10, 40]],
  );
  assert.equal(harness.charged(), 10);
});

test('what was bought is written where the data beside it is replaced meanwhile', async (t) => {
  const harness = await scene(t, 20);
  const { file, output, charged } = harness;
  let isReplaced = false;
  const trace = () => {
    if (!isReplaced) replaceData(file);
    isReplaced = true;
  };
  const { store, open } = await buyingWithLosses(t, harness);
  const context = await open({}, trace);
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
  const renew = () =>
    harness.open({ topics: ['hail'] }, { connection: localConnection(harness.file, harness) });
  using priced = await priceJob(context, renew);
  assert.equal(priced.summary.cells, 5);
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
    damageAreas(file);
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
