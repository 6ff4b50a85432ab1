import { PassThrough } from 'node:stream';
import type { Clock } from '../../src/base/clock.ts';
import { columnsOf } from '../../src/columns/topic-columns.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import type { Key } from '../../src/run/plan/api-keys.ts';
import { prepare } from '../../src/run/prepare.ts';
import { newProgress, type Progress } from '../../src/run/progress.ts';
import { openContext } from '../../src/run/run-context.ts';
import { type RunResult, run } from '../../src/run/run-job.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';

export interface BuyerOptions {
  readonly folder: string;
  readonly baseUrl: string;
  readonly key: Key;
  readonly clock: Clock;
  readonly job: JobFile;
  /** Beside the folder's store, where another is to be used. */
  readonly store?: string;
  readonly progress?: Progress;
  /** Filled with the notices for the user. */
  readonly notices?: string[];
}

/** Runs a job against a service whose clock is another one, and closes its store. */
export async function buy(buyer: BuyerOptions): Promise<RunResult> {
  const { folder, clock } = buyer;
  const owner = { name: `test/${process.pid}/buyer`, isAlive: () => true };
  const store = openSqliteStore(
    `${folder}/${buyer.store ?? 'buyer.db'}`,
    clock,
    owner,
    (topic) => columnsOf(topic).length,
  );
  try {
    const job = makeJob([buyer.job, { input: 'input.csv', output: 'output.csv', anniversary_day: 31 }], {
      dataFolder: folder,
      workingFolder: folder,
    });
    const effects = {
      clock,
      random: Math.random,
      streams: { stdin: new PassThrough(), stdout: new PassThrough() },
      notice: (message: string) => void buyer.notices?.push(message),
    };
    const connection = {
      kind: 'service' as const,
      baseUrl: buyer.baseUrl,
      source: 'harness',
      sample: false,
      keys: [buyer.key],
    };
    using prepared = await prepare(
      await openContext(job, { connection, store, effects, progress: buyer.progress ?? newProgress() }),
    );
    return await run(prepared);
  } finally {
    await store.close();
  }
}
