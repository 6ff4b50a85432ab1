import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import type { JobFile } from '../../src/job/job-file.ts';
import { localNotes, readLocalData } from '../../src/run/look-up/local-data.ts';
import { lookUp } from '../../src/run/look-up/look-up.ts';
import { sortedCells } from '../../src/run/look-up/sorted-cells.ts';
import { prepare } from '../../src/run/prepare.ts';
import { newProgress, type Progress } from '../../src/run/progress.ts';
import { run } from '../../src/run/run-job.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { column, openHarness, places, type RunOptions } from './harness.ts';

const CELLS = 9_000;

/** A book of 9,000 places, and the service's small data as local data. */
async function scene(t: TestContext) {
  const harness = await openHarness(t);
  harness.writeInput(places(CELLS));
  const { folder, clock, store } = harness;
  const prepared = async (settings: JobFile = {}, own: Pick<RunOptions, 'progress' | 'interrupt'> = {}) => {
    const data = readLocalData(join(folder, 'data.db'), clock.now())!;
    const connection = { kind: 'local', source: 'local', sample: false, data } as const;
    const ready = await prepare(await harness.open({ topics: ['hail'], ...settings }, { connection, ...own }));
    t.after(() => ready[Symbol.dispose]());
    return { ready, data };
  };
  const ran = async (interrupt = new AbortController().signal, progress = newProgress(), settings: JobFile = {}) =>
    await run((await prepared(settings, { progress, interrupt })).ready);
  const stored = async () => (await store.stats()).sources.find(({ source }) => source === 'local')?.cells ?? 0;
  return { ...harness, prepared, ran, stored };
}

/** Calls a function when the first batch is done. */
function whenBegun(then: () => void): Progress {
  const progress = newProgress();
  let done = 0;
  return Object.defineProperty(progress, 'cellsDone', {
    get: () => done,
    set(value: number) {
      done = value;
      then();
    },
  });
}

test('an interrupted look-up writes what it has, and the next run looks up the rest', async (t) => {
  const { ran, stored, output, charged } = await scene(t);
  const interruption = new AbortController();
  const progress = whenBegun(() => interruption.abort());
  const ended = await ran(interruption.signal, progress);
  assert.deepEqual([ended.state, ended.stop?.reason], ['interrupted', 'interrupted']);
  const { ok, deferred } = ended.summary.status;
  assert.ok(ok >= 1_000 && deferred > 0 && ok + deferred === CELLS, `${ok} ok, ${deferred} deferred`);
  assert.equal(await stored(), ok);
  assert.ok(column(output(), 'hazard_note').includes('not looked up yet'));

  const rest = newProgress();
  const again = await ran(undefined, rest);
  assert.deepEqual([again.state, again.summary.status.ok, rest.cellsDone], ['complete', CELLS, CELLS - ok]);
  assert.equal(again.summary.cells_cached, ok);
  assert.equal(charged(), 0);
});

test('a note names the datasets of the answered topics, and few vintages of each', async (t) => {
  const { data } = await (await scene(t)).prepared();
  const areas = { ...data.datasets.find(({ name }) => name === 'areas')!, vintage: 'file of 2026-11-22' };
  const datasets = [
    { ...areas, level: 'county' as const },
    { ...areas, level: 'tract' as const, vintage: 'file of 2026-11-22; 2023' },
    ...data.datasets.filter(({ name }) => name !== 'areas'),
  ];
  const { noteOf } = localNotes({ ...data, datasets }, false);
  const origin = { ofCounty: '', airQualityYear: null, state: '' };
  assert.equal(noteOf(['radon'], origin), 'local data: areas file of 2026-11-22 and 2023, radon 2026');
  const three = 'local data: areas file of 2026-11-22 and 2023, nri 2026, radon 2026 and 1 more dataset';
  assert.equal(noteOf(['radon', 'park', 'hail'], origin), three);
  const many = datasets.map((one) => (one.level === 'tract' ? { ...one, vintage: '2024; 2023; 2022' } : one));
  const note = localNotes({ ...data, datasets: many }, false).noteOf(['radon'], origin);
  assert.equal(note, 'local data: areas file of 2026-11-22 and 3 other vintages, radon 2026');
});

