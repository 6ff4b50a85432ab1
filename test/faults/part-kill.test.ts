import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { between, makeRandom, pick, type Random, whole } from '../../src/sample/random.ts';
import { type Bin, startBin } from '../cli/bin-process.ts';
import { type Harness, openHarness, places } from '../run/harness.ts';
import { firstSeed, times } from '../tier.ts';
import { assertBooksAgree, lastCharge, serviceSettled } from './kill-inputs.ts';

const TRIALS = times({ long: 2, soak: 60 });
/** Each writes all parts, by one process or by a task a part, and one of its processes is killed. */
const ROUNDS = 4;
const SOCKETS = 3;
/** Tasks that run at the same time. */
const WORKERS = 2;

test(`part files, with a process to kill ${TRIALS * ROUNDS} times, and repeated: every part whole, nothing bought twice`, {
  timeout: 1_800_000,
}, async (t) => {
  const seed = firstSeed(1);
  for (let nth = 0; nth < TRIALS; nth++)
    await t.test(`seed ${seed + nth}`, (trial) => partKillTrial(trial, seed + nth));
});

interface PartKillScene {
  readonly harness: Harness;
  readonly random: Random;
  readonly names: readonly string[];
  readonly price: number;
  readonly drawn: string;
  /** Starts a run of the folder, or of one part. */
  start(what: string, env?: Readonly<Record<string, string>>): Bin;
}

/** Draws part files, and enriches them again and again, by a run of the folder or by an engine that runs a task a part. A process that
 * is killed is repeated. In the end every part must be that of an undisturbed run, byte for byte. */
async function partKillTrial(t: TestContext, seed: number): Promise<void> {
  const scene = await setScene(t, seed);
  const { harness, names, drawn, random } = scene;
  const out = join(harness.folder, 'out');
  const since = lastCharge(scene);
  const kills: string[] = [];
  const runOnce = async (what: string, isDoomed: boolean): Promise<void> => {
    const { where, bin } = isDoomed ? startDoomed(scene, what) : { where: '', bin: scene.start(what) };
    const { code, signal, stderr } = await bin.ended;
    if (code === 0) return;
    assert.ok(isDoomed && signal === 'SIGKILL', `${drawn}, ${what} ${where}: ${stderr}`);
    kills.push(`${what} ${where}`);
    // What is there is whole.
    assertParts(scene, what === 'in' ? names.filter((name) => existsSync(join(out, name))) : [], kills.at(-1)!);
    await runOnce(what, false);
  };
  for (let round = 0; round < ROUNDS; round++) {
    // As if the folder had been lost: everything is written again, and nothing is bought.
    for (const name of names) rmSync(join(out, name), { force: true });
    if (round % 2 === 0) await runOnce('in', true);
    else {
      const doomed = pick(random, names);
      const left = names.values();
      const worker = async () => {
        for (const name of left) await runOnce(name, name === doomed);
      };
      await Promise.all(Array.from({ length: WORKERS }, worker));
    }
    assertParts(scene, names, `${drawn}, after kills at ${kills.join(', ')}`);
  }
  await serviceSettled(scene);
  const paid = harness.charged();
  const again = await scene.start('in').ended;
  assert.deepEqual([again.code, harness.charged()], [0, paid], `${drawn}: ${again.stderr}`);
  assertParts(scene, names, drawn);
  assertBooksAgree(scene, since, kills.length * SOCKETS, drawn);
  assert.deepEqual(readdirSync(out).sort(), [...names].sort(), drawn);
  t.diagnostic(`${drawn}; killed at ${kills.join(', ')}`);
}

async function setScene(t: TestContext, seed: number): Promise<PartKillScene> {
  const random = makeRandom(seed, 'parts');
  const now = Date.now();
  // The service's clock stands still, so that the answers of all runs bear the same time.
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock: { start: now, factor: 1e-9, origin: now },
  });
  const file = (...names: string[]) => join(harness.folder, ...names);
  for (const folder of ['in', 'out']) mkdirSync(file(folder));
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
    ...{ name: 'killed', store: 'killed.db', topics, subscription },
    ...{ concurrency: SOCKETS, budget: 1_000_000 },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  const files = [
    ['in', 'in', 'out'],
    ...names.map((name) => [name, join('in', name), join('out', name)] as const),
  ] as const;
  for (const [what, input, output] of files) {
    writeFileSync(file(`${what}.yaml`), JSON.stringify({ ...job, input, output }));
  }
  // Undisturbed, in this process and with another store.
  await harness.run({ input: 'in', output: 'calm', topics });
  const price = harness.charged();
  const NODE_OPTIONS = `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`;
  return {
    ...{ harness, random, names, price, drawn: `seed ${seed}: ${names.join(', ')}, ${price} credits` },
    start: (what, env = {}) =>
      startBin(t, ['run', `${what}.yaml`, '--quiet'], harness.folder, { THE_KEY: secret, NODE_OPTIONS, ...env }),
  };
}

/** Starts a process that will be killed: after some time, at any step, or while it makes a part good. */
function startDoomed(scene: PartKillScene, what: string): { where: string; bin: Bin } {
  const { random, names } = scene;
  const kind = pick(random, ['time', 'step', 'part', 'part'] as const);
  if (kind === 'time') {
    const ms = Math.round(between(random, 0, LONGEST_MS));
    const bin = scene.start(what);
    void delay(ms).then(() => bin.kill('SIGKILL'));
    return { where: `${ms} ms`, bin };
  }
  const step =
    kind === 'step' ? String(whole(random, 1, STEPS)) : `${pick(random, PART_STEPS)} ${whole(random, 1, names.length)}`;
  return { where: `step ${step}`, bin: scene.start(what, { KILL_AT_STEP: step }) };
}

/** About as many as such a job has. */
const STEPS = 900;
const LONGEST_MS = 2_000;
const PART_STEPS = ['rename', 'rename', 'sync', 'writeFile'];

function assertParts({ harness }: PartKillScene, names: readonly string[], where: string): void {
  for (const name of names) {
    const [out, calm] = ['out', 'calm'].map((folder) => readFileSync(join(harness.folder, folder, name)));
    assert.ok(out!.equals(calm!), `${where}: ${name} differs from that of an undisturbed run`);
  }
}
