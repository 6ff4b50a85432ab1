import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { systemClock } from '../../src/base/clock.ts';
import type { PerilbookError } from '../../src/base/errors.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { perilbook } from '../cli/command-line.ts';
import { column, type Harness, openHarness, places } from '../run/harness.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { times } from '../tier.ts';
import { until } from '../until.ts';
import {
  CELLS,
  type DiskRun,
  type DiskScene,
  holds,
  mountAt,
  OLD_OUTPUT,
  PRICE,
  SOCKETS,
  setDiskScene,
} from './disk-scene.ts';

const timeout = 300_000;
const NO_SHELL_LIMITS = process.platform === 'win32' && 'no ulimit';
const OUTPUT = 'OUTPUT_UNWRITABLE';
const STORE = 'STORE_UNUSABLE';

interface Fault {
  readonly what: string;
  /** Makes the fault; a text says why it cannot be made here. */
  readonly make: (scene: DiskScene, t: TestContext) => DiskRun | string;
  readonly code: string;
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Most credits that the service may have charged: nothing, where all is known before the first call. */
  readonly mayCost?: number;
  readonly skip?: string | false;
}

/** Makes a store with all answers of half the book in it. */
async function boughtStore(scene: DiskScene): Promise<void> {
  const half = readFileSync(scene.path('input.csv'), 'utf8').split('\n', CELLS / 2 + 1);
  writeFileSync(scene.path('input.half.csv'), `${half.join('\n')}\n`);
  const { code, stderr } = await scene.run({
    job: { input: 'input.half.csv', output: 'half.csv' },
  });
  assert.equal(code, 0, stderr);
}

function makeStore(file: string): void {
  // A SQLite store is closed when this returns.
  void openSqliteStore(file, systemClock, { name: 'other', isAlive: () => true }).close();
}

const nobody = (scene: DiskScene, run: DiskRun = {}): DiskRun => {
  // What the run needs besides the fault: to read its job and book, and to write elsewhere in the folder.
  chmodSync(scene.folder, 0o777);
  return { preload: ['another-user.ts'], ...run };
};

const FAULTS: readonly Fault[] = [
  {
    what: "the output's folder may not be written by this user",
    make: (scene) => {
      mkdirSync(scene.path('closed'), { mode: 0o555 });
      return nobody(scene, { job: { output: 'closed/output.csv' } });
    },
    ...{
      code: OUTPUT,
      message: /may not be written by this user/,
      hint: /permissions of its folder/,
    },
  },
  {
    what: "the output's disk is read-only",
    make: (scene, t) => {
      mkdirSync(scene.path('frozen'));
      const isMounted = mountAt(t, scene.path('frozen'), '-t', 'tmpfs', '-o', 'ro', 'none');
      return isMounted ? { job: { output: 'frozen/output.csv' } } : 'nothing can be mounted here';
    },
    ...{ code: OUTPUT, message: /read-only/, hint: /Choose another output file/ },
  },
  {
    what: 'the disk is full while the output is written',
    skip: NO_SHELL_LIMITS,
    make: (scene) => {
      // Rows enough that the output, and it alone, outgrows eight mebibytes.
      const [head, ...rows] = readFileSync(scene.path('input.csv'), 'utf8').trimEnd().split('\n');
      writeFileSync(scene.path('input.csv'), `${head}\n${`${rows.join('\n')}\n`.repeat(12)}`);
      return { shell: "ulimit -f 8192; trap '' XFSZ;" };
    },
    ...{
      code: OUTPUT,
      message: /does not fit on its disk/,
      hint: /run again: nothing is bought twice/,
    },
    mayCost: PRICE,
  },
  {
    what: 'the store lies below a file',
    make: () => ({ job: { store: 'input.csv/store.db' } }),
    ...{ code: STORE, message: /cannot be made/, hint: /--store/ },
  },
  {
    what: 'the store may not be written by this user',
    make: (scene) => {
      makeStore(scene.path('closed.db'));
      chmodSync(scene.path('closed.db'), 0o444);
      if (process.getuid?.() === 0) chownSync(scene.path('closed.db'), 0, 0);
      return nobody(scene, { job: { store: 'closed.db' } });
    },
    ...{ code: STORE, message: /may not be written/, hint: /permissions/ },
  },
  {
    what: "the store's disk is full from the beginning (a file size limit)",
    skip: NO_SHELL_LIMITS,
    make: () => ({ shell: "ulimit -f 16; trap '' XFSZ;" }),
    ...{ code: STORE, message: /cannot be read or written/, hint: /is it full/ },
  },
  {
    what: 'the store under two names',
    make: (scene) => {
      new Database(scene.path('one.db')).exec('CREATE TABLE t (a)').close();
      linkSync(scene.path('one.db'), scene.path('two.db'));
      return { job: { store: 'two.db' } };
    },
    ...{ code: STORE, message: /has 2 names \(hard links\)/, hint: /Copy it/ },
  },
];

