import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse/sync';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { localNotes } from '../../src/data/topics/origin-notes.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { readLocalData } from '../../src/run/frame/local-data.ts';
import { newProgress, type Progress } from '../../src/run/frame/progress.ts';
import { lookUp, sortedCells } from '../../src/run/look-up/look-up.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import { CellTable } from '../../src/run/scan/cell-table.ts';
import { drawBetween, makeRandom } from '../../src/sample/random.ts';
import { perilbook, wordsIn } from '../cli/command-line.ts';
import { FastClock } from '../fast-clock.ts';
import { provideLocalData } from '../sample-database.ts';
import { createAccount, createKey } from '../service/file-accounts.ts';
import { coverOnly, openAccountsOf, releaseLater, start } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { column, openHarness, places, type RunOptions } from './harness.ts';

const CELLS = 9_000;

/** A book of 9,000 places, and the service's small data as local data. */
async function scene(t: TestContext) {
  const harness = await openHarness(t);
  harness.writeInput(places(CELLS));
  const { folder, clock, store } = harness;
  const prepared = async (
    settings: JobFile = {},
    own: Pick<RunOptions, 'progress' | 'interrupt'> = {},
  ) => {
    const data = readLocalData(join(folder, 'data.db'), clock.now())!;
    const connection = { kind: 'local', source: 'local', sample: false, data } as const;
    const ready = await prepare(
      await harness.open({ topics: ['hail'], ...settings }, { connection, ...own }),
    );
    t.after(() => ready[Symbol.dispose]());
    return { ready, data };
  };
  const ran = async (
    interrupt = new AbortController().signal,
    progress = newProgress(),
    settings: JobFile = {},
  ) => await run((await prepared(settings, { progress, interrupt })).ready);
  const stored = async () =>
    (await store.stats()).sources.find(({ source }) => source === 'local')?.cells ?? 0;
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
      if (done > 0) then();
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
  assert.ok(
    ok >= 1_000 && deferred > 0 && ok + deferred === CELLS,
    `${ok} ok, ${deferred} deferred`,
  );
  assert.equal(await stored(), ok);
  assert.ok(column(output(), 'hazard_note').includes('not looked up yet'));

  const rest = newProgress();
  const again = await ran(undefined, rest);
  assert.deepEqual(
    [again.state, again.summary.status.ok, rest.cellsDone],
    ['complete', CELLS, CELLS - ok],
  );
  assert.equal(again.summary.cells_cached, ok);
  assert.equal(charged(), 0);
});

test('a note names the datasets of the answered topics, and few vintages of each', async (t) => {
  const { data } = await (await scene(t)).prepared();
  const areas = {
    ...data.datasets.find(({ name }) => name === 'areas')!,
    vintage: 'file of 2026-11-22',
  };
  const datasets = [
    { ...areas, level: 'county' as const },
    { ...areas, level: 'tract' as const, vintage: 'file of 2026-11-22; 2023' },
    ...data.datasets.filter(({ name }) => name !== 'areas'),
  ];
  const { noteOf } = localNotes({ ...data, datasets }, false);
  const origin = { ofCounty: '', airQualityYear: null, state: '', nearest: '' as const };
  assert.equal(
    noteOf(['radon'], origin),
    'local data: areas file of 2026-11-22 and 2023, radon 2026',
  );
  const three =
    'local data: areas file of 2026-11-22 and 2023, nri 2026, radon 2026, sites:park 2026';
  assert.equal(noteOf(['radon', 'park', 'hail'], origin), three);
  const many = datasets.map((one) =>
    one.level === 'tract' ? { ...one, vintage: '2024; 2023; 2022' } : one,
  );
  const note = localNotes({ ...data, datasets: many }, false).noteOf(['radon'], origin);
  assert.equal(note, 'local data: areas 2022 and 3 other vintages, radon 2026');
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
  await assert.rejects(run(ready), {
    code: 'LOCAL_DATA',
    message: /was replaced while the run began/,
  });
  assert.equal((await store.runs())[0]!.state, 'stopped');
  assert.equal((await ran()).state, 'complete');
});

test('a thread that dies is an error; the batch of another one ends, and the next run completes the work', async (t) => {
  const { prepared, ran, folder } = await scene(t);
  const { ready, data } = await prepared();
  // A thread dies in its first batch, while another batch is at work here.
  const code = `
    import { appendFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { isMainThread } from 'node:worker_threads';
    export const inThread = ({ dataFile, cells: { missing } }) => {
      if (!isMainThread) missing[0] = -1;
      return {
        async run() {
          if (!isMainThread) process.exit(7);
          appendFileSync(dataFile, 'begin ');
          while (missing[0] !== -1) await sleep(2);
          await sleep(50);
          appendFileSync(dataFile, 'end ');
          return null;
        },
      };
    };`;
  const module = `data:text/javascript,${encodeURIComponent(code)}`;
  const file = join(folder, 'stored.txt');
  const failed = {
    code: 'THREAD_FAILED',
    message: 'A thread that looked up locations ended with code 7',
  };
  const asked = { ...ready.plan, fields: ready.plan.fields.parts[0]! };
  await assert.rejects(lookUp(ready, asked, { ...data, file }, { threads: 2, module }), failed);
  assert.match(readFileSync(file, 'utf8'), /^(begin end )+$/);
  assert.equal((await ran()).state, 'complete');
});

