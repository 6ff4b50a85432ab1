/**
 * Seconds to plan a million distinct places that were scanned (lookups, price, order), with nothing and with everything in the store, the
 * scan apart; and store lookups a second: beside a bare better-sqlite3 get of the same rows and a Map in memory that holds them ready made.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import Database from 'better-sqlite3';
import { systemClock } from '../src/base/clock.ts';
import { columnsOf } from '../src/columns/topic-columns.ts';
import type { CellRecord } from '../src/contract/answer.ts';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import type { Cell } from '../src/geo/coordinates.ts';
import { makeJob } from '../src/job/settings.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { NO_FIELDS } from '../src/run/plan/planning.ts';
import { prepare, prepareScanned } from '../src/run/prepare.ts';
import type { Store } from '../src/store/port.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import { readStored } from '../test/store/stored-places.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

const PLANNED = sized(1_000_000, 2_500);
const CELLS = sized(100_000, 500);
/** As many as the plan reads at once. */
const BATCH = 2_000;
const ROUNDS = sized(3, 1);
/** Most seconds of a plan of a million distinct places that were scanned. */
const GOAL = 4;

/** Prints both tables; the best of three rounds each. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-lookups-'));
  try {
    const goals = await measurePlans(folder);
    const cells = makeCells(CELLS);
    const rows: (string | number)[][] = [];
    const file = join(folder, 'lookups.db');
    await fillStore(file, cells);
    const shuffled = cells.toSorted(
      (a, b) => ((a.lat7 * 31) % 9_973) - ((b.lat7 * 31) % 9_973) || a.lng7 - b.lng7,
    );
    for (const [name, wanted] of [
      ['in the order of the store', cells],
      ['in no order', shuffled],
    ] as const) {
      rows.push(...(await lookUp(name, file, wanted)));
    }
    console.log(`${CELLS.toLocaleString('en-US')} cells, ${NATURAL_SLUGS.length} answers each\n`);
    console.log(table(['', 'cells a second'], rows));
    return goals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measurePlans(folder: string): Promise<Goal[]> {
  const cells = makeCells(PLANNED);
  const lines = cells.map(({ lat7, lng7 }, index) => `${index + 1},${lat7 / 1e7},${lng7 / 1e7}`);
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${lines.join('\n')}\n`);
  const goals: Goal[] = [];
  const rows: (string | number)[][] = [];
  for (const [name, filled] of [
    ['nothing in the store', []],
    ['everything in the store', cells],
  ] as const) {
    const file = join(folder, `${filled.length}.db`);
    await fillStore(file, filled);
    const store = openStore(file);
    const [scan, plan] = await secondsOfPlan(folder, store, filled.length);
    goals.push({ what: `planned, ${name}`, measured: plan, unit: 's', atMost: GOAL });
    rows.push([name, scan.toFixed(2), plan.toFixed(2), Math.round(PLANNED / plan)]);
    await store.close();
  }
  console.log(`Plans of ${PLANNED.toLocaleString('en-US')} places\n`);
  console.log(`${table(['', 'scan, s', 'plan, s', 'places a second of the plan'], rows)}\n`);
  return goals;
}

/** The fewest seconds of a scan, and of a plan of what was scanned. */
async function secondsOfPlan(
  folder: string,
  store: Store,
  cached: number,
): Promise<[scan: number, plan: number]> {
  const places = { dataFolder: folder, workingFolder: folder };
  const job = makeJob([{ input: 'book.csv', topics: 'natural' }], places);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = { clock: systemClock, random: Math.random, streams, notice: () => {} };
  const key = { secret: '', fingerprint: '', scopes: null };
  const connection = {
    kind: 'service' as const,
    baseUrl: '',
    source: 'bench',
    sample: true,
    keys: [key],
  };
  let [scanned, planned] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    using prepared = await prepare(await openContext(job, { connection, store, effects }), {
      fieldsOf: NO_FIELDS,
    });
    const both = performance.now() - begun;
    const again = performance.now();
    // As `perilbook plan` does, which keeps no fields for a pass that writes.
    const { plan } = await prepareScanned(prepared, prepared.plan.scan, { fieldsOf: NO_FIELDS });
    const alone = performance.now() - again;
    if (plan.cellsCached !== cached)
      throw new Error(`${plan.cellsCached} cells were found in the store`);
    planned = Math.min(planned, alone / 1_000);
    scanned = Math.min(scanned, (both - alone) / 1_000);
  }
  return [scanned, planned];
}

