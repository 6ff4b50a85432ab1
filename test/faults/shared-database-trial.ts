import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import type { PostgresServer } from '../postgres-server.ts';
import { openHarness, places } from '../run/harness.ts';
import type { ChildTask } from '../run/run-child.ts';
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { countRefusals } from './many-trial.ts';

const CHILD = join(import.meta.dirname, '../run/run-child.ts');
const MINUTE_MS = 60_000;

export interface SharedTrialOptions {
  readonly workers: number;
  /** Of each worker, apart from those of the others. */
  readonly cells: number;
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
export interface Disturbed {
  readonly server: PostgresServer;
  /** The connection of the first worker to the database. */
  readonly proxy: TcpProxy;
  /** The process of a worker. */
  child(worker: number): ChildProcess;
  /** Starts a worker that was killed again. */
  again(worker: number): void;
  /** Resolves when so many calls are in the ledger. */
  reached(calls: number): Promise<void>;
}

export interface SharedTrial {
  readonly charged: number;
  readonly unknown: number;
  /** How much of the minute limit was used from the first claim to the last. */
  readonly use: number;
  /** Each worker's part of the calls that were claimed while all of them had something to buy. */
  readonly shares: readonly number[];
  readonly wrong: readonly string[];
}

/** Workers that share a database, an account and its minute buy apart cells from our own service. */
export async function sharedTrial(
  t: TestContext,
  server: PostgresServer,
  options: SharedTrialOptions,
): Promise<SharedTrial> {
  const { workers, cells, creditsPerMinute, factor, clocksApartMs = 0 } = options;
  const needed = workers * cells;
  const creditsPerMonth = options.creditsPerMonth ?? 1_000_000;
  const clock = { start: Date.parse('2026-03-15T12:00:00Z'), factor, origin: Date.now() };
  const harness = await openHarness(t, { subscription: customSubscription(creditsPerMonth, creditsPerMinute), clock });
  const refusals = countRefusals(t);
  const schema = `shared_${process.pid}_${Date.now().toString(36)}`;
  await using proxy = await startTcpProxy(server.port);
  const secret = harness.key().secret;
  const spots = places(needed);
  const running = new Map<number, { child: ChildProcess; ended: Promise<{ code: number | null; output: string }> }>();

  const start = (worker: number) => {
    const book = spots.slice(worker * cells, (worker + 1) * cells).map((spot) => `${spot.join(',')}\n`);
    writeFileSync(join(harness.folder, `${worker}.csv`), `lat,lng\n${book.join('')}`);
    const task: ChildTask = {
      ...{ folder: harness.folder, baseUrl: harness.url, secret, creditsPerMonth, creditsPerMinute, clock },
      ...{ input: `${worker}.csv`, output: `${worker}.out.csv`, topics: ['wildfire'] },
      store: server.storeAddress(worker === 0 ? { schema, port: proxy.port } : { schema }),
      clockAheadMs: (worker - Math.floor(workers / 2)) * clocksApartMs,
    };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] });
    const said: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
    const ended = once(child, 'close').then(([code]) => ({ code, output: Buffer.concat(said).toString() }));
    running.set(worker, { child, ended });
  };
  const query = <Row extends Record<string, unknown>>(sql: string) =>
    server.query<Row>(sql.replaceAll('$', `${schema}.`));
  for (let worker = 0; worker < workers; worker++) start(worker);
  await options.disturb?.({
    server,
    proxy,
    child: (worker) => running.get(worker)!.child,
    again: start,
    async reached(calls) {
      for (;;) {
        const [row] = await query<{ n: number }>('SELECT count(*)::int AS n FROM $calls').catch(() => []);
        if ((row?.n ?? 0) >= calls) return;
        await delay(20);
      }
    },
  });
  const wrong: string[] = [];
  for (const [worker, { ended }] of running) {
    const { code, output } = await ended;
    if (code !== 0) wrong.push(`worker ${worker} ended with ${code}: ${output.slice(0, 500)}`);
  }

  const charged = harness.charged();
  const [sums] = await query<{ charged: number; unknown: number; open: number; calls: number; bought: number }>(
    `SELECT coalesce(sum(credits) FILTER (WHERE charge = 'charged'), 0)::int AS charged,
       coalesce(sum(credits) FILTER (WHERE charge = 'unknown'), 0)::int AS unknown,
       count(*) FILTER (WHERE charge = 'sent')::int AS open, count(*) FILTER (WHERE charge = 'charged')::int AS calls,
       count(DISTINCT (lat7, lng7)) FILTER (WHERE charge = 'charged')::int AS bought FROM $calls`,
  );
  const claims = await query<{ input: string; at: number }>(
    `SELECT input, claimed_at::float8 AS at FROM $calls JOIN $runs ON runs.id = calls.run ORDER BY calls.id`,
  );
  if (refusals.count > 0) wrong.push(`the service refused ${refusals.count} calls for its limits`);
  if (sums!.open > 0) wrong.push(`${sums!.open} calls have no outcome`);
  if (sums!.calls !== sums!.bought) wrong.push(`${sums!.calls - sums!.bought} calls bought what was there`);
  // Of calls of unknown charge the service may have charged some.
  if (charged < sums!.charged || charged > sums!.charged + sums!.unknown) {
    wrong.push(`${charged} charged, ${sums!.charged} in the ledger, ${sums!.unknown} unknown`);
  }
  if (charged > creditsPerMonth) wrong.push(`${charged} charged, quota ${creditsPerMonth}`);
  if (sums!.charged + sums!.unknown < Math.min(needed, creditsPerMonth))
    wrong.push(`only ${sums!.charged} of ${needed} bought`);
  return {
    charged,
    unknown: sums!.unknown,
    use: useOf(claims, creditsPerMinute),
    shares: sharesOf(claims, workers),
    wrong,
  };
}

/** The first minute's credits are there at once, so that time counts from when they are used up. */
function useOf(claims: readonly { readonly at: number }[], creditsPerMinute: number): number {
  const elapsed = claims.at(-1)!.at - claims[0]!.at;
  const possible = creditsPerMinute * (1 + elapsed / MINUTE_MS);
  return Math.round((claims.length / possible) * 1000) / 1000;
}

function sharesOf(claims: readonly { readonly input: string }[], workers: number): number[] {
  const last = new Map(claims.map(({ input }, index) => [input, index]));
  const together = claims.slice(0, Math.min(...last.values()) + 1);
  const counts = Map.groupBy(together, ({ input }) => input);
  const shares = [...counts.values()].map((calls) => calls.length / together.length);
  return [...shares, ...new Array(workers - shares.length).fill(0)].map((share) => Math.round(share * 100) / 100);
}
