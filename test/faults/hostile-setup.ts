import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { parse } from 'csv-parse/sync';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { importDataset } from '../../src/data/tables/import-dataset.ts';
import type { RunSummary } from '../../src/run/summary-shapes.ts';
import { makeRandom } from '../../src/sample/random.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { type Ended as CommandEnd, perilbook } from '../cli/command-line.ts';
import { places } from '../run/harness.ts';
import { createAccount, createKey, usage } from '../service/file-accounts.ts';
import { info, openAccountsOf, openSmallData, point, start } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { openFaultProxy } from './fault-proxy.ts';
import { LeapingClock } from './leaping-clock.ts';

/** More cells than are in work at once (2 sockets × 4), so that a run that is stopped leaves some untouched. */
export const CELLS = 20;
export const SOCKETS = 2;

/** A bundle and two singles a cell. */
const TOPICS = 'natural,park,ozone';

const START = '2026-03-15T12:00:00Z';

/** Every cell has a park at a distance of its own, so that an answer in a wrong row shows. */
const PARKS = places(CELLS).map(([lat, lng], index) => point(lng, lat + 0.00002 * index));

export type Row = Readonly<Record<string, string>>;

/** How a run by the command line ended. */
export interface Ended extends CommandEnd {
  /** Null where it ended by an error. */
  readonly summary: RunSummary | null;
  readonly rows: readonly Row[];
}

/** One service for many trials. */
export type HostileSetup = Awaited<ReturnType<typeof openHostileSetup>>;
/** An account, a key, a store and an input file, with their own proxy before the service. */
export type Trial = Awaited<ReturnType<HostileSetup['trial']>>;

export interface TrialOptions {
  readonly cells?: number;
  readonly certificate?: { readonly key: Buffer; readonly cert: Buffer };
  /** A key that the service does not know. */
  readonly foreignKey?: string;
}

/** Opens the setup for all tests of the file that calls this at its top level. */
export async function openHostileSetup() {
  // All that what is opened takes of a test.
  const t = { after } as unknown as TestContext;
  const folder = temporaryFolder(t);
  // The service's own time is of no account here: its quota and its rate are out of reach.
  const clock = new LeapingClock(START);
  const database = openSmallData(t, join(folder, 'data.db'), clock);
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  importDataset(
    database,
    { kind: 'sites', topic: 'park', info: info('sites:park'), records: PARKS },
    clock,
  );
  const service = await start(t, { data: database, accounts, clock });
  const signedUpAt = Date.UTC(2025, 0, 1);
  let made = 0;

  async function trial(
    seed: number,
    { cells = CELLS, certificate, foreignKey }: TrialOptions = {},
  ) {
    const name = `trial ${++made}`;
    // A TLS handshake takes turns of the loop in which nothing else happens.
    const own = certificate ? new LeapingClock(START, 40) : new LeapingClock(START);
    createAccount(
      accounts,
      { name, subscription: customSubscription(100_000, 100_000), signedUpAt },
      clock,
    );
    const key = foreignKey ?? createKey(accounts, name, ['bundle', ...TOPIC_SLUGS], clock).key;
    const home = join(folder, String(made));
    mkdirSync(home);
    writeFileSync(join(home, 'key'), `${key}\n`, { mode: 0o600 });
    const lines = places(cells).map(([lat, lng], index) => `${index + 1},${lat},${lng}\n`);
    writeFileSync(join(home, 'book.csv'), `id,lat,lng\n${lines.join('')}`);
    const proxy = await openFaultProxy({
      ...{ service: service.url, clock: own, random: makeRandom(seed, 'hostile') },
      ...(certificate ? { certificate } : {}),
    });
    const store = join(home, 'store.db');
    const ofJob = ['--base-url', proxy.url, '--api-key-file', 'key', '--store', store];
    ofJob.push('--subscription', 'professional', '--account', 'trial');
    const alone = (...words: string[]) => perilbook(words, { folder: home, clock: own });
    const command = (...words: string[]) => alone(...words, ...ofJob);
    return {
      folder: home,
      clock: own,
      proxy,
      key,
      /** Another command about the same job; `cache prune` of its store; a command with no other words than these. */
      command,
      forget: (...flags: string[]) => alone('cache', 'prune', ...flags, '--store', store),
      alone,
      async run(...flags: string[]): Promise<Ended> {
        const words = [
          'run',
          'book.csv',
          '-o',
          'out.csv',
          '--topics',
          TOPICS,
          '--concurrency',
          String(SOCKETS),
        ];
        // A trial may wait for hours of its clock: what was answered shall not be stale by then.
        words.push('--time-to-live', 'ozone=never', '--yes', '--json');
        const { code, stdout, stderr } = await command(...words, ...flags);
        const summary = stdout === '' ? null : (JSON.parse(stdout) as RunSummary);
        const rows: Row[] =
          summary === null ? [] : parse(readFileSync(join(home, 'out.csv')), { columns: true });
        return { code, stdout, stderr, summary, rows };
      },
      /** Credits that the service has charged. */
      charged: () => usage(accounts, name, clock.now()).totalCredits,
      /** Looks into the store, which no run has open. */
      async inStore<T>(look: (store: Store) => Promise<T>): Promise<T> {
        const owner = { name: 'look', isAlive: () => true };
        await using opened = openSqliteStore(store, own, owner, (topic) => columnsOf(topic).length);
        return await look(opened);
      },
      [Symbol.asyncDispose]: () => proxy.close(),
    };
  }

  await using undisturbed = await trial(0);
  const { code, rows: truth, stderr } = await undisturbed.run();
  if (code !== 0) throw new Error(`The undisturbed run ended with ${code}: ${stderr}`);
  /** `truth`: what an undisturbed run answers. */
  return { truth, trial };
}
