/**
 * The report of a portfolio with a million places, everything answered: time and peak memory of a process of its own, which scans,
 * plans, reads the store and renders the page.
 *
 *     node bench/report.ts page FOLDER
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { systemClock } from '../src/base/clock.ts';
import { reportOfLatestRun } from '../src/report/figures/gather-facts.ts';
import { reportPage } from '../src/report/html/page.ts';
import { writePortfolio } from './oed-portfolio.ts';
import { runApart } from './own-process.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { filesIn, jobIn, makeAnswers, SOURCE, storeOf } from './warm.ts';

/** The goal. */
const LIMIT = { seconds: 10, megabytes: 380 };

/** So many that hardly two rows draw the same place; one row in twelve lies outside the US. */
const PLACES = 2 ** 31;

interface Told {
  readonly seconds: number;
  readonly megabytes: number;
  readonly bytes: number;
}

/** BENCH_ROWS=100000 chooses another size. */
export async function run(): Promise<Goal[]> {
  const rows = Number(process.env.BENCH_ROWS ?? sized(1_100_000, 2_000));
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-report-'));
  try {
    await writePortfolio(filesIn(folder, 'csv').input, { rows, places: PLACES });
    const cells = await makeAnswers(folder);
    const args = [import.meta.filename, 'page', folder];
    const { seconds, megabytes, bytes } = runApart<Told>(args, join(folder, 'compiled'));
    const head = ['rows', 'places', 'seconds', 'peak MB', 'page, kB'];
    const line = [
      rows.toLocaleString('en-US'),
      cells,
      seconds.toFixed(2),
      megabytes.toFixed(0),
      Math.round(bytes / 1000),
    ];
    console.log(table(head, [line]));
    const what = `report of ${cells.toLocaleString('en-US')} places`;
    return [
      { what, measured: seconds, unit: 's', atMost: LIMIT.seconds },
      { what: `${what}, peak memory`, measured: megabytes, unit: 'MB', atMost: LIMIT.megabytes },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One measurement, in this process. */
async function measure(folder: string): Promise<void> {
  const begun = performance.now();
  const job = { ...jobIn(folder, 'csv'), orderBy: { kind: 'tiv' } as const };
  const store = await storeOf(job.store);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = { clock: systemClock, random: Math.random, streams, notice: console.error };
  const key = { secret: 'none-is-asked', fingerprint: '', scopes: null };
  const connection = {
    kind: 'service' as const,
    baseUrl: 'https://example.org',
    source: SOURCE,
    sample: false,
    keys: [key],
  };
  const { facts, map } = await reportOfLatestRun(job, connection, store, effects);
  const page = reportPage(facts, map);
  await store.close();
  if (!page.includes('Nothing left to buy.')) throw new Error('the store lacks something');
  const seconds = (performance.now() - begun) / 1000;
  const told: Told = { seconds, megabytes: peakMegabytes(), bytes: Buffer.byteLength(page) };
  console.log(JSON.stringify(told));
}

if (process.argv[1] === import.meta.filename) await measure(process.argv[3]!);
