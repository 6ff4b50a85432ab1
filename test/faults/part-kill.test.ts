import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { between, pick, type Random, randomOf, whole } from '../../src/data/sample/random.ts';
import { type Bin, startBin } from '../cli/bin-process.ts';
import { type Harness, openHarness, places } from '../run/harness.ts';
import { firstSeed, times } from '../tier.ts';
import { assertBooksAgree, lastCharge, serviceSettled } from './kill-inputs.ts';

const TRIALS = times({ long: 2, soak: 60 });
/** Processes of one job that are killed, one after the other, each beside one that is not. */
const ROUNDS = 4;
const SOCKETS = 3;

test(`part files, with one of two processes killed ${TRIALS * ROUNDS} times: every part whole, nothing bought twice`, {
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
  start(env?: Readonly<Record<string, string>>): Bin;
}

/** Draws part files, and kills one of two processes that write them together, again and again. The other must end as if
 * nothing had happened: every part whole, once, byte for byte that of an undisturbed run. */
async function partKillTrial(t: TestContext, seed: number): Promise<void> {
  const scene = await setScene(t, seed);
  const { harness, names, drawn } = scene;
  const out = join(harness.folder, 'out');
  const since = lastCharge(scene);
  const kills: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const other = scene.start();
    const { where, bin } = startDoomed(scene);
    const doomed = await bin.ended;
    assert.ok(doomed.code === 0 || doomed.signal === 'SIGKILL', `${drawn}, ${where}: ${doomed.stderr}`);
    if (doomed.signal === 'SIGKILL') kills.push(where);
    const { code, stderr } = await other.ended;
    assert.equal(code, 0, `${drawn}, beside a kill at ${where}: ${stderr}`);
    assertParts(scene, `${drawn}, after a kill at ${where}`);
    // As if the folder had been lost: everything is written again, and nothing is bought.
    if (round + 1 < ROUNDS) for (const name of names) writeFileSync(join(out, name), 'lost');
  }
  await serviceSettled(scene);
  const paid = harness.charged();
  const again = await scene.start().ended;
  assert.deepEqual([again.code, harness.charged()], [0, paid], `${drawn}: ${again.stderr}`);
  assertParts(scene, drawn);
  assertBooksAgree(scene, since, kills.length * SOCKETS, drawn);
  assert.deepEqual(readdirSync(out).sort(), [...names].sort(), drawn);
  t.diagnostic(`${drawn}; killed at ${kills.join(', ')}`);
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
  const price = harness.charged();
  const NODE_OPTIONS = `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`;
  return {
    ...{ harness, random, names, price, drawn: `seed ${seed}: ${names.join(', ')}, ${price} credits` },
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

function assertParts({ harness, names }: PartKillScene, where: string): void {
  for (const name of names) {
    const [out, calm] = ['out', 'calm'].map((folder) => readFileSync(join(harness.folder, folder, name)));
    assert.ok(out!.equals(calm!), `${where}: ${name} differs from that of an undisturbed run`);
  }
}
