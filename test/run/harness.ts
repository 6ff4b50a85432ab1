import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { parse } from 'csv-parse/sync';
import type { Clock } from '../../src/base/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { customSubscription, type Subscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { createCellAreaFinder } from '../../src/data/tables/cell-area-finder.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import { parseTopics, topicsInGroups } from '../../src/job/topic-choice.ts';
import { hashSecret, type Key } from '../../src/run/frame/api-keys.ts';
import type { Connection } from '../../src/run/frame/connection-kinds.ts';
import type { Progress } from '../../src/run/frame/progress.ts';
import { type Effects, openContext } from '../../src/run/frame/run-context.ts';
import { type Prepared, prepare } from '../../src/run/prepare.ts';
import { type RunResult, run } from '../../src/run/run-job.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { FastClock } from '../fast-clock.ts';
import { createAccount, createKey, usage } from '../service/file-accounts.ts';
import {
  openAccountsOf,
  openSmallData,
  releaseLater,
  type StartOptions,
  start,
} from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface HarnessClock extends Clock {
  moveTo(time: string): void;
}

export type Harness = Awaited<ReturnType<typeof openHarness>>;

type OpenAreas = NonNullable<Effects['openAreas']>;

export interface RunOptions {
  readonly keys?: readonly Key[];
  readonly interrupt?: AbortSignal;
  readonly baseUrl?: string;
  /** Instead of the service. */
  readonly connection?: Connection;
  readonly progress?: Progress;
  /** Boundaries of another data file. */
  readonly openAreas?: OpenAreas;
  readonly rowThreads?: number;
  readonly placeBytes?: number;
  /** Instead of the harness's own. */
  readonly store?: Store;
}

export interface HarnessOptions {
  readonly subscription?: Subscription;
  readonly service?: StartOptions;
  readonly start?: string;
  readonly factor?: number;
  readonly overages?: boolean;
  /** A clock of the test's own, or the numbers of one that other processes share; instead of `start` and `factor`. */
  readonly clock?:
    | HarnessClock
    | { readonly start: number; readonly factor: number; readonly origin: number };
}

/** A service with its own database, a store, a clock that all share, and a way to run jobs between them. The service knows two counties
 * of Nebraska and four tracts in one of them; see test/service/small-data.ts. */
export async function openHarness(t: TestContext, options: HarnessOptions = {}) {
  const folder = temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const subscription = options.subscription ?? customSubscription(100_000, 100_000);
  const clock = clockOf(options);
  // Readings of an hour ago: older ones than four hours would be unavailable.
  const database = openSmallData(t, join(folder, 'data.db'), clock, clock.now() - 3_600_000);
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  const account = createAccount(
    accounts,
    {
      name: 'harness',
      subscription,
      overages: options.overages ?? false,
      signedUpAt: Date.UTC(2025, 0, 31),
    },
    clock,
  );
  const service = await start(t, { data: database, accounts, clock, ...options.service });
  const owner = { name: 'test', isAlive: () => true };
  const store = openSqliteStore(
    join(folder, 'store.db'),
    clock,
    owner,
    (topic) => columnsOf(topic).length,
  );
  releaseLater(t, () => store.close());
  const notices: string[] = [];
  /** A key of the service's account with these scopes (all when none are named). */
  const key = (...scopes: string[]) => keyOf(account.name, ...scopes);
  const keyOf = (owner: string, ...scopes: string[]): Key & { readonly id: number } => {
    const made = createKey(
      accounts,
      owner,
      scopes.length > 0 ? scopes : ['bundle', ...TOPIC_SLUGS],
      clock,
    );
    return { id: made.id, secret: made.key, fingerprint: hashSecret(made.key), scopes: null };
  };
  const fullKey = key();
  const openAreas: OpenAreas = ({ areas, precision }) => ({
    find: createCellAreaFinder(database, areas!, precision),
    [Symbol.dispose]: () => {},
  });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const notice = (message: string) => notices.push(message);
  const effects = { clock, random: Math.random, streams, notice, openAreas };
  const connectionOf = ({ keys = [fullKey], baseUrl = service.url }: RunOptions): Connection => ({
    ...{ kind: 'service', baseUrl, source: 'harness', sample: false, keys },
  });
  const { creditsPerMonth: credits_per_month, creditsPerMinute: credits_per_minute } = subscription;
  const usual = { input: 'input.csv', output: 'output.csv', anniversary_day: 31 };
  const said: JobFile = { ...usual, subscription: { credits_per_month, credits_per_minute } };
  /** The job names no service, but has one: its groups are those of a service. */
  const job = ({ topics, ...settings }: JobFile = {}) => {
    const asked =
      topics === undefined ? {} : { topics: parseTopics(topics, topicsInGroups('remote')) };
    return makeJob([{ ...settings, ...asked }, said], {
      dataFolder: folder,
      workingFolder: folder,
    });
  };
  /** The context of a run, for what a test does between its stages. */
  const open = (settings?: JobFile, options: RunOptions = {}) => {
    const {
      rowThreads,
      placeBytes,
      openAreas: others = openAreas,
      store: kept = store,
      interrupt,
      progress,
    } = options;
    return openContext(job(settings), {
      connection: options.connection ?? connectionOf(options),
      store: kept,
      effects: {
        ...effects,
        openAreas: others,
        ...(rowThreads !== undefined && { rowThreads }),
        ...(placeBytes !== undefined && { placeBytes }),
      },
      ...(interrupt && { interrupt }),
      ...(progress && { progress }),
    });
  };
  return {
    ...{ folder, clock, store, url: service.url, key, notices, openAreas, job },
    /** Writes `input.csv` with a location a line; returns its text. */
    writeInput(locations: readonly (readonly [lat: number | string, lng: number | string])[]) {
      const text = `id,lat,lng\n${locations.map(([lat, lng], index) => `${index + 1},${lat},${lng}\n`).join('')}`;
      writeFileSync(join(folder, 'input.csv'), text);
      return text;
    },
    open,
    async run(settings?: JobFile, runOptions: RunOptions = {}): Promise<RunResult> {
      using priced = await prepare(await open(settings, runOptions));
      return await run(priced);
    },
    async plan(
      settings?: JobFile,
      options?: RunOptions,
    ): Promise<RunResult['summary'] | Prepared['summary']> {
      using prepared = await prepare(await open(settings, options));
      return prepared.summary;
    },
    output: () => readFileSync(join(folder, 'output.csv'), 'utf8'),
    ...{ database, accounts },
    addAccount: (name: string, other: Subscription) =>
      void createAccount(
        accounts,
        { name, subscription: other, signedUpAt: Date.UTC(2025, 0, 20) },
        clock,
      ),
    keyOf,
    /** Credits that the service has charged an account (the harness's own) in all. */
    charged: (name = 'harness') => usage(accounts, name, clock.now()).totalCredits,
    ledger: async () => (await store.stats()).credits,
  };
}

function clockOf({
  clock,
  start = '2026-03-15T12:00:00Z',
  factor = 50,
}: HarnessOptions): HarnessClock {
  if (clock === undefined) return new FastClock(start, factor);
  return 'now' in clock ? clock : new FastClock(clock.start, clock.factor, clock.origin);
}

/** `count` places of which no two share a cell, all in the areas of the small setup. */
export function places(count: number): [number, number][] {
  return Array.from({ length: count }, (_, index) => [
    40.05 + 0.001 * (index % 400),
    -99.95 + 0.001 * Math.floor(index / 400),
  ]);
}

/** The values of one column of a CSV text. */
export function column(text: string, name: string): string[] {
  return parse<Record<string, string>>(text, { columns: true }).map((row) => row[name]!);
}
