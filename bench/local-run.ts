/** A whole local run: scan, plan, look up with the run's own threads into a store, write. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { systemClock } from '../src/base/clock.ts';
import { columnsOf } from '../src/columns/topic-columns.ts';
import type { TopicSlug } from '../src/contract/topics.ts';
import type { Location } from '../src/geo/coordinates.ts';
import { makeJob } from '../src/job/settings.ts';
import { readLocalData } from '../src/run/frame/local-data.ts';
import { newProgress } from '../src/run/frame/progress.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { run } from '../src/run/run-job.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';

/** Places a second. */
export interface LocalRunRates {
  /** From the start of the threads to the last batch in the store. */
  readonly lookedUp: number;
  /** From the first row read to the last row written. */
  readonly whole: number;
}

export async function localRun(
  { topics, counts }: { readonly topics: readonly TopicSlug[]; readonly counts: boolean },
  dataFile: string,
  places: readonly Location[],
): Promise<LocalRunRates> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-local-run-'));
  const owner = { name: 'bench', isAlive: () => true };
  const store = openSqliteStore(
    join(folder, 'store.db'),
    systemClock,
    owner,
    (topic) => columnsOf(topic).length,
  );
  try {
    const lines = places.map(
      ({ lat, lng }, index) => `${index},${lat.toFixed(6)},${lng.toFixed(6)}`,
    );
    writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${lines.join('\n')}\n`);
    const settings = {
      input: 'book.csv',
      output: 'out.csv',
      topics: [...topics],
      counts,
      precision: 6,
      max_invalid: 1,
    };
    const job = makeJob([settings], { dataFolder: folder, workingFolder: folder });
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    const effects = { clock: systemClock, random: Math.random, streams, notice: console.error };
    const begun = performance.now();
    const data = readLocalData(dataFile, Date.now())!;
    const connection = { kind: 'local', source: 'local', sample: false, data } as const;
    const progress = newProgress();
    using prepared = await prepare(
      await openContext(job, { connection, store, effects, progress }),
    );
    let [from, to] = [0, 0];
    progress.onChange = () => {
      if (progress.phase === 'looking_up') from = performance.now();
      else if (progress.phase === 'writing') to = performance.now();
    };
    const { summary } = await run(prepared);
    if (summary.status.ok === 0) throw new Error('Nothing was looked up');
    const { cells } = summary;
    return {
      lookedUp: (cells / (to - from)) * 1_000,
      whole: (cells / (performance.now() - begun)) * 1_000,
    };
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
