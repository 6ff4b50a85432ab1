import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { column, openHarness, places } from '../run/harness.ts';
import { provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Bin, gateBefore, type Passage, startBin } from './bin-process.ts';
import { ROOT, wordsIn } from './command-line.ts';

const timeout = 300_000;

test('a file on standard input is the input: no output replaces it, under any name', {
  timeout,
}, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'b.csv');
  const before = 'lat,lng,hazard_status,hazard_note,hazard_as_of\n38.9,-77.03,ok,,\n';
  writeFileSync(file, before);
  const stdin = openSync(file, 'r');
  t.after(() => closeSync(stdin));
  const args = ['run', '-', '-t', 'hail', '-o', 'b.csv', '--force', '--yes', '--store', 'x.db'];
  const env = { PERILBOOK_BASE_URL: 'http://127.0.0.1:9', PERILBOOK_API_KEY: 'pb_none' };
  const { code, stderr } = await startBin(t, args, folder, env, { stdin }).ended;
  assert.match(stderr, /b\.csv is the input itself/);
  assert.deepEqual([code, readFileSync(file, 'utf8')], [2, before]);
});

const CELLS = 40;

/** A service on the wall clock, a gate before it, and a job for 40 cells of one credit each. */
async function setScene(
  t: TestContext,
  passage: (number: number) => Passage,
  creditsPerMinute = 10_000,
) {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000, 10_000),
    clock: { start: now, factor: 1, origin: now },
  });
  harness.writeInput(places(CELLS));
  const gate = await gateBefore(t, harness.url, passage);
  const { secret } = harness.key();
  const lines = [
    'input: input.csv',
    'output: output.csv',
    'store: store.db',
    'topics: wildfire',
    `subscription: {credits_per_month: 100000, credits_per_minute: ${creditsPerMinute}}`,
    `service: {base_url: "${gate.url}", api_keys: [{env: THE_KEY}]}`,
    'budget: 1000',
  ];
  writeFileSync(join(harness.folder, 'job.yaml'), `${lines.join('\n')}\n`);
  return {
    ...{ harness, secret, gate },
    run: (...more: string[]) =>
      startBin(t, ['run', 'job.yaml', ...more], harness.folder, { THE_KEY: secret }),
    statuses: () => column(harness.output(), 'hazard_status'),
  };
}

const count = (statuses: readonly string[], status: string) =>
  statuses.filter((name) => name === status).length;

test('SIGINT while a run waits for its minute: 130, a complete file, and what to do next', {
  timeout,
}, async (t) => {
  const scene = await setScene(t, () => 'answer', 10);
  const bin = scene.run();
  await scene.gate.reached(5);
  bin.kill('SIGINT');
  const { code, stderr } = await bin.ended;
  assert.equal(code, 130, stderr);
  assert.match(
    stderr,
    /Interrupted\. Answers that were bought are kept\. .*[\s\S]*\nTo resume: perilbook run job\.yaml/,
  );
  assert.deepEqual(
    [scene.statuses().length, count(scene.statuses(), 'ok')],
    [CELLS, scene.harness.charged()],
  );
});

test('SIGKILL in the middle: the same command finishes, and what may have been charged in vain is listed as unknown', {
  timeout,
}, async (t) => {
  const [answered, lost] = [12, 4];
  let killed = false;
  const scene = await setScene(t, (number) => (killed || number <= answered ? 'answer' : 'lose'));
  const bin = scene.run();
  await scene.gate.reached(answered + lost);
  bin.kill('SIGKILL');
  assert.equal((await bin.ended).signal, 'SIGKILL');
  assert.ok(!existsSync(join(scene.harness.folder, 'output.csv')));
  killed = true;

  const again = await scene.run('--json').ended;
  assert.equal(again.code, 0, again.stderr);
  assert.deepEqual(scene.statuses(), new Array(CELLS).fill('ok'));
  const { charged, unknown, open } = await scene.harness.ledger();
  const service = scene.harness.charged();
  assert.deepEqual([charged, open, service], [CELLS, 0, scene.gate.come]);
  assert.ok(
    service >= CELLS + lost && service <= charged + unknown,
    `${service} charged, ${unknown} unknown`,
  );
  assert.ok(unknown <= 8, `${unknown} unknown, with 8 sockets`);

  const third = await scene.run('--json').ended;
  assert.deepEqual(
    [third.code, JSON.parse(third.stdout).credits_spent, scene.harness.charged()],
    [0, 0, service],
  );
});

