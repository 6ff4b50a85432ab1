import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { ROW_STATUSES } from '../../src/columns/row-status.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { openRowFile } from '../../src/rows/open/open-row-file.ts';
import { drawBetween, drawWhole, makeRandom, pick, type Random } from '../../src/sample/random.ts';
import { type Bin, type BinEnd, startBin } from '../cli/bin-process.ts';
import { openHarness, places } from '../run/harness.ts';
import { firstSeed, times } from '../tier.ts';
import { until } from '../until.ts';

/** What the old output holds: a kill leaves either this or the whole new one. */
const OLD_OUTPUT = 'id,hazard_status,hazard_note,hazard_as_of\nold,ok,,\n';

type KillScene = Awaited<ReturnType<typeof setKillScene>>;

/** A file, or a folder of parts. */
const OUTPUTS = ['output.csv', 'output.csv.gz', 'output.parquet', 'out', 'out'];
const TOPICS =
  'wildfire,hail park,wildfire superfund radon airQuality,natural,natural park superfund ozone,all'
    .split(',')
    .map((topics) => topics.split(' '));

/** Draws a job by its seed, and runs it once undisturbed, with a store of its own.
 *
 * The service's clock stands still near the true time, so that every answer bears the same time and the outputs can be
 * compared byte for byte, `hazard_as_of` and all. The runs themselves are on the machine's clock. */
async function setKillScene(t: TestContext, seed: number) {
  const random = makeRandom(seed, 'kill');
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock: { start: now, factor: 1e-9, origin: now },
  });
  const cells = drawWhole(random, 20, 60);
  const rows = pick(random, [cells, 2_000, 12_000]);
  const sockets = pick(random, [1, 3, 8]);
  const topics = pick(random, TOPICS);
  const output = pick(random, OUTPUTS);
  const spots = places(cells);
  const spotOf = (row: number) => (row % 97 === 96 ? (['', 'x'] as const) : spots[row % cells]!);
  const located = Array.from({ length: rows }, (_, row) => spotOf(row));
  const file = (name: string) => join(harness.folder, name);
  const inParts = output === 'out';
  const written = inParts ? writeParts(harness.folder, located, random) : [{ path: output, rows }];
  if (!inParts) harness.writeInput(located);
  const { secret } = harness.key();
  const job = {
    ...{
      name: 'killed',
      input: inParts ? 'in' : 'input.csv',
      topics,
      concurrency: sockets,
      budget: 1_000_000,
    },
    subscription: { credits_per_month: 1_000_000, credits_per_minute: 1_000_000 },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  const calm = inParts ? 'calm' : `calm.${output}`;
  writeFileSync(file('job.yaml'), JSON.stringify({ ...job, output, store: 'killed.db' }));
  writeFileSync(file('calm.yaml'), JSON.stringify({ ...job, output: calm, store: 'calm.db' }));
  for (const { path } of written) writeFileSync(file(path), OLD_OUTPUT);
  const environment = (more: Readonly<Record<string, string>> = {}) => ({
    THE_KEY: secret,
    NODE_OPTIONS: `--import ${import.meta.resolve('./kill-at-step.ts')}`,
    ...more,
  });
  const began = performance.now();
  const counting = environment({ COUNT_STEPS: file('steps') });
  const { code, stderr } = await startBin(
    t,
    ['run', 'calm.yaml', '--quiet'],
    harness.folder,
    counting,
  ).ended;
  if (code !== 0)
    throw new Error(`seed ${seed}: the undisturbed run ended with ${code}: ${stderr}`);
  const steps = Number(readFileSync(file('steps'), 'utf8'));
  return {
    ...{ harness, random, sockets, steps },
    /** The files that it writes, one or one a part: path, rows, and what the undisturbed run wrote. */
    outputs: written.map((one) => ({
      ...one,
      expected: readFileSync(file(one.path.replace(output, calm))),
    })),
    /** What the undisturbed run cost, by the service; how long it took, and in how many steps (kill-at-step.ts). */
    price: harness.charged(),
    lastedMs: performance.now() - began,
    drawn: `seed ${seed}: ${rows} rows, ${cells} cells, ${topics.join('+')}, ${sockets} sockets, ${output}, ${steps} steps`,
    start: (env?: Readonly<Record<string, string>>) =>
      startBin(t, ['run', 'job.yaml', '--quiet'], harness.folder, environment(env)),
    /** Runs another command of the job to its end. */
    ask: (...args: string[]) => startBin(t, args, harness.folder, { THE_KEY: secret }),
  };
}