test('threads wait for another program that writes the store', async (t) => {
  const { ran, folder, stored } = await scene(t);
  // 1: it shall begin, 2: it has begun, 3: it ends.
  const steps = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { driver, file, steps } = require('node:worker_threads').workerData;
    const other = new (require(driver))(file);
    Atomics.wait(steps, 0, 0);
    other.exec('BEGIN IMMEDIATE');
    Atomics.store(steps, 0, 2);
    Atomics.notify(steps, 0);
    Atomics.wait(steps, 0, 2, 300);
    Atomics.store(steps, 0, 3);
    other.exec('COMMIT');`;
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const workerData = { driver, file: join(folder, 'store.db'), steps };
  const other = new Worker(code, { eval: true, workerData });
  t.after(() => other.terminate());
  let done: number | null = null;
  const progress = whenBegun(() => {
    if (done !== null) return;
    done = progress.cellsDone;
    Atomics.store(steps, 0, 1);
    Atomics.notify(steps, 0);
    Atomics.wait(steps, 0, 1);
  });
  const ended = await ran(undefined, progress);
  assert.deepEqual([ended.state, await stored(), steps[0]], ['complete', CELLS, 3]);
  assert.ok(done !== null && done < CELLS, `${done} cells before the other program wrote`);
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

const PLACES = times({ long: 400, soak: 4_000 });
const NOW = '2027-03-15T12:00:00Z';

/** Alaska on both sides of the 180th meridian, Hawaii, Puerto Rico, Guam, DC, a state line, the coast, Canada, Mexico, the sea. */
const SPECIAL =
  '51.88,-176.65 52.9,172.9 61.2181,-149.9003 21.3069,-157.8583 18.4655,-66.1057 13.4443,144.7937 38.9072,-77.0369 36.5501,-76.2 36.5499,-76.2 40.5795,-74 25.7617,-80.1918 24.5551,-81.78 45.5,-73.6 32.5,-117.05 30,-60 49.0001,-95.2 48.9999,-120'
    .split(' ')
    .map((location) => location.split(',').map(Number));

test(`${PLACES} places answered from local data are what the service says of them, column by column`, async (t) => {
  const folder = temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const clock = new FastClock(NOW, 20);
  const dataFile = provideLocalData(folder, clock.now() - 3_600_000);
  const partly = new Database(dataFile);
  partly.exec(coverOnly('NV,UT', 'radon', 'records:hail'));
  partly.exec("DELETE FROM datasets WHERE name = 'records:wildfire.current'");
  partly.close();
  writeBook(join(folder, 'book.csv'));

  const data = openDataDatabase(dataFile);
  releaseLater(t, () => data.close());
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  const subscription = customSubscription(10_000_000, 10_000_000);
  const { name } = createAccount(
    accounts,
    { name: 'all', subscription, signedUpAt: Date.UTC(2027, 0, 1) },
    clock,
  );
  const { key: secret } = createKey(accounts, name, ['bundle', ...TOPIC_SLUGS], clock);
  const service = await start(t, { data, accounts, clock });

  writeFileSync(join(folder, 'key'), secret, { mode: 0o600 });
  const plenty = 'subscription: {credits_per_month: 10000000, credits_per_minute: 10000000}';
  // Named one by one: `all` of a service is what its contract has.
  const job = `input: book.csv\noutput: out.csv\ntopics: ${TOPIC_SLUGS.join()}\noptimize: calls\n${plenty}\n`;
  writeFileSync(join(folder, 'job.yaml'), job);
  const answered = async (from: string) => {
    const words = wordsIn(`run job.yaml ${from}`);
    const { code, stderr } = await perilbook(words, {
      folder,
      clock,
      env: { XDG_DATA_HOME: folder },
    });
    assert.ok(code === 0 || code === 3, stderr);
    const rows = parse(readFileSync(join(folder, 'out.csv')), { columns: true }) as Record<
      string,
      string
    >[];
    return rows.map(({ hazard_note: _, hazard_as_of: __, ...row }) => row);
  };
  const bought = await answered(`--base-url ${service.url} --api-key-file key --yes`);
  const lookedUp = await answered('--service local --force');
  assert.equal(lookedUp.length, PLACES);
  for (const [index, row] of lookedUp.entries()) assert.deepEqual(row, bought[index]);
  const statuses = Map.groupBy(lookedUp, ({ hazard_status }) => hazard_status);
  assert.deepEqual([...statuses.keys()].sort(), ['ok', 'outside_us', 'partial']);
});

/** The special places, then places all over the states: few near cities, where a bundle has megabytes. */
function writeBook(file: string): void {
  const random = makeRandom(20, 'local');
  const spots = [
    ...SPECIAL,
    ...Array.from({ length: PLACES - SPECIAL.length }, () => [
      drawBetween(random, 31, 48.5),
      drawBetween(random, -123, -84),
    ]),
  ];
  const lines = spots.map(([lat, lng], index) => `${index},${lat!.toFixed(4)},${lng!.toFixed(4)}`);
  writeFileSync(file, `id,lat,lng\n${lines.join('\n')}\n`);
}