for (const { what, make, code, message, hint, mayCost = 0, skip = false } of FAULTS) {
  test(`${what}: ${code}, the old output intact, ${mayCost === 0 ? 'nothing sent' : 'what was bought is kept'}`, {
    timeout,
    skip,
  }, async (t) => {
    const scene = await setDiskScene(t);
    const input = scene.path('input.csv');
    const made = make(scene, t);
    if (typeof made === 'string') return t.skip(made);
    const [text, expectedStray] = [readFileSync(input, 'utf8'), scene.stray()];
    const { code: exit, signal, stderr } = await scene.run(made);
    assert.deepEqual([exit, signal], [2, null], stderr);
    assert.match(stderr, new RegExp(`\\[${code}\\]`));
    const [said, next] = stderr.slice(stderr.indexOf('error: ')).split('\n');
    assert.match(said!, message);
    assert.match(next!, hint);
    assert.ok(holds(scene, 'output.csv', OLD_OUTPUT));
    assert.equal(readFileSync(input, 'utf8'), text);
    const left = scene.stray().filter((name) => !/^(closed|one|two)\.db-(wal|shm)$/.test(name));
    assert.deepEqual(left, expectedStray);
    assert.equal(scene.harness.charged(), mayCost);
    if (mayCost === 0) return;
    assert.match(stderr, /^spent {2}[\d,]+ credits$/m);
    // All of it is in the store: the next run, on a good disk, spends nothing.
    const again = await scene.run();
    assert.equal(again.code, 0, again.stderr);
    assert.equal(scene.harness.charged(), mayCost);
    assert.ok(column(scene.harness.output(), 'hazard_status').every((status) => status === 'ok'));
  });
}

test('the store is full in the middle of buying: what is in flight is lost, no more, and the next run buys the rest', {
  timeout,
}, async (t) => {
  const scene = await setDiskScene(t);
  const { code, stderr } = await scene.run({ preload: ['few-pages.ts'], env: { MAX_PAGES: '32' } });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /has no room left/);
  assert.match(stderr, /run again.*\[STORE_UNUSABLE\]/);
  assert.ok(holds(scene, 'output.csv', OLD_OUTPUT));
  assert.deepEqual(scene.stray(), []);
  const spent = scene.harness.charged();
  assert.ok(spent < PRICE, `${spent} credits`);
  const again = await scene.run();
  assert.equal(again.code, 0, again.stderr);
  const { charged, unknown } = await scene.statement();
  t.diagnostic(`${spent} credits before the failure, ${unknown} of them may be lost`);
  assert.equal(charged, PRICE);
  assert.ok(unknown <= SOCKETS * 15, `${unknown} credits unknown`);
  assert.ok(scene.harness.charged() <= charged + unknown);
  assert.ok(column(scene.harness.output(), 'hazard_status').every((status) => status === 'ok'));
});

test('a data file without room ends a load and a run on sample data with SERVICE_DATA, never a bug', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'in.csv'), 'lat,lng\n40,-100\n');
  const { pragma } = Database.prototype;
  t.mock.method(
    Database.prototype,
    'pragma',
    function (this: Database.Database, ...given: [string]) {
      // Room for its schema alone; the store is synchronous in another way.
      if (given[0] === 'synchronous = NORMAL') pragma.call(this, 'max_page_count = 60');
      return pragma.apply(this, given);
    },
  );
  for (const command of [
    'data load sample --db made-up.db',
    'run in.csv --topics hail --service sample --yes',
  ]) {
    const { code, stderr } = await perilbook(command.split(' '), { folder, env: { HOME: folder } });
    assert.equal(code, 2, stderr);
    assert.match(
      stderr,
      /The data file \S+ has no room left on its disk: .*\n {2}hint: Make room, .*\[SERVICE_DATA\]/,
    );
  }
});

