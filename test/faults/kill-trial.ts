import { readdirSync, readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { between, pick, whole } from '../../src/data/sample/random.ts';
import type { Bin } from '../cli/bin-process.ts';
import { compareBooks, lastCharge, ledgerCalls, serviceSettled } from './kill-inputs.ts';
import { type KillScene, OLD_OUTPUT, setKillScene } from './kill-scene.ts';

export interface KillTrial {
  readonly drawn: string;
  /** Kills that hit a run at work, each with where it hit. */
  readonly kills: readonly string[];
  /** Calls and credits that the ledger lists as unknown. */
  readonly unknown: { readonly calls: number; readonly credits: number };
  /** What went wrong; empty when every promise held. */
  readonly wrong: readonly string[];
}

/** Draws a job, kills it at random moments, starts it again until it is done, and looks at everything that is left.
 * @param runs that are to be killed; once the job is done, they have nothing left to buy and still write */
export async function killTrial(t: TestContext, seed: number, runs = 12): Promise<KillTrial> {
  const scene = await setKillScene(t, seed);
  const since = lastCharge(scene);
  const before = readdirSync(scene.harness.folder);
  const kills: string[] = [];
  const wrong: string[] = [];
  let isDone = false;
  for (let run = 0; run < runs; run++) {
    const openBefore = new Set(openCalls(scene));
    const { where, bin } = startDoomed(scene);
    const { code, signal, stderr } = await bin.ended;
    if (code === 0) isDone = true;
    if (signal === 'SIGKILL') kills.push(where);
    else if (code !== 0) wrong.push(`ended with ${code}: ${stderr}`);
    if (wrong.length > 0) break;
    const left = openCalls(scene).filter((call) => !openBefore.has(call)).length;
    if (left > scene.sockets) wrong.push(`${left} calls open after a kill at ${where}, with ${scene.sockets} sockets`);
    wrong.push(...lookAtOutput(scene, isDone));
  }
  const { code, stderr } = await scene.start().ended;
  if (code !== 0) wrong.push(`the last run ended with ${code}: ${stderr}`);
  wrong.push(...lookAtOutput(scene, true));
  await serviceSettled(scene);
  wrong.push(...compareBooks(scene, since, kills.length, scene.sockets), ...(await lookAtStatement(scene, since)));
  // Once more: nothing is left to buy.
  const paid = scene.harness.charged();
  const again = await scene.start().ended;
  if (again.code !== 0 || scene.harness.charged() !== paid) wrong.push('another run bought something');
  wrong.push(...lookAtOutput(scene, true));
  const known = new Set([...before, 'killed.db']);
  const stray = readdirSync(scene.harness.folder).filter((name) => !known.has(name) && !name.startsWith('service'));
  if (stray.length > 0) wrong.push(`left behind: ${stray.join(', ')}`);
  const unknown = ledgerCalls(scene).filter(({ charge }) => charge === 'unknown');
  const credits = unknown.reduce((sum, call) => sum + call.credits, 0);
  return { drawn: scene.drawn, kills, wrong, unknown: { calls: unknown.length, credits } };
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

function lookAtOutput({ harness, output, expected }: KillScene, isDone: boolean): string[] {
  const bytes = readFileSync(join(harness.folder, output));
  // A run that was killed after the rename has done all that there is to do.
  if (bytes.equals(expected)) return [];
  if (isDone)
    return [`the output differs from that of an undisturbed run: ${bytes.length} of ${expected.length} bytes`];
  return bytes.equals(Buffer.from(OLD_OUTPUT)) ? [] : ['the output is neither the old one nor the whole new one'];
}

/** The statement that a user would print must say the same as the ledger's rows and reach the service's count. */
async function lookAtStatement(scene: KillScene, since: number): Promise<string[]> {
  const { code, stdout, stderr } = await scene.ask('quota', 'job.yaml', '--by', 'run', '--json').ended;
  if (code !== 0) return [`quota ended with ${code}: ${stderr}`];
  const rows = JSON.parse(stdout).statement as { credits: Record<'charged' | 'unknown' | 'in_flight', number> }[];
  const sum = (name: 'charged' | 'unknown' | 'in_flight') =>
    rows.reduce((total, { credits }) => total + credits[name], 0);
  const service = scene.harness.accounts
    .prepare<[number], number>('SELECT coalesce(sum(credits), 0) FROM charges WHERE id > ?')
    .pluck()
    .get(since)!;
  const holds = sum('charged') <= service && service <= sum('charged') + sum('unknown') && sum('in_flight') === 0;
  return holds
    ? []
    : [`the service charged ${service}, the statement says ${sum('charged')} and ${sum('unknown')} unknown`];
}
