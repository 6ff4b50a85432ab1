import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { type BinEnd, startBin } from '../cli/bin-process.ts';
import { perilbook } from '../cli/command-line.ts';
import { openHarness, places } from '../run/harness.ts';
import { releaseLater } from '../service/small-data.ts';

export const CELLS = 60;
/** 15 credits for the standard bundle of each. */
export const PRICE = CELLS * 15;
export const OLD_OUTPUT = 'id,hazard_status,hazard_note,hazard_as_of\nold,ok,,\n';
export const SOCKETS = 4;

export type DiskScene = Awaited<ReturnType<typeof setDiskScene>>;

export interface DiskRun {
  readonly job?: Readonly<Record<string, unknown>>;
  /** Said to the shell that becomes the run. */
  readonly shell?: string;
  /** Modules of this folder that are loaded first. */
  readonly preload?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A job of 900 credits on a disk where things go wrong: a harness with a book of 3,000 rows in 60 cells and an old output. Paths are in its
 * folder. */
export async function setDiskScene(t: TestContext) {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000_000, 1_000_000),
    clock: { start: now, factor: 1, origin: now },
  });
  const spots = places(CELLS);
  harness.writeInput(Array.from({ length: 3_000 }, (_, row) => spots[row % CELLS]!));
  const { folder } = harness;
  const path = (name: string) => join(folder, name);
  writeFileSync(path('output.csv'), OLD_OUTPUT);
  const before = new Set(readdirSync(folder));
  const { secret } = harness.key();
  const settings = {
    ...{ input: 'input.csv', output: 'output.csv', store: 'disk.db', topics: 'natural' },
    ...{ concurrency: SOCKETS, budget: 1_000_000 },
    subscription: { credits_per_month: 1_000_000, credits_per_minute: 1_000_000 },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  const env = { HOME: folder, THE_KEY: secret };
  // Only one run of this store is at work at a time: a claim that is there is of a process that is gone.
  const inProcess = async (words: readonly string[]): Promise<BinEnd> => ({
    ...(await perilbook(words, { folder, env, isAlive: () => false })),
    signal: null,
  });
  const start = (
    words: readonly string[],
    { shell = '', preload = [], env: more = {} }: DiskRun,
  ): Promise<BinEnd> => {
    const imports = preload.map((name) => `--import ${join(import.meta.dirname, name)}`);
    return startBin(
      t,
      words,
      folder,
      { NODE_OPTIONS: imports.join(' '), ...env, ...more },
      { shell },
    ).ended;
  };
  return {
    ...{ harness, folder, path },
    /** Names in the folder that no test put there. */
    stray: () =>
      readdirSync(folder)
        .filter(
          (name) => !before.has(name) && !/^(data\.db|disk\.db|store\.db|job\.yaml)/.test(name),
        )
        .sort(),
    /** Runs the job to its end, in a shell where a test wants its limits. */
    run: ({ job = {}, ...run }: DiskRun = {}) => {
      writeFileSync(path('job.yaml'), JSON.stringify({ ...settings, ...job }));
      const words = ['run', 'job.yaml', '--quiet'];
      // A process of its own costs half a second, and is needed only where something of the process is changed.
      return run.shell || run.preload ? start(words, run) : inProcess(words);
    },
    /** A command in this process. */
    command: inProcess,
    /** Credits that the ledger of a store says were charged, and unknown. */
    async statement(store = 'disk.db') {
      const { stdout, stderr } = await inProcess([
        'quota',
        'job.yaml',
        '--store',
        store,
        '--by',
        'run',
        '--json',
      ]);
      if (stdout === '') throw new Error(stderr);
      const rows = JSON.parse(stdout).statement as {
        credits: { charged: number; unknown: number };
      }[];
      const sum = (name: 'charged' | 'unknown') =>
        rows.reduce((total, { credits }) => total + credits[name], 0);
      return { charged: sum('charged'), unknown: sum('unknown') };
    },
  };
}

/** Mounts something at a folder for as long as the test lasts; false where this user may not. */
export function mountAt(t: TestContext, folder: string, ...options: readonly string[]): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  if (spawnSync('mount', [...options, folder]).status !== 0) return false;
  releaseLater(t, () => spawnSync('umount', ['-l', folder]));
  return true;
}

export function holds(scene: DiskScene, name: string, text: string): boolean {
  return readFileSync(scene.path(name), 'utf8') === text;
}