async function lookUp(
  order: string,
  file: string,
  cells: readonly Cell[],
): Promise<(string | number)[][]> {
  const store = openStore(file);
  const source = await store.source('bench');
  const bare = new Database(file, { readonly: true });
  const get = bare.prepare<[number, number, number], { answers: Buffer }>(
    'SELECT answers FROM cells WHERE source = ? AND lat7 = ? AND lng7 = ?',
  );
  const records = new Map<string, CellRecord | null>();
  const inBatches = async (each: (batch: readonly Cell[]) => Promise<void> | void) => {
    for (let from = 0; from < cells.length; from += BATCH)
      await each(cells.slice(from, from + BATCH));
  };
  await inBatches(async (batch) => {
    const found = await store.read(source, batch);
    for (const [index, { lat7, lng7 }] of batch.entries())
      records.set(`${lat7},${lng7}`, found[index]!);
  });
  let seen = 0;
  const ours = await best(CELLS, () =>
    inBatches(async (batch) => {
      const found = await store.read(source, batch);
      seen += found.length;
    }),
  );
  const wanted = NATURAL_SLUGS.map((topic) => ({
    topic,
    freshSince: 0,
    fields: columnsOf(topic).length,
  }));
  const packed = await best(CELLS, () =>
    inBatches(async (batch) => {
      seen += (await readStored(store, source, batch, wanted)).length;
    }),
  );
  const raw = await best(CELLS, () =>
    inBatches((batch) => {
      for (const { lat7, lng7 } of batch) seen += get.get(source, lat7, lng7)!.answers.length;
    }),
  );
  const map = await best(CELLS, () =>
    inBatches((batch) => {
      for (const { lat7, lng7 } of batch) seen += records.get(`${lat7},${lng7}`)!.answers.size;
    }),
  );
  bare.close();
  await store.close();
  if (seen === 0) throw new Error('Nothing was found');
  return [
    [`store.read, ${order}`, ours],
    [`store.readPlaces, unpacked, ${order}`, packed],
    [`  better-sqlite3 get, ${order}`, raw],
    [`  Map in memory, ${order}`, map],
  ];
}

/** The best rate of three rounds, in cells a second. */
async function best(cells: number, work: () => Promise<void>): Promise<number> {
  let rate = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    await work();
    rate = Math.max(rate, cells / ((performance.now() - begun) / 1_000));
  }
  return Math.round(rate);
}

function openStore(file: string): Store {
  const owner = { name: 'bench', isAlive: () => true };
  return openSqliteStore(file, systemClock, owner, (topic) => columnsOf(topic).length);
}

async function fillStore(file: string, cells: readonly Cell[]): Promise<void> {
  await using store = openStore(file);
  const source = await store.source('bench');
  const values = {
    text: 'Relatively Moderate',
    number: 12.3456,
    count: 17,
    time: '2026-01-15T11:00:00Z',
    point: '',
  };
  const answers = NATURAL_SLUGS.map((topic) => {
    return { topic, asOf: Date.now(), fields: columnsOf(topic).map(({ type }) => values[type]) };
  });
  for (let first = 0; first < cells.length; first += CELLS_A_WRITE) {
    const part = cells.slice(first, first + CELLS_A_WRITE);
    await store.putAnswers(
      source,
      part.map((cell) => ({ cell, answers, failures: [] })),
    );
  }
}

const CELLS_A_WRITE = 1_000;

/** A grid inland, so that every place is in the US. */
function makeCells(length: number): Cell[] {
  return Array.from({ length }, (_, index) => ({
    lat7: 360_000_000 + 10_000 * (index % 500),
    lng7: -1_000_000_000 + 10_000 * Math.floor(index / 500),
  }));
}
