import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { between, pick, type Random, randomOf, whole } from '../../src/data/sample/random.ts';
import { type Bin, startBin } from '../cli/bin-process.ts';
import { type Harness, openHarness, places } from '../run/harness.ts';
import { compareBooks, lastCharge, serviceSettled } from './kill-inputs.ts';

/** Processes that write the parts of one job at the same time. */
const PROCESSES = 2;
const SOCKETS = 3;

export interface PartKillTrial {
  readonly drawn: string;
  readonly kills: readonly string[];
  /** What went wrong; empty when every promise held. */
  readonly wrong: readonly string[];
}

interface PartKillScene {
  readonly harness: Harness;
  readonly random: Random;
  readonly names: readonly string[];
  readonly price: number;
  start(env?: Readonly<Record<string, string>>): Bin;
}

/** Draws part files, and kills one of several processes that write them together, again and again. The others must end as if
 * nothing had happened: every part whole, once, byte for byte that of an undisturbed run. */
export async function partKillTrial(t: TestContext, seed: number, rounds: number): Promise<PartKillTrial> {
  const scene = await setScene(t, seed);
  const since = lastCharge(scene);
  const kills: string[] = [];
  const wrong: string[] = [];
  for (let round = 0; round < rounds && wrong.length === 0; round++) {
    const others = Array.from({ length: PROCESSES - 1 }, () => scene.start());
    const { where, bin } = startDoomed(scene);
    const doomed = await bin.ended;
    if (doomed.signal === 'SIGKILL') kills.push(where);
    else if (doomed.code !== 0) wrong.push(`ended with ${doomed.code}: ${doomed.stderr}`);
    for (const { code, stderr } of await Promise.all(others.map((other) => other.ended))) {
      if (code !== 0) wrong.push(`the process that was not killed ended with ${code}: ${stderr}`);
    }
    wrong.push(...lookAtParts(scene).map((what) => `${what}, after a kill at ${where}`));
    // As if the folder had been lost: everything is written again, and nothing is bought.
    if (round + 1 < rounds)
      for (const name of scene.names) writeFileSync(join(scene.harness.folder, 'out', name), 'lost');
  }
  await serviceSettled(scene);
  const paid = scene.harness.charged();
  const again = await scene.start().ended;
  if (again.code !== 0 || scene.harness.charged() !== paid) wrong.push('another run bought something');
  wrong.push(...lookAtParts(scene), ...compareBooks(scene, since, kills.length, SOCKETS));
  const left = readdirSync(join(scene.harness.folder, 'out')).filter((name) => !scene.names.includes(name));
  if (left.length > 0) wrong.push(`left behind: ${left.join(', ')}`);
  const drawn = `seed ${seed}: ${scene.names.join(', ')}, ${scene.price} credits`;
  return { drawn, kills, wrong };
}

async function setScene(t: TestContext, seed: number): Promise<PartKillScene> {
  const random = randomOf(seed, 'parts');
  const now = Date.now();
  // The service's clock stands still, so that the answers of all runs bear the same time.
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock: { start: now, factor: 1e-9, origin: now },
  });
  const file = (...names: string[]) => join(harness.folder, ...names);
  mkdirSync(file('in'));
  const spots = places(whole(random, 10, 40));
  const names = Array.from({ length: whole(random, 2, 6) }, (_, part) => `${part}${pick(random, ['.csv', '.csv.gz'])}`);
  for (const name of names) {
    const rows = Array.from({ length: pick(random, [0, 40, 4_000]) }, () => `x,${pick(random, spots).join(',')}\n`);
    const text = `id,lat,lng\n${rows.join('')}`;
    writeFileSync(file('in', name), name.endsWith('.gz') ? gzipSync(text) : text);
  }
  const { secret } = harness.key();
  const subscription = { credits_per_month: 1_000_000, credits_per_minute: 1_000_000 };
  const topics = pick(random, [['hail'], ['wildfire', 'park'], ['natural']]);
  const job = {
    ...{ name: 'killed', input: 'in', output: 'out', store: 'killed.db', topics, subscription },
    ...{ concurrency: SOCKETS, budget: 1_000_000 },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  writeFileSync(file('job.yaml'), JSON.stringify(job));
  // Undisturbed, in this process and with another store.
  await harness.run({ input: 'in', output: 'calm', topics });
  const NODE_OPTIONS = `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`;
  return {
    ...{ harness, random, names, price: harness.charged() },
    start: (env = {}) =>
      startBin(t, ['run', 'job.yaml', '--quiet'], harness.folder, { THE_KEY: secret, NODE_OPTIONS, ...env }),
  };
}

/** Starts a process that will be killed: after some time, at any step, or while it makes a part good. */
function startDoomed(scene: PartKillScene): { where: string; bin: Bin } {
  const { random, names } = scene;
  const kind = pick(random, ['time', 'step', 'part', 'part'] as const);
  if (kind === 'time') {
    const ms = Math.round(between(random, 0, LONGEST_MS));
    const bin = scene.start();
    void delay(ms).then(() => bin.kill('SIGKILL'));
    return { where: `${ms} ms`, bin };
  }
  const step =
    kind === 'step' ? String(whole(random, 1, STEPS)) : `${pick(random, PART_STEPS)} ${whole(random, 1, names.length)}`;
  return { where: `step ${step}`, bin: scene.start({ KILL_AT_STEP: step }) };
}

/** About as many as such a job has. */
const STEPS = 900;
const LONGEST_MS = 2_000;
const PART_STEPS = ['rename', 'rename', 'sync', 'writeFile'];

function lookAtParts({ harness, names }: PartKillScene): string[] {
  return names.flatMap((name) => {
    const [out, calm] = ['out', 'calm'].map((folder) => join(harness.folder, folder, name));
    if (!existsSync(out!)) return [`${name} was not written`];
    return readFileSync(out!).equals(readFileSync(calm!)) ? [] : [`${name} differs from that of an undisturbed run`];
  });
}
