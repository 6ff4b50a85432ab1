/**
 * Calls claimed and settled a second with their answers, by workers in processes of their own that share an account, and places
 * looked up a second. Both stores write to the disk: `synchronous=FULL`, and a server with fsync.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { launchPostgres } from '../test/postgres-server.ts';
import { bundleAnswers, openEither, type StoreWorkerTask } from './either-store.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const WORKERS = sized([1, 4, 8], [1]);
const BATCHES = sized([1, 50], [10]);
const MS = sized(2_000, 50);
const PLACES = sized(200_000, 1_000);
/** As many as the plan reads at once. */
const PAGE = 2_000;

/** Prints both tables. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-stores-'));
  await using server = await launchPostgres({ fsync: true, settings: { autovacuum: 'on' } });
  try {
    const stores = [
      ['SQLite', join(folder, 'store.db')],
      ['PostgreSQL', server.storeAddress()],
    ] as const;
    const rates: (string | number)[][] = [];
    for (const [name, store] of stores) {
      for (const batch of BATCHES) {
        const row: (string | number)[] = [`${name}, ${batch} together`];
        for (const workers of WORKERS) row.push(await callsASecond(store, workers, batch));
        rates.push(row);
      }
    }
    console.log(
      table(['calls claimed and settled a second', ...WORKERS.map((workers) => `${workers} at work`)], rates),
    );
    const lookups: (string | number)[][] = [];
    for (const [name, store] of stores) lookups.push([name, await placesASecond(store)]);
    console.log(`\n${PLACES.toLocaleString('en-US')} places, ${NATURAL_SLUGS.length} answers each\n`);
    console.log(table(['', 'places looked up a second'], lookups));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}

/** Workers have numbers of their own over all trials, and so cells that nobody has bought. */
let worker = 0;

async function callsASecond(store: string, workers: number, batch: number): Promise<number> {
  const children = Array.from({ length: workers }, () => {
    const task: StoreWorkerTask = { store, worker: worker++, batch, ms: MS };
    return fork(join(import.meta.dirname, 'store-worker.ts'), [JSON.stringify(task)]);
  });
  await Promise.all(children.map((child) => once(child, 'message')));
  const counts = children.map(async (child) => Number((await once(child, 'message'))[0]));
  for (const child of children) child.send('go');
  const calls = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : null)));
  return Math.round(calls / (MS / 1_000));
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
  for (const page of pages) {
    const found = await store.readWanted(source, page, wanted);
    if (found.some((cell) => cell === null || !('fields' in cell))) throw new Error('a place is missing');
  }
  return Math.round((PLACES / (performance.now() - begun)) * 1_000);
}
