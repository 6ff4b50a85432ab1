import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { startPooler, WITH_POOLER } from '../pooler.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { openHarness, places } from '../run/harness.ts';
import type { ChildTask } from '../run/run-child.ts';
import { releaseLater } from '../service/small-data.ts';
import { SOAK, times } from '../tier.ts';

const server = await sharedPostgres();
const timeout = 300_000;
/** The port of a pooler in front of the server. */
const pooled = WITH_POOLER.skip === false ? await startPooler(server.port) : server.port;
const CHILD = join(import.meta.dirname, '../run/run-child.ts');
const WORKERS = 4;

interface TrialOptions {
  readonly database: 'SQLite' | 'PostgreSQL' | 'PgBouncer';
  /** Of each worker. */
  readonly cells: number;
  /** Whether they are the same for all workers. Default: each has its own. */
  readonly isSame?: boolean;
  readonly creditsPerMinute: number;
  /** Default: enough for all. */
  readonly creditsPerMonth?: number;
  readonly factor: number;
  /** How far apart the clocks of two neighbouring workers are. */
  readonly clocksApartMs?: number;
  /** What happens while they work. */
  readonly disturb?: (scene: Disturbed) => Promise<void>;
}

/** Workers at work, and what a trial can do to them. */
interface Disturbed {
  /** The process of a worker. */
  child(worker: number): ChildProcess;
  /** Starts a worker that was killed again. */
  again(worker: number): void;
  /** Resolves when so many calls are in the ledger. */
  reached(calls: number): Promise<void>;
}

/** `at`: what was bought, and where. */
type LedgerCall = { charge: 'sent' | 'charged' | 'free' | 'unknown'; credits: number; at: string };

/** Workers that share a new store, a key and its minute start at one moment and buy from our own service. Nothing may be bought twice,
 * and no limit crossed. Returns the credits of the ledger that were charged, and those of calls whose answer never came: on a busy machine
 * it comes later than 150 s of the fast clock, and the service may have charged it. */
async function sharedTrial(
  t: TestContext,
  options: TrialOptions,
): Promise<{ readonly paid: number; readonly unknown: number }> {
  const {
    database,
    cells,
    isSame = false,
    creditsPerMinute,
    creditsPerMonth = 1_000_000,
    factor,
  } = options;
  const { clocksApartMs = 0 } = options;
  const needed = isSame ? cells : WORKERS * cells;
  const clock = { start: Date.parse('2026-03-15T12:00:00Z'), factor, origin: Date.now() };
  const harness = await openHarness(t, {
    subscription: customSubscription(creditsPerMonth, creditsPerMinute),
    clock,
  });
  const refusals = countRefusals(t);
  const schema = `shared_${process.pid}_${Date.now().toString(36)}`;
  const port = database === 'PgBouncer' ? pooled : server.port;
  const store = database === 'SQLite' ? 'shared.db' : server.storeAddress({ schema, port });
  const secret = harness.key().secret;
  const spots = places(needed);
  const running = new Map<
    number,
    { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> }
  >();
  const start = (worker: number) => {
    const from = isSame ? 0 : worker * cells;
    const book = spots.slice(from, from + cells).map((spot) => `${spot.join(',')}\n`);
    writeFileSync(join(harness.folder, `${worker}.csv`), `lat,lng\n${book.join('')}`);
    const task: ChildTask = {
      ...{
        folder: harness.folder,
        baseUrl: harness.url,
        secret,
        creditsPerMonth,
        creditsPerMinute,
        clock,
      },
      // Answers that stay fresh: those of wildfire are old after an hour, of which a busy machine needed more.
      ...{ input: `${worker}.csv`, output: `${worker}.out.csv`, topics: ['hail'], store },
      clockAheadMs: (worker - WORKERS / 2) * clocksApartMs,
    };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => printed.push(chunk));
    const ended = once(child, 'close').then(([code]) => ({
      code,
      output: Buffer.concat(printed).toString(),
    }));
    running.set(worker, { child, ended });
  };
  const ledger = async (): Promise<LedgerCall[]> => {
    const sql = (schemaDot: string) =>
      `SELECT charge, credits, kind || ' ' || topic || ' ' || lat7 || ' ' || lng7 AS at
       FROM ${schemaDot}calls ORDER BY id`;
    if (database !== 'SQLite') return await server.query<LedgerCall>(sql(`${schema}.`));
    const file = new Database(join(harness.folder, 'shared.db'), { readonly: true });
    try {
      return file.prepare<[], LedgerCall>(sql('')).all();
    } finally {
      file.close();
    }
  };
  for (let worker = 0; worker < WORKERS; worker++) start(worker);
  await options.disturb?.({
    child: (worker) => running.get(worker)!.child,
    again: start,
    async reached(count) {
      while ((await ledger().catch(() => [])).length < count) await delay(20);
    },
  });
  for (const [worker, { ended }] of running) {
    const { code, output } = await ended;
    assert.equal(code, 0, `worker ${worker}: ${output.slice(0, 500)}`);
  }
  const charged = harness.charged();
  const calls = await ledger();
  const of = (charge: LedgerCall['charge']) => calls.filter((call) => call.charge === charge);
  const sum = (charge: LedgerCall['charge']) =>
    of(charge).reduce((total, { credits }) => total + credits, 0);
  const [paid, unknown] = [sum('charged'), sum('unknown')];
  const figures = JSON.stringify({ charged, unknown, ledger: paid, needed });
  t.diagnostic(figures);
  assert.equal(refusals.count, 0, 'calls that the service refused for its limits');
  assert.deepEqual(of('sent'), []);
  assert.equal(
    new Set(of('charged').map(({ at }) => at)).size,
    of('charged').length,
    `bought twice: ${figures}`,
  );
  // Of calls of unknown charge the service may have charged some.
  assert.ok(charged >= paid && charged <= paid + unknown, figures);
  assert.ok(charged <= creditsPerMonth, figures);
  assert.ok(paid + unknown >= Math.min(needed, creditsPerMonth), figures);
  return { paid, unknown };
}