test('a store whose pages are damaged: STORE_UNUSABLE, never a bug, the old output intact', {
  timeout,
}, async (t) => {
  const scene = await setDiskScene(t);
  await boughtStore(scene);
  const whole = readFileSync(scene.path('disk.db'));
  const spent = scene.harness.charged();
  let refused = 0;
  for (let page = 1; page * 4096 < whole.length; page += 3) {
    const bytes = Buffer.from(whole);
    bytes.fill(0xa5, page * 4096, page * 4096 + 4096);
    writeFileSync(scene.path('disk.db'), bytes);
    const before = scene.harness.charged();
    const { code, stderr } = await scene.run({ job: { topics: 'wildfire', budget: 100 } });
    // A page that this run does not look at does no harm.
    if (code === 0) continue;
    refused++;
    assert.equal(code, 2, stderr);
    assert.match(stderr, /The store .* is damaged.*\n.*copy of it.*\[STORE_UNUSABLE\]/);
    assert.ok(scene.harness.charged() - before <= CELLS);
    if (refused === 3) break;
  }
  assert.ok(refused > 0, 'no damage was seen');
  truncateSync(scene.path('disk.db'), whole.length - 4096 * 3);
  assert.equal((await scene.run()).code, 2);
  assert.ok(scene.harness.charged() >= spent);
});

test('pages of a store that were exchanged: STORE_UNUSABLE or the same answers, never a bug and no second purchase', {
  timeout,
}, async (t) => {
  const scene = await setDiskScene(t);
  await boughtStore(scene);
  const whole = readFileSync(scene.path('disk.db'));
  const pages = whole.length / 4096;
  const job = { input: 'input.half.csv', output: 'half.csv' };
  const spent = scene.harness.charged();
  let refused = 0;
  for (let pair = 0; pair < times({ long: 12, soak: 200 }); pair++) {
    const [a, b] = [1 + ((pair * 7) % (pages - 1)), 1 + ((pair * 11 + 3) % (pages - 1))];
    const bytes = Buffer.from(whole);
    whole.copy(bytes, a * 4096, b * 4096, b * 4096 + 4096);
    whole.copy(bytes, b * 4096, a * 4096, a * 4096 + 4096);
    for (const end of ['-wal', '-shm']) rmSync(scene.path(`disk.db${end}`), { force: true });
    writeFileSync(scene.path('disk.db'), bytes);
    const { code, stderr } = await scene.run({ job });
    if (code !== 0) refused++;
    assert.ok(code === 0 || /\[STORE_UNUSABLE\]/.test(stderr), `pages ${a} and ${b}: ${stderr}`);
    assert.equal(scene.harness.charged(), spent, `pages ${a} and ${b}: ${stderr}`);
  }
  t.diagnostic(`${refused} of the exchanges were seen`);
  assert.ok(refused > 0);
});

test('links to input, output and store are followed and kept', { timeout }, async (t) => {
  const scene = await setDiskScene(t);
  for (const folder of ['there', 'kept']) mkdirSync(scene.path(folder));
  symlinkSync('input.csv', scene.path('in.link.csv'));
  symlinkSync('there/real.csv', scene.path('out.link.csv'));
  symlinkSync('kept/real.db', scene.path('store.link.db'));
  const linked = { input: 'in.link.csv', output: 'out.link.csv', store: 'store.link.db' };
  const first = await scene.run({ job: linked });
  assert.equal(first.code, 0, first.stderr);
  for (const link of Object.values(linked))
    assert.ok(lstatSync(scene.path(link)).isSymbolicLink(), link);
  assert.equal(scene.harness.charged(), PRICE);
  // The same store and the same output by their other names: nothing is bought again.
  const direct = await scene.run({ job: { output: 'there/real.csv', store: 'kept/real.db' } });
  assert.equal(direct.code, 0, direct.stderr);
  assert.equal(scene.harness.charged(), PRICE);
  assert.ok(
    column(readFileSync(scene.path('there/real.csv'), 'utf8'), 'hazard_status').every(
      (one) => one === 'ok',
    ),
  );
});

/** Places that are bought while a store is moved. */
const BOUGHT = 100;
/** The service counts a charge up to some milliseconds after its answer: as many calls again as are in flight. */
const AFTER = 2 * SOCKETS;

interface Event {
  readonly what: string;
  /** Does it to the store `folder/buyer.db`. */
  readonly happen: (folder: string) => void;
  readonly message: RegExp;
  readonly hint: RegExp;
  /** Where the store is afterwards; null where it is lost. */
  readonly foundAt: string | null;
}

const FILES = ['', '-wal', '-shm'];
const remove = (folder: string) => {
  for (const end of FILES) rmSync(join(folder, `buyer.db${end}`), { force: true });
};

