import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { between, pick, whole } from '../../src/sample/random.ts';
import type { Bin } from '../cli/bin-process.ts';
import { firstSeed, times } from '../tier.ts';
import { assertBooksAgree, lastCharge, ledgerCalls, serviceSettled } from './kill-inputs.ts';
import { type KillScene, OLD_OUTPUT, setKillScene } from './kill-scene.ts';

const JOBS = times({ long: 2, soak: 200 });
/** Runs of a job that are to be killed; once the job is done, they have nothing left to buy and still write. */
const RUNS = 8;

test(`${JOBS} jobs, of each ${RUNS} runs killed at random instants: each ends as an undisturbed one, and the books agree`, {
  timeout: 300_000 + JOBS * 300_000,
}, async (t) => {
  const seed = firstSeed(5);
  for (let job = 0; job < JOBS; job++) await t.test(`seed ${seed + job}`, (trial) => killTrial(trial, seed + job));
});

/** Draws a job, kills it at random moments, starts it again until it is done, and looks at everything that is left. */
async function killTrial(t: TestContext, seed: number): Promise<void> {
  const scene = await setKillScene(t, seed);
  const { drawn } = scene;
  const since = lastCharge(scene);
  const before = readdirSync(scene.harness.folder);
  const kills: string[] = [];
  let isDone = false;
  for (let run = 0; run < RUNS; run++) {
    const openBefore = new Set(openCalls(scene));
    const { where, bin } = startDoomed(scene);
    const { code, signal, stderr } = await bin.ended;
    assert.ok(code === 0 || signal === 'SIGKILL', `${drawn}, ${where}: ended with ${code}: ${stderr}`);
    if (code === 0) isDone = true;
    else kills.push(where);
    const left = openCalls(scene).filter((call) => !openBefore.has(call)).length;
    assert.ok(left <= scene.sockets, `${drawn}: ${left} calls open after a kill at ${where}`);
    assertOutput(scene, isDone);
  }
  const { code, stderr } = await scene.start().ended;
  assert.equal(code, 0, `${drawn}: ${stderr}`);
  assertOutput(scene, true);
  await serviceSettled(scene);
  assertBooksAgree(scene, since, kills.length * scene.sockets, drawn);
  await assertStatement(scene, since);
  // Once more: nothing is left to buy.
  const paid = scene.harness.charged();
  const again = await scene.start().ended;
  assert.deepEqual([again.code, scene.harness.charged()], [0, paid], `${drawn}: ${again.stderr}`);
  assertOutput(scene, true);
  const expected = new Set([...before, 'killed.db']);
  const stray = readdirSync(scene.harness.folder).filter((name) => !expected.has(name) && !name.startsWith('service'));
  assert.deepEqual(stray, [], drawn);
  const unknown = ledgerCalls(scene).filter(({ charge }) => charge === 'unknown');
  const credits = unknown.reduce((sum, call) => sum + call.credits, 0);
  t.diagnostic(`${drawn}; killed at ${kills.join(', ')}; ${unknown.length} calls of ${credits} credits unknown`);
  assert.ok(kills.length > RUNS / 4, `${drawn}: ${kills.length} runs were killed`);
}

/** The numbers of the calls without an outcome, in the order of the ledger. */
function openCalls(scene: KillScene): number[] {
  return readdirSync(scene.harness.folder).includes('killed.db')
    ? ledgerCalls(scene).flatMap(({ charge }, index) => (charge === 'sent' ? [index] : []))
    : [];
}

/** Starts a run that will be killed: after some time, at some step, or when its output grows. */
function startDoomed(scene: KillScene): { where: string; bin: Bin } {
  const { random } = scene;
  switch (pick(random, ['time', 'step', 'step', 'write'] as const)) {
    case 'time': {
      const ms = Math.round(between(random, 0, scene.lastedMs));
      const bin = scene.start();
      void delay(ms).then(() => bin.kill('SIGKILL'));
      return { where: `${ms} of ${Math.round(scene.lastedMs)} ms`, bin };
    }
    case 'step': {
      const step = random() < 0.5 ? String(whole(random, 1, scene.steps)) : pick(random, LAST_STEPS);
      return { where: `step ${step} of ${scene.steps}`, bin: scene.start({ KILL_AT_STEP: step }) };
    }
    case 'write': {
      const ms = Math.round(random() ** 2 * 60);
      const bin = scene.start();
      void killOnceWriting(scene, bin, ms);
      return { where: `${ms} ms after the output began`, bin };
    }
  }
}

/** Steps of making an output good: the check before buying (1) and the real one (2) open a file each; it is closed, given
 * its name, and its folder is opened and synced. */
const LAST_STEPS = ['open 2', 'writeFile 1', 'sync 1', 'close 2', 'rename 1', 'open 3', 'sync 2', 'close 3', 'close 4'];

async function killOnceWriting({ harness, output }: KillScene, bin: Bin, ms: number): Promise<void> {
  const ended = new AbortController();
  void bin.ended.finally(() => ended.abort());
  let old = readdirSync(harness.folder);
  try {
    for await (const _ of watch(harness.folder, { signal: ended.signal })) {
      const names = readdirSync(harness.folder);
      if (names.some((name) => name.startsWith(`.${output}.`) && !old.includes(name))) break;
      old = names;
    }
    await delay(ms, undefined, { signal: ended.signal });
    bin.kill('SIGKILL');
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
}

/** The output is the old one or the whole new one: a run that was killed after the rename has done all that there is to do. */
function assertOutput({ harness, output, expected, drawn }: KillScene, isDone: boolean): void {
  const bytes = readFileSync(join(harness.folder, output));
  const isOld = !isDone && bytes.equals(Buffer.from(OLD_OUTPUT));
  assert.ok(isOld || bytes.equals(expected), `${drawn}: ${bytes.length} of ${expected.length} bytes of output`);
}

/** The statement that a user would print must say the same as the ledger's rows and reach the service's count. */
async function assertStatement(scene: KillScene, since: number): Promise<void> {
  const { code, stdout, stderr } = await scene.ask('quota', 'job.yaml', '--by', 'run', '--json').ended;
  assert.equal(code, 0, stderr);
  const rows = JSON.parse(stdout).statement as { credits: Record<'charged' | 'unknown' | 'in_flight', number> }[];
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