/** Counts the service's answers 429, on its side of the wire. */
function countRefusals(t: TestContext): { count: number } {
  const refusals = { count: 0 };
  const onAnswer = (message: unknown) => {
    if ((message as { response: ServerResponse }).response.statusCode === 429) refusals.count++;
  };
  subscribe('http.server.response.finish', onAnswer);
  releaseLater(t, () => unsubscribe('http.server.response.finish', onAnswer));
  return refusals;
}

/** What a pooler could break is tried in the long tier by the first of the trials, and by pooled-store-long.test.ts. */
const IN_SOAK = { timeout, ...(SOAK.skip === false ? WITH_POOLER : SOAK) };

for (const database of ['SQLite', 'PostgreSQL', 'PgBouncer'] as const) {
  const options = { timeout, ...(database === 'PgBouncer' ? WITH_POOLER : {}) };
  test(
    `${database}: places that all want at the same moment are bought once, within the minute`,
    options,
    async (t) => {
      const trials = times({ long: 1, soak: 6 });
      for (let nth = 0; nth < trials; nth++) {
        const job = { database, cells: 350, isSame: true, creditsPerMinute: 300, factor: 40 };
        assert.equal((await sharedTrial(t, job)).paid, 350);
      }
    },
  );

  test(
    `${database}: a quota that does not reach is spent to the last credit`,
    database === 'PgBouncer' ? IN_SOAK : options,
    async (t) => {
      // On PostgreSQL the database's time counts, and not that of the workers' machines.
      const clocksApartMs = database === 'SQLite' ? 0 : 180_000;
      const job = {
        database,
        cells: 250,
        creditsPerMinute: 300,
        creditsPerMonth: 700,
        factor: 40,
        clocksApartMs,
      };
      const { paid, unknown } = await sharedTrial(t, job);
      assert.equal(paid + unknown, 700);
    },
  );
}

const MANY = { cells: 150, creditsPerMinute: 300, factor: 20 } as const;

for (const database of ['PostgreSQL', 'PgBouncer'] as const) {
  test(
    `${database}: one of four workers is killed and started again, three times`,
    database === 'PgBouncer' ? IN_SOAK : { timeout },
    async (t) => {
      await sharedTrial(t, {
        ...MANY,
        database,
        async disturb({ child, again, reached }) {
          for (const calls of [60, 180, 300]) {
            await reached(calls);
            const killed = child(1);
            killed.kill('SIGKILL');
            if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'close');
            again(1);
          }
        },
      });
    },
  );
}