const EVENTS: readonly Event[] = [
  {
    what: 'deleted',
    happen: (folder) => rmSync(join(folder, 'buyer.db')),
    ...{ message: /buyer\.db was moved or deleted while/, hint: /bought again/, foundAt: null },
  },
  {
    what: 'renamed',
    happen: (folder) => renameSync(join(folder, 'buyer.db'), join(folder, 'kept.db')),
    ...{ message: /buyer\.db was moved or deleted while/, hint: /--store/, foundAt: 'kept.db' },
  },
  {
    what: 'cut off after its first pages',
    happen: (folder) => truncateSync(join(folder, 'buyer.db'), 3 * 4096),
    ...{ message: /buyer\.db was overwritten or cut off/, hint: /quota set/, foundAt: null },
  },
  {
    what: 'emptied',
    happen: (folder) => truncateSync(join(folder, 'buyer.db'), 0),
    ...{ message: /buyer\.db was overwritten or cut off/, hint: /quota set/, foundAt: null },
  },
  {
    what: 'replaced by another store, which is renamed over it',
    happen: (folder) => renameSync(join(folder, 'other.db'), join(folder, 'buyer.db')),
    ...{
      message: /moved or deleted .* another file is in its place/,
      hint: /bought again/,
      foundAt: null,
    },
  },
];

async function openSetup(t: TestContext) {
  const now = Date.now();
  const clock = { start: now, factor: 1, origin: now };
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock,
  });
  harness.writeInput(places(BOUGHT));
  makeStore(join(harness.folder, 'other.db'));
  const run = async (name = 'buyer.db', progress = newProgress()) => {
    const owner = { name: 'buyer', isAlive: () => true };
    const file = join(harness.folder, name);
    await using store = openSqliteStore(
      file,
      systemClock,
      owner,
      (topic) => columnsOf(topic).length,
    );
    return await harness.run(
      { topics: ['hail'], concurrency: SOCKETS, budget: 10_000 },
      { store, progress },
    );
  };
  return { harness, run };
}

/** Lets the service charge some credits, and says how many it has charged when the event has happened. */
async function afterSome(harness: Harness, credits: number, happen: () => void): Promise<number> {
  await until(() => harness.charged() >= credits);
  happen();
  return harness.charged();
}

for (const { what, happen, message, hint, foundAt } of EVENTS) {
  test(`a store that is ${what} while a run buys stops the run, with its calls in flight`, {
    timeout,
  }, async (t) => {
    const { harness, run } = await openSetup(t);
    const [ended, before] = await Promise.all([
      run(),
      afterSome(harness, 10, () => happen(harness.folder)),
    ]);
    const charged = harness.charged();
    assert.ok(
      charged <= before + AFTER && charged < BOUGHT,
      `${before} credits charged before it, ${charged} in all`,
    );
    assert.deepEqual([ended.state, ended.stop?.reason], ['stopped', 'store_moved']);
    assert.match(ended.stop!.message, message);
    assert.match(ended.stop!.message, hint);
    // Answers of calls that were in flight are in the output as well.
    const statuses = column(harness.output(), 'hazard_status');
    assert.deepEqual(
      [statuses.length, statuses.filter((status) => status === 'ok').length],
      [BOUGHT, charged],
    );
    if (foundAt === null) return;
    assert.equal((await run(foundAt)).state, 'complete');
    assert.equal(harness.charged(), BOUGHT);
  });
}

test('a copy from before that is laid over a store in use, by its name and inode, stops the run: no second purchase, no bug', {
  timeout,
}, async (t) => {
  const { harness, run } = await openSetup(t);
  const all = places(3 * BOUGHT);
  harness.writeInput(all.slice(0, 2 * BOUGHT));
  assert.equal((await run()).state, 'complete');
  harness.writeInput(all);
  const restore = () =>
    copyFileSync(join(harness.folder, 'other.db'), join(harness.folder, 'buyer.db'));
  const [ended, before] = await Promise.all([
    run().then(
      ({ stop }) => ({ code: stop?.reason, message: stop?.message ?? '' }),
      (error) => error as PerilbookError,
    ),
    afterSome(harness, 2 * BOUGHT + 10, restore),
  ]);
  assert.match(ended.code ?? '', /^(store_moved|STORE_MOVED|STORE_UNUSABLE)$/, ended.message);
  assert.match(ended.message, /overwritten or cut off|damaged/);
  assert.ok(harness.charged() <= before + AFTER, `${before}, then ${harness.charged()}`);
});

