import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { randomOf, whole } from '../../src/data/sample/random.ts';
import { openHarness, places } from '../run/harness.ts';
import type { ChildTask } from '../run/run-child.ts';
import { releaseLater } from '../service/small-data.ts';

const run = promisify(execFile);
const CHILD = join(import.meta.dirname, '../run/run-child.ts');
const PROCESSES = 4;
const TOPICS = [['wildfire', 'hail'], ['hail', 'tornado'], ['wildfire', 'tornado'], ['hail']];
const FACTOR = 40;

export interface ManyOptions {
  /** Share of what all need that the quota gives; over 1 it is enough. */
  readonly quota: number;
  readonly creditsPerMinute: number;
  /** Of each process: 300 where nothing is said. */
  readonly cells?: number;
  /** Each has cells of its own, all at the same price: then what each is granted shows whether they are treated alike. Where
   * books overlap, who finds its cells bought by others needs no grants. */
  readonly apart?: boolean;
}

export interface ManyTrial {
  readonly needed: number;
  readonly charged: number;
  /** Each run's part of all that was bought. */
  readonly shares: readonly number[];
  /** The most calls that others were granted between two of a run's own. */
  readonly longestWait: number;
  readonly wrong: readonly string[];
}

interface ChildEnd {
  readonly state: string;
  readonly summary: { readonly credits_spent: number; readonly status: Readonly<Record<string, number>> };
}

/** Four processes start at one moment on one new store, with one key and books that overlap. */
export async function manyTrial(t: TestContext, seed: number, options: ManyOptions): Promise<ManyTrial> {
  const random = randomOf(seed, 'many');
  const { apart = false, cells = 300 } = options;
  const starts = Array.from({ length: PROCESSES }, (_, index) => (apart ? index * cells : whole(random, 0, cells)));
  const topicsOf = (index: number) => (apart ? ['wildfire'] : TOPICS[index]!);
  const wants = new Set(
    starts.flatMap((from, index) =>
      topicsOf(index).flatMap((topic) => cellsFrom(from, cells).map((cell) => `${topic} ${cell}`)),
    ),
  );
  const needed = wants.size;
  const creditsPerMonth = options.quota > 1 ? 1_000_000 : Math.floor(needed * options.quota);
  const { creditsPerMinute } = options;
  const clock = { start: Date.parse('2026-03-15T12:00:00Z'), factor: FACTOR, origin: Date.now() };
  const harness = await openHarness(t, { subscription: customSubscription(creditsPerMonth, creditsPerMinute), clock });
  const refusals = countRefusals(t);
  const spots = places(PROCESSES * cells);
  const task = {
    folder: harness.folder,
    baseUrl: harness.url,
    secret: harness.key().secret,
    creditsPerMonth,
    creditsPerMinute,
    clock,
  };
  const wrong: string[] = [];
  const ends = await Promise.all(
    starts.map(async (from, index) => {
      const book = cellsFrom(from, cells).map((cell) => `${spots[cell]!.join(',')}\n`);
      writeFileSync(join(harness.folder, `${index}.csv`), `lat,lng\n${book.join('')}`);
      const child: ChildTask = { ...task, input: `${index}.csv`, output: `${index}.out.csv`, topics: topicsOf(index) };
      try {
        const { stdout } = await run(process.execPath, [CHILD, JSON.stringify({ ...child, store: 'many.db' })], {
          timeout: 300_000,
        });
        return JSON.parse(stdout) as ChildEnd;
      } catch (error) {
        wrong.push(`process ${index}: ${(error as { stderr?: string }).stderr ?? error}`);
        return null;
      }
    }),
  );
  const charged = harness.charged();
  const ledger = readLedger(join(harness.folder, 'many.db'));
  const spent = ends.reduce((sum, end) => sum + (end?.summary.credits_spent ?? 0), 0);
  if (refusals.count > 0) wrong.push(`the service refused ${refusals.count} calls for its limits`);
  if (charged !== Math.min(needed, creditsPerMonth))
    wrong.push(`${charged} charged, ${needed} needed, quota ${creditsPerMonth}`);
  if (spent !== charged || ledger.charged !== charged)
    wrong.push(`${charged} charged, ${spent} told, ${ledger.charged} in the ledger`);
  if (ledger.bought !== ledger.calls) wrong.push(`${ledger.calls - ledger.bought} calls bought what was there`);
  const expected = options.quota > 1 ? 'complete' : 'paused';
  const states = ends.map((end) => end?.state ?? 'failed');
  // With a scarce quota, whoever found all its cells bought by the others is complete too.
  if (!states.every((state) => state === expected || (options.quota <= 1 && state === 'complete')))
    wrong.push(states.join());
  // Between processes there is no queue: whoever looks first when credits come back takes them. Nobody is passed over for
  // more than a whole minute's worth.
  if (ledger.shares.length < PROCESSES) wrong.push(`only ${ledger.shares.length} processes bought anything`);
  if (apart && ledger.longestWait > creditsPerMinute)
    wrong.push(`others were granted ${ledger.longestWait} calls in between`);
  return { needed, charged, shares: ledger.shares, longestWait: ledger.longestWait, wrong };
}

function cellsFrom(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

/** Counts the service's answers 429, on its side of the wire. */
export function countRefusals(t: TestContext): { count: number } {
  const refusals = { count: 0 };
  const onAnswer = (message: unknown) => {
    if ((message as { response: ServerResponse }).response.statusCode === 429) refusals.count++;
  };
  subscribe('http.server.response.finish', onAnswer);
  releaseLater(t, () => unsubscribe('http.server.response.finish', onAnswer));
  return refusals;
}

function readLedger(file: string) {
  const database = new Database(file, { readonly: true });
  try {
    const number = (what: string) => database.prepare<[], number>(what).pluck().get()!;
    // By number is in the order of the claims.
    const runs = database
      .prepare<[], number>("SELECT run FROM calls WHERE charge = 'charged' ORDER BY id")
      .pluck()
      .all();
    const last = new Map<number, number>();
    const bought = new Map<number, number>();
    let longestWait = 0;
    for (const [at, run] of runs.entries()) {
      longestWait = Math.max(longestWait, at - 1 - (last.get(run) ?? at - 1));
      last.set(run, at);
      bought.set(run, (bought.get(run) ?? 0) + 1);
    }
    const shares = [...bought.values()].map((calls) => Math.round((calls / runs.length) * 100) / 100);
    return {
      shares,
      longestWait,
      charged: number("SELECT coalesce(sum(credits), 0) FROM calls WHERE charge = 'charged'"),
      calls: number("SELECT count(*) FROM calls WHERE charge = 'charged'"),
      bought: number(
        "SELECT count(DISTINCT kind || coalesce(topic, '') || lat7 || ' ' || lng7) FROM calls WHERE charge = 'charged'",
      ),
    };
  } finally {
    database.close();
  }
}