/** Writes the rows as a folder of parts; returns the output of each. */
function writeParts(
  folder: string,
  located: readonly (readonly (number | string)[])[],
  random: Random,
) {
  for (const name of ['in', 'out']) mkdirSync(join(folder, name));
  const parts = drawWhole(random, 2, 6);
  return Array.from({ length: parts }, (_, part) => {
    const own = located.filter((_, row) => row % parts === part);
    const name = `${part}${pick(random, ['.csv', '.csv.gz'])}`;
    const text = `id,lat,lng\n${own.map((spot) => `x,${spot.join(',')}\n`).join('')}`;
    writeFileSync(join(folder, 'in', name), name.endsWith('.gz') ? gzipSync(text) : text);
    return { path: join('out', name), rows: own.length };
  });
}

/** A call of a ledger. */
interface Call {
  readonly call: string;
  readonly charge: 'sent' | 'charged' | 'free' | 'unknown';
  readonly credits: number;
  readonly requestId: string | null;
  /** The call and where it was made. */
  readonly at: string;
}

/** The ledger's calls, read from the file itself, as they are at this moment: opening a store would settle some. */
function ledgerCalls(scene: KillScene): Call[] {
  const file = new Database(join(scene.harness.folder, 'killed.db'), { readonly: true });
  try {
    return file
      .prepare<[], Call>(
        `SELECT kind || coalesce(' ' || topic, '') AS call, charge, credits, request_id AS requestId,
           kind || coalesce(' ' || topic, '') || ' ' || lat7 || ' ' || lng7 AS at FROM calls`,
      )
      .all();
  } catch (error) {
    // Killed before its tables were made.
    if (/no such table/.test(String(error))) return [];
    throw error;
  } finally {
    file.close();
  }
}

/** The number of the service's last charge. */
function lastCharge({ harness }: KillScene): number {
  return harness.accounts
    .prepare<[], number>('SELECT coalesce(max(id), 0) FROM charges')
    .pluck()
    .get()!;
}

/** Waits until the service has settled every charge: handed over, or taken back because its reader was killed. */
async function serviceSettled({ harness }: KillScene): Promise<void> {
  const pending = harness.accounts
    .prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')
    .pluck();
  await until(() => pending.get() === 0);
}

/** Compares the service's charges with the ledger's calls, call by call.
 * @param scene `price`: credits that the ledger must list as charged
 * @param since the last charge before the first run on the killed store
 * @param mostUnknown most calls that may be unknown */
function assertBooksAgree(
  scene: KillScene,
  since: number,
  mostUnknown: number,
  where: string,
): void {
  const calls = ledgerCalls(scene);
  const charges = scene.harness.accounts
    .prepare<[number], { call: string; requestId: string; credits: number }>(
      `SELECT kind || coalesce(' ' || topic, '') AS call, request_id AS requestId, credits FROM charges
       WHERE id > ? AND pending_by IS NULL`,
    )
    .all(since);
  const sum = (some: readonly { credits: number }[]) =>
    some.reduce((total, { credits }) => total + credits, 0);
  const of = (charge: Call['charge']) => calls.filter((call) => call.charge === charge);
  const [charged, unknown] = [of('charged'), of('unknown')];
  assert.deepEqual(of('sent'), [], `${where}: calls are still open`);
  assert.ok(
    unknown.length <= mostUnknown,
    `${where}: ${unknown.length} calls unknown, at most ${mostUnknown}`,
  );
  const unanswered = new Map(charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, credits, at } of charged) {
    assert.equal(
      unanswered.get(requestId!)?.credits,
      credits,
      `${where}: the service knows nothing of ${at}`,
    );
    unanswered.delete(requestId!);
  }
  // What the service charged and the ledger has no answer to must be among its unknown calls, call by call.
  const unexplained = unknown.map(({ call }) => call);
  for (const { call } of unanswered.values()) {
    const index = unexplained.indexOf(call);
    assert.ok(index >= 0, `${where}: charged and not in the ledger: ${call}`);
    unexplained.splice(index, 1);
  }
  assert.equal(
    new Set(charged.map(({ at }) => at)).size,
    charged.length,
    `${where}: something was bought twice`,
  );
  assert.equal(
    sum(charged),
    scene.price,
    `${where}: the ledger's credits are those of an undisturbed run`,
  );
}

const JOBS = times({ long: 1, soak: 250 });
/** Runs of a job that are to be killed or interrupted; once the job is done, they have nothing left to buy and still write. */
const RUNS = 8;

test(`${JOBS} jobs, of each ${RUNS} runs killed or interrupted at random instants: each ends as an undisturbed one, and the books agree`, {
  timeout: 300_000 + JOBS * 300_000,
}, async (t) => {
  const seed = firstSeed(5);
  for (let job = 0; job < JOBS; job++)
    await t.test(`seed ${seed + job}`, (trial) => killTrial(trial, seed + job));
});