test('a disk with little room: no first run leaves half a store, and none buys what it cannot keep', {
  timeout,
}, async (t) => {
  const scene = await setDiskScene(t);
  mkdirSync(scene.path('small'));
  const mount = (size: string) =>
    mountAt(t, scene.path('small'), '-t', 'tmpfs', '-o', `size=${size}`, 'none');
  if (!mount('8m')) return t.skip('nothing can be mounted here');
  const filler = scene.path('small/filler');
  const job = { store: 'small/store.db' };
  for (const left of [0, 4, 40, 100, 150, 160, 180, 200, 220, 240, 300, 600, 1_200, 3_000]) {
    writeFileSync(filler, Buffer.alloc((8 * 1024 - left) * 1024));
    for (let run = 0; run < 2; run++) {
      const { code, stderr } = await scene.run({ job });
      assert.equal(code, 2, `${left} kB: ${stderr}`);
      assert.match(stderr, /room left|is it full|does not fit/, `${left} kB`);
      assert.match(stderr, /\[STORE_UNUSABLE\]/);
      assert.equal(scene.harness.charged(), 0, `${left} kB`);
    }
    rmSync(filler);
    // With room, the next command finds no damaged store.
    const { code, stderr } = await scene.run({ job: { ...job, budget: 0 } });
    assert.equal(code, 4, `${left} kB: ${stderr}`);
    for (const name of readdirSync(scene.path('small'))) rmSync(scene.path(`small/${name}`));
  }
  assert.equal((await scene.run({ job })).code, 0);
  assert.equal(scene.harness.charged(), PRICE);
});

test('a store that is deleted while the output is written is told of, though all was bought', {
  timeout,
}, async (t) => {
  const { harness, run } = await openSetup(t);
  harness.writeInput(places(5));
  const progress = newProgress();
  progress.onChange = () => {
    if (progress.phase === 'writing') remove(harness.folder);
  };
  const ended = await run('buyer.db', progress);
  assert.deepEqual(
    [ended.stop?.reason, ended.summary.status.ok, harness.charged()],
    ['store_moved', 5, 5],
  );
});

test('the real program says it, and ends with exit code 2', { timeout }, async (t) => {
  const scene = await setDiskScene(t);
  const happen = () => rmSync(scene.path('disk.db'));
  const [{ code, stderr }, before] = await Promise.all([
    scene.run(),
    afterSome(scene.harness, 45, happen),
  ]);
  assert.equal(code, 2, stderr);
  assert.match(
    stderr,
    /The store .*disk\.db was moved or deleted while this run used it[\s\S]*\[STORE_MOVED\]/,
  );
  assert.ok(
    scene.harness.charged() <= before + 2 * SOCKETS * 15,
    `${before}, then ${scene.harness.charged()}`,
  );
});

test('a copy of a store on a read-only disk is read by what only looks; what writes is refused, and the copy stays as it was', {
  timeout,
}, async (t) => {
  const scene = await setDiskScene(t);
  assert.equal((await scene.run()).code, 0);
  mkdirSync(scene.path('backup'));
  const options = ['-t', 'tmpfs', '-o', 'size=8m', 'none'];
  if (!mountAt(t, scene.path('backup'), ...options)) return t.skip('nothing can be mounted here');
  copyFileSync(scene.path('disk.db'), scene.path('backup/store.db'));
  const before = readFileSync(scene.path('backup/store.db'));
  assert.equal(spawnSync('mount', ['-o', 'remount,ro', scene.path('backup')]).status, 0);
  const temporary = () =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('perilbook-store'));
  const kept = temporary();
  for (const [words, says] of [
    [['status', 'job.yaml'], /complete/],
    [['quota', 'job.yaml'], new RegExp(`charged +${PRICE}`)],
    [['cache', 'stats'], new RegExp(`${PRICE} charged`)],
    [['report', 'job.yaml'], /report/],
  ] as const) {
    const { code, stdout, stderr } = await scene.command([
      ...words,
      '--store',
      scene.path('backup/store.db'),
    ]);
    assert.equal(code, 0, `${words}: ${stderr}`);
    assert.match(stdout + stderr, says, words.join(' '));
    assert.match(stderr, /store\.db may not be written: it is read from a copy of now\./);
  }
  for (const words of [
    ['cache', 'prune', '--older-than', '0d', '--yes'],
    ['quota', 'set', '--spent', '5'],
    ['run', 'job.yaml', '--yes'],
  ]) {
    const { code, stderr } = await scene.command([
      ...words,
      '--store',
      scene.path('backup/store.db'),
    ]);
    assert.equal(code, 2, `${words}: ${stderr}`);
    assert.match(stderr, /may not be written|cannot be opened/, words.join(' '));
  }
  assert.deepEqual(readFileSync(scene.path('backup/store.db')), before);
  assert.deepEqual(temporary(), kept, 'no copy is left');
  assert.equal(scene.harness.charged(), PRICE);
});
