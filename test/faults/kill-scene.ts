import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { makeRandom, pick, type Random, whole } from '../../src/sample/random.ts';
import { type Bin, startBin } from '../cli/bin-process.ts';
import { type Harness, openHarness, places } from '../run/harness.ts';

/** What the old output holds: a kill leaves either this or the whole new one. */
export const OLD_OUTPUT = 'id,hazard_status,hazard_note,hazard_as_of\nold,ok,,\n';

/** A file that a run writes. */
export interface Output {
  readonly path: string;
  readonly rows: number;
  /** What an undisturbed run wrote. */
  readonly expected: Buffer;
}

/** A job that is to be killed, and what an undisturbed run of it wrote. */
export interface KillScene {
  readonly harness: Harness;
  readonly random: Random;
  readonly sockets: number;
  /** The files that it writes: one, or one a part. */
  readonly outputs: readonly Output[];
  /** What the undisturbed run cost, by the service. */
  readonly price: number;
  /** How long it took, and how many steps (kill-at-step.ts). */
  readonly lastedMs: number;
  readonly steps: number;
  /** Says in a line what was drawn. */
  readonly drawn: string;
  start(env?: Readonly<Record<string, string>>): Bin;
  /** Runs another command of the job to its end. */
  ask(...args: string[]): Bin;
}

/** A file, or a folder of parts. */
const OUTPUTS = ['output.csv', 'output.csv.gz', 'output.parquet', 'out', 'out'];
const TOPICS = [
  ['wildfire'],
  ['hail', 'park'],
  ['wildfire', 'superfund', 'radon', 'airQuality'],
  ['natural'],
  ['natural', 'park', 'superfund', 'ozone'],
  ['all'],
];

/** Draws a job by its seed, and runs it once undisturbed, with a store of its own.
 *
 * The service's clock stands still near the true time, so that every answer bears the same time and the outputs can be
 * compared byte for byte, `hazard_as_of` and all. The runs themselves are on the machine's clock. */
export async function setKillScene(t: TestContext, seed: number): Promise<KillScene> {
  const random = makeRandom(seed, 'kill');
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock: { start: now, factor: 1e-9, origin: now },
  });
  const cells = whole(random, 20, 60);
  const rows = pick(random, [cells, 2_000, 12_000]);
  const sockets = pick(random, [1, 3, 8]);
  const topics = pick(random, TOPICS);
  const output = pick(random, OUTPUTS);
  const spots = places(cells);
  const located = Array.from({ length: rows }, (_, row) =>
    row % 97 === 96 ? (['', 'x'] as const) : spots[row % cells]!,
  );
  const file = (name: string) => join(harness.folder, name);
  const inParts = output === 'out';
  const written = inParts ? writeParts(harness.folder, located, random) : [{ path: output, rows }];
  if (!inParts) harness.writeInput(located);
  const { secret } = harness.key();
  const job = {
    name: 'killed',
    input: inParts ? 'in' : 'input.csv',
    topics,
    concurrency: sockets,
    budget: 1_000_000,
    subscription: { credits_per_month: 1_000_000, credits_per_minute: 1_000_000 },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  const calm = inParts ? 'calm' : `calm.${output}`;
  writeFileSync(file('job.yaml'), JSON.stringify({ ...job, output, store: 'killed.db' }));
  writeFileSync(file('calm.yaml'), JSON.stringify({ ...job, output: calm, store: 'calm.db' }));
  for (const { path } of written) writeFileSync(file(path), OLD_OUTPUT);
  const environment = (more: Readonly<Record<string, string>> = {}) => ({
    THE_KEY: secret,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'kill-at-step.ts')}`,
    ...more,
  });
  const began = performance.now();
  const undisturbed = await startBin(
    t,
    ['run', 'calm.yaml', '--quiet'],
    harness.folder,
    environment({ COUNT_STEPS: file('steps') }),
  ).ended;
  const { code, stderr } = undisturbed;
  if (code !== 0) throw new Error(`seed ${seed}: the undisturbed run ended with ${code}: ${stderr}`);
  const steps = Number(readFileSync(file('steps'), 'utf8'));
  return {
    ...{ harness, random, sockets, steps },
    outputs: written.map((one) => ({ ...one, expected: readFileSync(file(one.path.replace(output, calm))) })),
    price: harness.charged(),
    lastedMs: performance.now() - began,
    drawn: `seed ${seed}: ${rows} rows, ${cells} cells, ${topics.join('+')}, ${sockets} sockets, ${output}, ${steps} steps`,
    start: (env) => startBin(t, ['run', 'job.yaml', '--quiet'], harness.folder, environment(env)),
    ask: (...args) => startBin(t, args, harness.folder, { THE_KEY: secret }),
  };
}

/** Writes the rows as a folder of parts; returns the output of each. */
function writeParts(folder: string, located: readonly (readonly (number | string)[])[], random: Random) {
  for (const name of ['in', 'out']) mkdirSync(join(folder, name));
  const parts = whole(random, 2, 6);
  return Array.from({ length: parts }, (_, part) => {
    const own = located.filter((_, row) => row % parts === part);
    const name = `${part}${pick(random, ['.csv', '.csv.gz'])}`;
    const text = `id,lat,lng\n${own.map((spot) => `x,${spot.join(',')}\n`).join('')}`;
    writeFileSync(join(folder, 'in', name), name.endsWith('.gz') ? gzipSync(text) : text);
    return { path: join('out', name), rows: own.length };
  });
}