/** Draws a job, kills it at random moments, starts it again until it is done, and looks at everything that is left. */
async function killTrial(t: TestContext, seed: number): Promise<void> {
  const scene = await setKillScene(t, seed);
  const { drawn, outputs } = scene;
  const since = lastCharge(scene);
  const before = listFiles(scene);
  const ends: string[] = [];
  let [abrupt, disturbed] = [0, 0];
  let files = readOutputs(scene);
  for (let run = 0; run < RUNS; run++) {
    const openBefore = new Set(openCalls(scene));
    const doomed = startDoomed(scene);
    const ended = await doomed.bin.ended;
    const where = `${drawn}, ${doomed.where}: ${ended.signal ?? ended.code} ${ended.stderr}`;
    const end = endOf(doomed, ended, where);
    ends.push(`${doomed.where} (${end})`);
    if (end === 'killed') abrupt++;
    if (end !== 'complete') disturbed++;
    const left = openCalls(scene).filter((call) => !openBefore.has(call)).length;
    assert.ok(left <= (end === 'killed' ? scene.sockets : 0), `${where}: ${left} calls open`);
    const now = readOutputs(scene);
    for (const [index, bytes] of now.entries()) {
      if (bytes.equals(outputs[index]!.expected)) continue;
      // Killed, or interrupted before the first answer: as it was. Interrupted later: all rows, some of them without their answers.
      const mayStay =
        end === 'killed' || ledgerCalls(scene).every(({ charge }) => charge !== 'charged');
      if (mayStay && bytes.equals(files[index]!)) continue;
      const isLeft = end === 'interrupted' || doomed.signals.length > 0;
      assert.ok(isLeft, `${where}: ${bytes.length} bytes of ${outputs[index]!.path}`);
      assert.equal(
        await rowsWithStatus(scene, index),
        outputs[index]!.rows,
        `${where}: rows are missing`,
      );
    }
    files = now;
  }
  const { code, stderr } = await scene.start().ended;
  assert.equal(code, 0, `${drawn}: ${stderr}`);
  assertWhole(scene);
  await serviceSettled(scene);
  assertBooksAgree(scene, since, abrupt * scene.sockets, drawn);
  await assertStatement(scene, since);
  // Once more: nothing is left to buy.
  const paid = scene.harness.charged();
  const again = await scene.start().ended;
  assert.deepEqual([again.code, scene.harness.charged()], [0, paid], `${drawn}: ${again.stderr}`);
  assertWhole(scene);
  const expected = new Set([...before, 'killed.db']);
  const stray = listFiles(scene).filter(
    (name) => !expected.has(name) && !name.startsWith('service'),
  );
  assert.deepEqual(stray, [], drawn);
  const unknown = ledgerCalls(scene).filter(({ charge }) => charge === 'unknown');
  const credits = unknown.reduce((sum, call) => sum + call.credits, 0);
  t.diagnostic(
    `${drawn}; ${ends.join(', ')}; ${unknown.length} calls of ${credits} credits unknown`,
  );
  assert.ok(disturbed > 0, `${drawn}: no run was killed or interrupted`);
}

/** A run that will not end by itself. */
interface Doomed {
  readonly where: string;
  readonly bin: Bin;
  /** What it is sent; none where it is killed. */
  readonly signals: readonly NodeJS.Signals[];
}

/** `killed`: nothing was done any more. `interrupted`: calls in flight ended, and all rows were written. */
type End = 'complete' | 'killed' | 'interrupted';

function endOf({ signals }: Doomed, { code, signal, stderr }: BinEnd, where: string): End {
  if (code === 0) return 'complete';
  if (signals.length === 0) {
    assert.equal(signal, 'SIGKILL', where);
    return 'killed';
  }
  // A signal that comes before the program is loaded, or when Node has begun to leave after the output was put in place,
  // ends it as any other program.
  const isUnheard = signal === signals[0] && (stderr === '' || signals.length > 1);
  assert.ok(code === 130 || isUnheard, where);
  // A second hangup is the same one; any other second signal leaves at once.
  const leavesAtOnce = signals.length > 1 && signals[0] !== 'SIGHUP';
  return isUnheard || leavesAtOnce ? 'killed' : 'interrupted';
}

/** The numbers of the calls without an outcome, in the order of the ledger. */
function openCalls(scene: KillScene): number[] {
  return readdirSync(scene.harness.folder).includes('killed.db')
    ? ledgerCalls(scene).flatMap(({ charge }, index) => (charge === 'sent' ? [index] : []))
    : [];
}

