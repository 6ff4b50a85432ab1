/** One process of several that share a store and a key: runs the job that its arguments describe, prints its summary. */
import { PassThrough } from 'node:stream';
import { systemClock } from '../../src/base/clock.ts';
import { makeJob } from '../../src/job/settings.ts';
import { hashSecret } from '../../src/run/frame/api-keys.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { openContext } from '../../src/run/frame/run-context.ts';
import { prepare } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import { isPostgresAddress } from '../../src/sql/postgres-address.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { FastClock } from '../fast-clock.ts';

export interface ChildTask {
  readonly folder: string;
  readonly baseUrl: string;
  readonly secret: string;
  readonly input: string;
  readonly output: string;
  readonly topics: string[];
  readonly creditsPerMonth: number;
  readonly creditsPerMinute: number;
  readonly clock: { readonly start: number; readonly factor: number; readonly origin: number };
  /** A file of the folder, or the address of a database, whose clock is then `clock`. Default: store.db, which the harness has open
   * too. */
  readonly store?: string;
  /** How far this process's own clock is from `clock`. */
  readonly clockAheadMs?: number;
}

if (process.argv[2] !== undefined) {
  const task = JSON.parse(process.argv[2]) as ChildTask;
  const { start, factor, origin } = task.clock;
  const clock = new FastClock(start + (task.clockAheadMs ?? 0), factor, origin);
  const owner = `test/${process.pid}/${task.output}`;
  const isAlive = (other: string): boolean => {
    try {
      return process.kill(Number(other.split('/')[1]), 0);
    } catch {
      return false;
    }
  };
  const { store: name = 'store.db' } = task;
  const serverTime = () =>
    `(${start} + (extract(epoch FROM clock_timestamp()) * 1000 - ${origin}) * ${factor})::bigint`;
  const store = isPostgresAddress(name)
    ? await openPostgresStore(name, systemClock, { name: owner, isAlive }, { serverTime })
    : openSqliteStore(`${task.folder}/${name}`, clock, { name: owner, isAlive });
  const { input, output, topics, folder, creditsPerMonth, creditsPerMinute } = task;
  const subscription = { credits_per_month: creditsPerMonth, credits_per_minute: creditsPerMinute };
  const settings = { input, output, topics, anniversary_day: 31, subscription };
  const job = makeJob([settings], { dataFolder: folder, workingFolder: folder });
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = { clock, random: Math.random, streams, notice: () => {} };
  const key = { secret: task.secret, fingerprint: hashSecret(task.secret), scopes: null };
  const connection = {
    kind: 'service' as const,
    baseUrl: task.baseUrl,
    source: 'harness',
    sample: false,
    keys: [key],
  };
  const progress = newProgress();
  using prepared = await prepare(await openContext(job, { connection, store, effects, progress }));
  const { summary, state } = await run(prepared);
  await store.close();
  process.stdout.write(
    JSON.stringify({ state, slowedDown: progress.slowedDown, calls: progress.calls, summary }),
  );
}