test('a terminal window that is closed during a run ends it like Ctrl-C: the output is written', {
  timeout,
  skip:
    spawnSync('script', ['--version']).error !== undefined && 'the command script is not installed',
}, async (t) => {
  const scene = await setScene(t, () => 'answer', 10);
  const { folder } = scene.harness;
  const main = [process.execPath, join(ROOT, 'src/main.ts'), 'run', 'job.yaml'].join(' ');
  // The system tells the first process of the terminal alone; a shell would pass it on to its jobs.
  const terminal = spawn('script', ['-qec', `exec ${main}`, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, SHELL: '/bin/sh', THE_KEY: scene.secret },
    stdio: 'ignore',
  });
  await scene.gate.reached(5);
  terminal.kill('SIGKILL');
  const state = async () => (await scene.harness.store.runs())[0]!.state;
  while ((await state()) === 'running') await delay(50, undefined, { signal: t.signal });
  assert.equal(await state(), 'interrupted');
  const statuses = scene.statuses();
  assert.equal(statuses.length, CELLS);
  assert.equal(count(statuses, 'ok'), scene.harness.charged());
});

test('a run goes on when the reader of its words goes', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const words =
    'run sample.csv -t natural --service sample --subscription professional --store store.db -o out.csv --yes';
  copyFileSync(join(ROOT, 'sample-data/portfolio-oed.csv'), join(folder, 'sample.csv'));
  const bin = startBin(t, wordsIn(words), folder, {}, { readsOnce: true });
  assert.deepEqual([(await bin.ended).code, existsSync(join(folder, 'out.csv'))], [0, true]);
});

test('what a full disk cannot take of stdout is told; the run ends in order, with its code and its program', {
  timeout,
}, async (t) => {
  const { harness, secret } = await setScene(t, () => 'answer');
  const job = join(harness.folder, 'job.yaml');
  writeFileSync(job, `${readFileSync(job, 'utf8')}on_finish: [sh, -c, "cat > told.json"]\n`);
  const stdout = openSync('/dev/full', 'w');
  t.after(() => closeSync(stdout));
  const ran = await startBin(
    t,
    ['run', 'job.yaml', '--json'],
    harness.folder,
    { THE_KEY: secret },
    { stdout },
  ).ended;
  assert.match(ran.stderr, /^error: Standard output could not be written: .*ENOSPC/m);
  assert.doesNotMatch(ran.stderr, /BUG|at .*main\.ts/);
  assert.equal(ran.code, 2);
  assert.equal(
    JSON.parse(readFileSync(join(harness.folder, 'told.json'), 'utf8')).state,
    'complete',
  );
  for (const words of ['topics', 'run none.csv --json']) {
    const { code, stderr } = await startBin(t, words.split(' '), harness.folder, {}, { stdout })
      .ended;
    assert.match(stderr, /Standard output could not be written/);
    assert.equal(code, 2);
  }
});

const skip = process.platform === 'win32' && 'Windows has no such pipes';

/** Commands that wait for a pipe to which nobody writes; each ends at the first SIGTERM. Those that wait for other files are tried
 * without a process (pipes.test.ts). */
const WAITING: Readonly<Record<string, string>> = {
  'the input of a run': 'run pipe -o x.csv --topics wildfire --service sample',
  'the states of a file': 'data get radon --for pipe --dry-run',
  'a pipe as the output': 'run in.csv -o pipe --topics wildfire --service sample',
};

for (const [what, words] of Object.entries(WAITING)) {
  test(`a signal ends a command that waits for ${what}`, { timeout, skip }, async (t) => {
    const folder = temporaryFolder(t);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(join(folder, 'in.csv'), 'lat,lng\n40.7,-73.9\n');
    const bin = startBin(t, wordsIn(words), folder);
    const isOver = bin.ended.then(() => true);
    const pipe = join(folder, 'pipe');
    const isOutput = words.includes('-o pipe');
    if (isOutput) await bin.said('writing: 1 row');
    else {
      const writer = await openForWriting(pipe, bin);
      t.after(() => closeSync(writer));
    }
    bin.kill('SIGTERM');
    const hasEnded = await Promise.race([isOver, delay(60_000, false)]);
    assert.ok(hasEnded, `it waits on: ${bin.text()}`);
    assert.equal((await bin.ended).code, 130, bin.text());
  });
}

/** Opens the pipe as soon as the program reads it, and writes nothing. */
async function openForWriting(pipe: string, bin: Bin): Promise<number> {
  for (;;) {
    assert.ok(bin.isRunning, `it ended early: ${bin.text()}`);
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      await delay(50);
    }
  }
}