/** Starts a run that will be killed: after some time, at some step, or when its output grows. Or it is interrupted, once or twice. */
function startDoomed(scene: KillScene): Doomed {
  const { random } = scene;
  const way = pick(random, ['time', 'step', 'step', 'write', 'signal', 'signal'] as const);
  if (way === 'step') {
    const step =
      random() < 0.5 ? String(drawWhole(random, 1, scene.steps)) : pick(random, LAST_STEPS);
    return {
      where: `step ${step} of ${scene.steps}`,
      bin: scene.start({ KILL_AT_STEP: step }),
      signals: [],
    };
  }
  if (way === 'write') {
    const ms = Math.round(random() ** 2 * 60);
    const bin = scene.start();
    void killOnceWriting(scene, bin, ms);
    return { where: `${ms} ms after the output began`, bin, signals: [] };
  }
  const ms = Math.round(drawBetween(random, way === 'time' ? 0 : 200, scene.lastedMs));
  const signal =
    way === 'time' ? 'SIGKILL' : pick(random, ['SIGINT', 'SIGTERM', 'SIGHUP'] as const);
  const isTwice = way === 'signal' && random() < 0.5;
  const [bin, betweenMs] = [scene.start(), drawBetween(random, 0, 100)];
  void delay(ms).then(async () => {
    bin.kill(signal);
    if (isTwice) await delay(betweenMs).then(() => bin.kill(signal));
  });
  const signals: NodeJS.Signals[] = way === 'time' ? [] : isTwice ? [signal, signal] : [signal];
  return {
    where: `${isTwice ? 'two ' : ''}${signal} at ${ms} of ${Math.round(scene.lastedMs)} ms`,
    bin,
    signals,
  };
}

/** Steps of making an output good: the check before buying (1) and the real one (2) open a file each; it is closed, given
 * its name, and its folder is opened and synced. */
const LAST_STEPS = [
  'open 2',
  'writeFile 1',
  'sync 1',
  'close 2',
  'rename 1',
  'open 3',
  'sync 2',
  'close 3',
  'close 4',
];

async function killOnceWriting(
  { harness, outputs }: KillScene,
  bin: Bin,
  ms: number,
): Promise<void> {
  const ended = new AbortController();
  void bin.ended.finally(() => ended.abort());
  const folder = dirname(join(harness.folder, outputs[0]!.path));
  let old = readdirSync(folder);
  try {
    for await (const _ of watch(folder, { signal: ended.signal })) {
      const names = readdirSync(folder);
      if (names.some((name) => name.startsWith('.') && !old.includes(name))) break;
      old = names;
    }
    await delay(ms, undefined, { signal: ended.signal });
    bin.kill('SIGKILL');
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

const listFiles = ({ harness }: KillScene) =>
  readdirSync(harness.folder, { recursive: true }).map(String);

const readOutputs = ({ harness, outputs }: KillScene) =>
  outputs.map(({ path }) => readFileSync(join(harness.folder, path)));

function assertWhole(scene: KillScene): void {
  for (const [index, bytes] of readOutputs(scene).entries()) {
    const { path, expected } = scene.outputs[index]!;
    assert.ok(
      bytes.equals(expected),
      `${scene.drawn}: ${bytes.length} of ${expected.length} bytes of ${path}`,
    );
  }
}

/** How many rows of an output have a status. */
async function rowsWithStatus({ harness, outputs }: KillScene, index: number): Promise<number> {
  const book = await openRowFile(join(harness.folder, outputs[index]!.path));
  const status = book.columns.indexOf('hazard_status');
  let rows = 0;
  for await (const batch of book.read([status])) {
    rows += batch.filter(({ fields }) => ROW_STATUSES.some((name) => name === fields[0])).length;
  }
  return rows;
}

/** The statement that a user would print must say the same as the ledger's rows and reach the service's count. */
async function assertStatement(scene: KillScene, since: number): Promise<void> {
  const { code, stdout, stderr } = await scene.ask('quota', 'job.yaml', '--by', 'run', '--json')
    .ended;
  assert.equal(code, 0, stderr);
  const rows = JSON.parse(stdout).statement as {
    credits: Record<'charged' | 'unknown' | 'in_flight', number>;
  }[];
  const sum = (name: 'charged' | 'unknown' | 'in_flight') =>
    rows.reduce((total, { credits }) => total + credits[name], 0);
  const service = scene.harness.accounts
    .prepare<[number], number>('SELECT coalesce(sum(credits), 0) FROM charges WHERE id > ?')
    .pluck()
    .get(since)!;
  assert.equal(sum('in_flight'), 0);
  const stated = `the service charged ${service}, the statement says ${sum('charged')} and ${sum('unknown')} unknown`;
  assert.ok(sum('charged') <= service && service <= sum('charged') + sum('unknown'), stated);
}