test('the time of a look-up begins with the run, as that of a purchase does', async (t) => {
  const { prepared, clock } = await scene(t);
  const { ready } = await prepared({ max_minutes: 10 });
  clock.moveTo(new Date(clock.now() + 11 * 60_000).toISOString());
  const { stop } = await run(ready);
  assert.equal(stop?.reason, 'time', 'eleven minutes have passed since the plan began');
});

test('data that is replaced after the plan ends the run; the next one goes on with the new data', async (t) => {
  const { prepared, ran, store, folder } = await scene(t);
  const { ready } = await prepared();
  const database = new Database(join(folder, 'data.db'));
  // A load creates and renames tables.
  database.exec('CREATE TABLE made_by_a_load (a); DROP TABLE made_by_a_load');
  database.close();
  await assert.rejects(run(ready), { code: 'LOCAL_DATA', message: /was replaced while the run began/ });
  assert.equal((await store.runs())[0]!.state, 'stopped');
  assert.equal((await ran()).state, 'complete');
});

const moduleOf = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

test('a thread that dies is an error, and the others stop', async (t) => {
  const { prepared, ran } = await scene(t);
  const { ready, data } = await prepared();
  const dies = moduleOf(
    `export const inThread = () => ({ run: async ({ kind }) => kind === 'store' && process.exit(7) });`,
  );
  const message = 'A thread that looked up locations ended with code 7';
  await assert.rejects(lookUp(ready, ready.plan, data, { module: dies }), { code: 'THREAD_FAILED', message });
  assert.equal((await ran()).state, 'complete');
});

test('threads store their answers one after the other, also where one of them dies', async (t) => {
  const { prepared, folder } = await scene(t);
  const { ready, data } = await prepared();
  // The second thread dies while the first stores, and the third has looked up its cells before that.
  const module = moduleOf(`
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    export const inThread = ({ dataFile, cells: { missing } }) => ({
      async run({ kind, from }) {
        if (kind === 'look_up' && from === 1000) {
          while (missing[0] !== -1) await sleep(2);
          process.exit(7);
        }
        if (kind === 'look_up') return null;
        appendFileSync(dataFile, 'begin ');
        missing[0] = -1;
        await sleep(100);
        appendFileSync(dataFile, 'end ');
        return null;
      },
    });`);
  const file = join(folder, 'stored.txt');
  const failed = { code: 'THREAD_FAILED', message: /ended with code 7/ };
  await assert.rejects(lookUp(ready, ready.plan, { ...data, file }, { threads: 3, module }), failed);
  assert.match(readFileSync(file, 'utf8'), /^(begin end ){2,}$/);
});

test('threads wait for another program that writes the store', async (t) => {
  const { ran, folder, stored } = await scene(t);
  const steps = new Int32Array(new SharedArrayBuffer(8));
  const workerData = { file: join(folder, 'store.db'), holdMs: 300, steps };
  const other = new Worker(new URL('./store-holder.ts', import.meta.url), { workerData });
  t.after(() => other.terminate());
  const progress = whenBegun(() => {
    Atomics.store(steps, 0, 1);
    Atomics.notify(steps, 0);
    Atomics.wait(steps, 1, 0, 10_000);
  });
  const ended = await ran(undefined, progress);
  assert.deepEqual([ended.state, Atomics.load(steps, 1), await stored()], ['complete', 1, CELLS]);
});

test('cells that are sorted by place have each its own topics', () => {
  const cells = new CellTable();
  const order: number[] = [];
  for (let i = 0; i < 400; i++)
    order.push(cells.add({ lat7: ((i * 7) % 50) * 3e7 - 8e8, lng7: ((i * 13) % 90) * 4e7 - 18e8 }));
  const missing = { get: (cell: number) => cell } as never;
  const sorted = sortedCells(order, cells, missing);
  assert.deepEqual(new Set(sorted.missing), new Set(order));
  assert.equal(sorted.missing.length, new Set(order).size);
  for (const [index, cell] of [...sorted.missing].entries()) {
    assert.deepEqual({ lat7: sorted.lat7[index], lng7: sorted.lng7[index] }, cells.cell(cell));
  }
});
