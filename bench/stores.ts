/**
 * Calls claimed and settled a second with their answers, by workers in processes of their own that share an account; how soon a worker
 * claims that starts when the account's minute is full of calls; and places looked up a second. Both stores write to the disk: `synchronous=FULL`, and a server with fsync.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { launchPooler, WITH_POOLER } from '../test/pooler.ts';
import { launchPostgres } from '../test/postgres-server.ts';
import { readStored } from '../test/store/stored-places.ts';
import {
  bundleAnswers,
  openEither,
  type StoreWorkerResult,
  type StoreWorkerTask,
} from './either-store.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const WORKERS = sized([1, 4, 8], [1]);
const BATCHES = sized([1, 50], [10]);
const MS = sized(2_000, 50);
/** How long a store is filled that was empty when it was opened. The ledger's minute is full, and calls leave it. */
const GROWING_MS = sized(80_000, 100);
const PARTS = 10;
/** Least share of the first tenth's calls in the last tenth: a plan that was made for empty tables leaves a ninth. In SQLite for the same
 * processor time, which others who use the machine do not change; PostgreSQL's is that of a server. */
const LEAST_SHARE = { SQLite: 0.95, PostgreSQL: 0.7 } as const;
/** Least calls a second in PostgreSQL by several workers, on a new account. */
const LEAST_CALLS: Readonly<Record<number, number>> = { 1: 250, 50: 4_500 };
/** The pooler is one process, and the server's session may change with each transaction: statements are not prepared. */
const LEAST_SHARE_OF_DIRECT = 0.5;
/** Calls of the last minute when a worker starts, and the most time to its first claim. */
const MINUTE_CALLS = sized(10_000, 100);
const MOST_START_MS = 100;
const PLACES = sized(200_000, 1_000);
/** Written together. */
const PAGE = 2_000;

/** Prints all tables. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-stores-'));
  await using server = await launchPostgres({ fsync: true, settings: { autovacuum: 'on' } });
  try {
    await using pooler = WITH_POOLER.skip ? null : await launchPooler(server.port);
    if (WITH_POOLER.skip)
      console.log(`PostgreSQL behind a pooler is left out: ${WITH_POOLER.skip}.\n`);
    const stores = [
      ['SQLite', join(folder, 'store.db')],
      ['PostgreSQL', server.storeAddress()],
    ] as const;
    const goals: Goal[] = [];
    const growing: (string | number)[][] = [];
    for (const [name, store] of stores) {
      const trial = {
        workers: 1,
        batch: BATCHES.at(-1)!,
        ms: GROWING_MS,
        parts: PARTS,
        account: 'growing',
      };
      const { parts, seconds } = await callsOfWorkers(store, trial);
      const rates = parts.map((calls, part) =>
        Math.round(calls / (name === 'SQLite' ? seconds[part]! : GROWING_MS / PARTS / 1_000)),
      );
      const [first, last] = [rates[0]!, rates.at(-1)!];
      growing.push([name === 'SQLite' ? 'SQLite, of processor time' : name, first, last]);
      goals.push({
        what: `${name}, calls of the last tenth`,
        measured: last / first,
        unit: 'of the first',
        atLeast: LEAST_SHARE[name],
      });
    }
    const seconds = (GROWING_MS / 1_000).toLocaleString('en-US');
    console.log(`A store that was empty, ${BATCHES.at(-1)} calls together for ${seconds} s\n`);
    console.log(
      `${table(['calls claimed and settled a second', 'first tenth', 'last tenth'], growing)}\n`,
    );
    const rates: (string | number)[][] = [];
    const direct = new Map<string, number>();
    const pooled =
      pooler &&
      (['PostgreSQL behind PgBouncer', server.storeAddress({ port: pooler.port })] as const);
    for (const [name, store] of pooled ? [...stores, pooled] : stores) {
      for (const batch of BATCHES) {
        const row: (string | number)[] = [`${name}, ${batch} together`];
        for (const workers of WORKERS) {
          const measured = await callsASecond(store, workers, batch);
          row.push(measured);
          const trial = `${workers} workers, ${batch} together`;
          if (name === 'PostgreSQL') direct.set(trial, measured);
          if (pooled !== null && name === pooled[0]) {
            const share = measured / direct.get(trial)!;
            goals.push({
              what: `${name}, ${trial}`,
              measured: share,
              unit: 'of direct',
              atLeast: LEAST_SHARE_OF_DIRECT,
            });
            continue;
          }
          const atLeast = LEAST_CALLS[batch];
          if (name === 'SQLite' || workers === 1 || atLeast === undefined) continue;
          goals.push({ what: `${name}, ${trial}`, measured, unit: 'calls/s', atLeast });
        }
        rates.push(row);
      }
    }
    console.log(
      table(
        ['calls claimed and settled a second', ...WORKERS.map((workers) => `${workers} at work`)],
        rates,
      ),
    );
    const starts: (string | number)[][] = [];
    for (const [name, store] of stores) {
      const measured = await msToFirstClaim(store);
      starts.push([name, Math.round(measured)]);
      goals.push({
        what: `${name}, a worker's first claim`,
        measured,
        unit: 'ms',
        atMost: MOST_START_MS,
      });
    }
    console.log(
      `\nA worker that starts in a minute of ${MINUTE_CALLS.toLocaleString('en-US')} calls\n`,
    );
    console.log(table(['', 'ms from opening the store to the first claim'], starts));
    const lookups: (string | number)[][] = [];
    for (const [name, store] of stores) lookups.push([name, await placesASecond(store)]);
    console.log(
      `\n${PLACES.toLocaleString('en-US')} places, ${NATURAL_SLUGS.length} answers each\n`,
    );
    console.log(table(['', 'places looked up a second'], lookups));
    return goals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number of the next worker, over all trials: its cells depend on it, so none was bought before. */
