import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Clock } from '../src/base/clock.ts';
import type { Subscription } from '../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../src/contract/topics.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import { makeJob } from '../src/job/settings.ts';
import { hashSecret } from '../src/run/frame/api-keys.ts';
import type { Connection } from '../src/run/frame/connection-kinds.ts';
import { newProgress, type Progress } from '../src/run/frame/progress.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { type RunResult, run } from '../src/run/run-job.ts';
import {
  accountsFileFor,
  openAccounts,
  sqliteAccounts,
} from '../src/service/accounts/open-accounts.ts';
import { startService } from '../src/service/http/start-service.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import { usage } from '../test/service/file-accounts.ts';
import { deliveries } from '../test/service/small-data.ts';
import { type LongWay, openLongWay } from './long-way.ts';

/** The tract of the small setup in which every topic has an answer, a little inside its borders: degrees. */
export const COUNTRY = { south: 40.02, north: 40.48, west: -99.98, east: -99.52 } as const;

/** A charge that the service made: when, by its clock, and how much. */
export interface Charged {
  readonly at: number;
  readonly credits: number;
}

/** A service and a user of it, on one clock. They meet only through HTTP on 127.0.0.1. */
export interface BenchHarness {
  /** Runs a job on a book, given as CSV text with the columns `lat` and `lng`, as the command line would. */
  run(
    book: string,
    settings: { readonly topics: readonly string[] },
    interrupt?: AbortSignal,
  ): Promise<BenchRun>;
  /** The service's port. */
  readonly port: number;
  /** Credits that the service has charged in all. */
  charged(): number;
  /** All charges, in the order in which they were made. */
  charges(): Charged[];
  /** Credits that the user's ledger calls charged, unknown and open. */
  ledger(): Promise<{ charged: number; unknown: number; open: number }>;
  close(): Promise<void>;
}

interface BenchRun extends RunResult {
  readonly progress: Progress;
}

export interface BenchHarnessOptions {
  readonly clock: Clock;
  readonly subscription: Subscription;
  /** Milliseconds of the wall clock by which every answer comes later. Default: none. */
  readonly answersLateMs?: number;
}

/** Starts a service on the tests' small data (what is measured here does not depend on how much an answer weighs), with
 * an account, and opens an empty store for its user. */
export async function openBenchHarness({
  clock,
  subscription,
  answersLateMs = 0,
}: BenchHarnessOptions): Promise<BenchHarness> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-bench-'));
  const database = openDataDatabase(join(folder, 'data.db'));
  const accounts = openAccounts(accountsFileFor(join(folder, 'data.db')));
  for (const delivery of deliveries()) importDataset(database, delivery, clock);
  const port = sqliteAccounts(accounts, clock);
  const { name: account } = await port.createAccount({
    name: 'bench',
    subscription,
    signedUpAt: SIGNED_UP,
  });
  const { key } = await port.createKey(account, ['bundle', ...TOPIC_SLUGS], null);
  const service = await startService({ data: database, accounts: port, port: 0 });
  const way: LongWay | null =
    answersLateMs > 0 ? await openLongWay(service.url, answersLateMs) : null;
  const store = openSqliteStore(join(folder, 'store.db'), clock, {
    name: 'bench',
    isAlive: () => true,
  });
  const connection: Connection = {
    kind: 'service',
    baseUrl: way?.url ?? service.url,
    source: 'bench',
    sample: false,
    keys: [{ secret: key, fingerprint: hashSecret(key), scopes: null }],
  };
  const effects = {
    clock,
    random: Math.random,
    streams: { stdin: new PassThrough(), stdout: new PassThrough() },
    // They are of the clock, which the benchmark sets itself. A run that goes wrong ends in another state.
    notice: () => {},
  };
  const { creditsPerMonth, creditsPerMinute } = subscription;
  return {
    port: service.port,
    async run(book, { topics }, interrupt = new AbortController().signal) {
      writeFileSync(join(folder, 'book.csv'), book);
      const settings = {
        input: 'book.csv',
        topics: [...topics],
        subscription: { credits_per_month: creditsPerMonth, credits_per_minute: creditsPerMinute },
      };
      const job = makeJob([settings], { dataFolder: folder, workingFolder: folder });
      const progress = newProgress();
      using prepared = await prepare(
        await openContext(job, { connection, store, effects, progress, interrupt }),
      );
      const ended = await run(prepared);
      return { ...ended, progress };
    },
    charged: () => usage(accounts, account, clock.now()).totalCredits,
    charges: () =>
      accounts
        .prepare<[], Charged>(
          'SELECT charged_at AS at, credits FROM charges ORDER BY charged_at, id',
        )
        .all(),
    ledger: async () => (await store.stats()).credits,
    async close() {
      await way?.close();
      await service.close();
      await store.close();
      accounts.close();
      database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** On the first, so that the periods of account and job (whose default is day 1) are the same. */
const SIGNED_UP = Date.UTC(2025, 0, 1);
