import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { makeRandom, pick, type Random, whole } from '../../src/sample/random.ts';
import { startBin } from '../cli/bin-process.ts';
import { openHarness, places } from '../run/harness.ts';

/** What the old output holds: a kill leaves either this or the whole new one. */
export const OLD_OUTPUT = 'id,hazard_status,hazard_note,hazard_as_of\nold,ok,,\n';

/** A file that a run writes. */
export interface Output {
  readonly path: string;
  readonly rows: number;
  /** What an undisturbed run wrote. */
  readonly expected: Buffer;
}

export type KillScene = Awaited<ReturnType<typeof setKillScene>>;

/** A file, or a folder of parts. */
const OUTPUTS = ['output.csv', 'output.csv.gz', 'output.parquet', 'out', 'out'];
const TOPICS = 'wildfire,hail park,wildfire superfund radon airQuality,natural,natural park superfund ozone,all'
  .split(',')
  .map((topics) => topics.split(' '));

/** Draws a job by its seed, and runs it once undisturbed, with a store of its own.
 *
 * The service's clock stands still near the true time, so that every answer bears the same time and the outputs can be
 * compared byte for byte, `hazard_as_of` and all. The runs themselves are on the machine's clock. */
export async function setKillScene(t: TestContext, seed: number) {
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
  const spotOf = (row: number) => (row % 97 === 96 ? (['', 'x'] as const) : spots[row % cells]!);
  const located = Array.from({ length: rows }, (_, row) => spotOf(row));
  const file = (name: string) => join(harness.folder, name);
  const inParts = output === 'out';
  const written = inParts ? writeParts(harness.folder, located, random) : [{ path: output, rows }];
  if (!inParts) harness.writeInput(located);
  const { secret } = harness.key();
  const job = {
    ...{ name: 'killed', input: inParts ? 'in' : 'input.csv', topics, concurrency: sockets, budget: 1_000_000 },
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
  const counting = environment({ COUNT_STEPS: file('steps') });
  const { code, stderr } = await startBin(t, ['run', 'calm.yaml', '--quiet'], harness.folder, counting).ended;
  if (code !== 0) throw new Error(`seed ${seed}: the undisturbed run ended with ${code}: ${stderr}`);
  const steps = Number(readFileSync(file('steps'), 'utf8'));
  return {
    ...{ harness, random, sockets, steps },
    /** The files that it writes: one, or one a part. */
    outputs: written.map((one): Output => ({ ...one, expected: readFileSync(file(one.path.replace(output, calm))) })),
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
export function ledgerCalls(scene: KillScene): Call[] {
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
export function lastCharge({ harness }: KillScene): number {
  return harness.accounts.prepare<[], number>('SELECT coalesce(max(id), 0) FROM charges').pluck().get()!;
}

/** Waits until the service has settled every charge: handed over, or taken back because its reader was killed. */
export async function serviceSettled({ harness }: KillScene): Promise<void> {
  const pending = harness.accounts
    .prepare<[], number>('SELECT count(*) FROM charges WHERE pending_by IS NOT NULL')
    .pluck();
  for (let looks = 0; pending.get()! > 0; looks++) {
    if (looks > 6_000) throw new Error('The service does not settle its charges');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Compares the service's charges with the ledger's calls, call by call.
 *
 * @param scene `price`: credits that the ledger must list as charged
 * @param since the last charge before the first run on the killed store
 * @param mostUnknown most calls that may be unknown
 */
export function assertBooksAgree(scene: KillScene, since: number, mostUnknown: number, where: string): void {
  const calls = ledgerCalls(scene);
  const charges = scene.harness.accounts
    .prepare<[number], { call: string; requestId: string; credits: number }>(
      `SELECT kind || coalesce(' ' || topic, '') AS call, request_id AS requestId, credits FROM charges
       WHERE id > ? AND pending_by IS NULL`,
    )
    .all(since);
  const sum = (some: readonly { credits: number }[]) => some.reduce((total, { credits }) => total + credits, 0);
  const of = (charge: Call['charge']) => calls.filter((call) => call.charge === charge);
  const [charged, unknown] = [of('charged'), of('unknown')];
  assert.deepEqual(of('sent'), [], `${where}: calls are still open`);
  assert.ok(unknown.length <= mostUnknown, `${where}: ${unknown.length} calls unknown, at most ${mostUnknown}`);
  const unanswered = new Map(charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, credits, at } of charged) {
    assert.equal(unanswered.get(requestId!)?.credits, credits, `${where}: the service knows nothing of ${at}`);
    unanswered.delete(requestId!);
  }
  // What the service charged and the ledger has no answer to must be among its unknown calls, call by call.
  const unexplained = unknown.map(({ call }) => call);
  for (const { call } of unanswered.values()) {
    const index = unexplained.indexOf(call);
    assert.ok(index >= 0, `${where}: charged and not in the ledger: ${call}`);
    unexplained.splice(index, 1);
  }
  assert.equal(new Set(charged.map(({ at }) => at)).size, charged.length, `${where}: something was bought twice`);
  assert.equal(sum(charged), scene.price, `${where}: the ledger's credits are those of an undisturbed run`);
}