let worker = 0;

/** On an account of its own. */
async function callsASecond(store: string, workers: number, batch: number): Promise<number> {
  const { parts } = await callsOfWorkers(store, {
    workers,
    batch,
    ms: MS,
    parts: 1,
    account: `trial ${worker}`,
  });
  return Math.round(parts[0]! / (MS / 1_000));
}

/** Milliseconds in which a worker opens the store and claims, when others have just made the calls of a full minute. */
async function msToFirstClaim(store: string): Promise<number> {
  const account = 'full minute';
  await callsOfWorkers(store, {
    account,
    workers: 1,
    batch: 100,
    ms: 60_000,
    parts: 1,
    most: MINUTE_CALLS,
  });
  const { firstClaimMs } = await callsOfWorkers(store, {
    account,
    workers: 1,
    batch: 1,
    ms: 50,
    parts: 1,
  });
  return firstClaimMs;
}

interface Trial extends Omit<StoreWorkerTask, 'store' | 'worker' | 'most'> {
  readonly workers: number;
  readonly most?: number;
}

/** The calls of all workers together and their processor time, in each part of the time, and the first claim of the slowest. */
async function callsOfWorkers(
  store: string,
  { workers, most = Number.MAX_SAFE_INTEGER, ...trial }: Trial,
): Promise<{
  readonly parts: number[];
  readonly seconds: number[];
  readonly firstClaimMs: number;
}> {
  const children = Array.from({ length: workers }, () => {
    const task: StoreWorkerTask = { store, worker: worker++, most, ...trial };
    return fork(join(import.meta.dirname, 'store-worker.ts'), [JSON.stringify(task)]);
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const counting = children.map(
    async (child) => (await once(child, 'message'))[0] as StoreWorkerResult,
  );
  for (const child of children) child.send('go');
  const results = await Promise.all(counting);
  await Promise.all(
    children.map((child) => (child.exitCode === null ? once(child, 'exit') : null)),
  );
  const sums = (key: 'counts' | 'seconds') =>
    results[0]![key].map((_, part) => results.reduce((sum, result) => sum + result[key][part]!, 0));
  return {
    parts: sums('counts'),
    seconds: sums('seconds'),
    firstClaimMs: Math.max(...results.map((result) => result.firstClaimMs)),
  };
}

async function placesASecond(address: string): Promise<number> {
  await using store = await openEither(address, 'bench');
  const source = await store.source('lookups');
  const cells = Array.from({ length: PLACES }, (_, number) => ({
    lat7: 300_000_000 + (number % 997),
    lng7: -1e9 + number,
  }));
  const pages = Array.from({ length: Math.ceil(PLACES / PAGE) }, (_, page) =>
    cells.slice(page * PAGE, (page + 1) * PAGE),
  );
  for (const page of pages) {
    await store.putAnswers(
      source,
      page.map((cell, number) => ({ cell, answers: bundleAnswers(number), failures: [] })),
    );
  }
  const wanted = NATURAL_SLUGS.map((topic) => ({ topic, freshSince: 1, fields: 3 }));
  const begun = performance.now();
  // In one reading, as a plan does: the first of each takes longer.
  const found = await readStored(store, source, cells, wanted);
  if (found.some((place) => place?.isComplete !== true)) throw new Error('a place is missing');
  return Math.round((PLACES / (performance.now() - begun)) * 1_000);
}
