/**
 * What expected annual losses add to a warm run: processor time, bytes of the output and memory, with and without them in turns. All
 * answers and rates are in the store.
 *
 *     node bench/losses.ts
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { LOSS_RATES } from '../src/data/topics/loss-rates.ts';
import { openRowFile } from '../src/rows/open/open-row-file.ts';
import type { LossSource } from '../src/run/frame/connection-kinds.ts';
import { scanRows } from '../src/run/scan/scan-input.ts';
import type { CellAnswers } from '../src/store/answers/port.ts';
import { writePortfolio } from './oed-portfolio.ts';
import { runApart } from './own-process.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { filesIn, jobIn, makeAnswers, runWarm, storeOf } from './warm.ts';

const ROWS = sized(1_000_000, 2_000);
const PLACES = sized(200_000, 400);
const TRACTS = sized(75_000, 150);
const ROUNDS = sized(4, 1);

const FORMATS = ['csv', 'parquet'] as const;
type Format = (typeof FORMATS)[number];
const WAYS = ['without', 'with'] as const;
type Way = (typeof WAYS)[number];

/** The processor time with losses, of that without them. */
const MOST_RATIO = 1.08;

/** The usual size of a hazard's rates, the share of tracts without one, and that of zeros among the others: as in the index. */
const KINDS: readonly (readonly [size: number, without: number, zeros: number])[] = [
  ...([
    [1e-7, 0.95, 0.5],
    [6e-6, 0.6, 0.2],
    [6e-9, 0, 0.02],
    [0, 1, 0],
  ] as const),
  ...([
    [6e-6, 0, 0],
    [3e-8, 0, 0.01],
    [1e-10, 0.1, 0.05],
    [3e-4, 0.3, 0.05],
  ] as const),
  ...([
    [2e-7, 0.1, 0.05],
    [5e-7, 0.4, 0.5],
    [3e-8, 0.02, 0.02],
    [1e-6, 0, 0.3],
  ] as const),
  ...([
    [8e-6, 0, 0],
    [2e-5, 0, 0],
    [1e-7, 0.97, 0.3],
    [1e-7, 0.95, 0.5],
  ] as const),
  ...([
    [1e-5, 0.05, 0.4],
    [3e-7, 0.05, 0.05],
  ] as const),
];

/** A number from 0 to 1 for each whole number. */
function shareOf(number: number): number {
  let h = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

function ratesOf(tract: number): (number | null)[] {
  return KINDS.map(([size, without, zeros], hazard) => {
    const [first, second, third] = [0, 1, 2].map((part) =>
      shareOf(192 * tract + 64 * part + hazard),
    );
    if (first! < without) return null;
    // 15 decimals, as the index has.
    return second! < zeros ? 0 : Math.round(1e15 * size * 10 ** (2 * third! - 1)) / 1e15;
  });
}

const LOSS_SOURCE = 'bench rates';

/** The source of the rates. Its data is never opened: the store has all rates. */
const lossSource = (): LossSource => ({
  source: LOSS_SOURCE,
  data: {
    file: 'none',
    version: 1,
    asOf: Date.now(),
    datasets: [],
    removals: new Map(),
    describedSince: new Map(),
    outdated: new Set(),
    topics: new Set(NATURAL_SLUGS),
    topicsWithoutRecords: new Set(),
    boundaryCounties: new Set(),
    countiesWithoutRatings: new Set(),
    countyRatings: null,
    hasAirQualityYears: false,
    hasLossRates: true,
    sample: false,
  },
});

const CELLS_A_WRITE = 1_000;

/** Fills the store with the rates of all places. */
async function makeRates(folder: string): Promise<void> {
  const job = jobIn(folder, 'csv');
  using scan = await scanRows(await openRowFile(job.input), job);
  const { cells } = scan;
  const store = await storeOf(job.store);
  const source = await store.source(LOSS_SOURCE);
  const asOf = Date.now();
  for (let from = 0; from < cells.size; from += CELLS_A_WRITE) {
    const answered = cells.cells(from, from + CELLS_A_WRITE).map((cell, index): CellAnswers => {
      // Some tracts have many places.
      const rates = ratesOf(Math.floor(TRACTS * shareOf(from + index) ** 1.3));
      const fields = [rates.filter((rate) => rate !== null).length, ...rates];
      return { cell, answers: [{ topic: LOSS_RATES, asOf, fields }], failures: [] };
    });
    await store.putAnswers(source, answered);
  }
  await store.close();
}

/** What a run took. */
interface Taken {
  /** Of the processor, in all threads. */
  readonly seconds: number;
  readonly megabytes: number;
  readonly bytes: number;
}

/** One measurement, in this process. */
async function measure(way: Way, format: Format, folder: string): Promise<void> {
  const job = { ...jobIn(folder, format), losses: way === 'with' };
  // An earlier output may have answers that this one lacks.
  rmSync(job.output, { force: true });
  await runWarm(job, {}, way === 'with' ? lossSource() : null);
  const { user, system } = process.cpuUsage();
  const { size: bytes } = statSync(job.output);
  const taken: Taken = { seconds: (user + system) / 1e6, megabytes: peakMegabytes(), bytes };
  console.log(JSON.stringify(taken));
}

const mean = (figures: readonly number[]): number =>
  figures.reduce((sum, figure) => sum + figure, 0) / figures.length;

/** Makes the files, and measures each format with and without losses. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-losses-'));
  try {
    await writePortfolio(filesIn(folder, 'csv').input, { rows: ROWS, places: PLACES });
    await makeAnswers(folder);
    await makeRates(folder);
    const { toParquet } = await import('./warm-peers.ts');
    await toParquet(filesIn(folder, 'csv').input, filesIn(folder, 'parquet').input);
    const goals: Goal[] = [];
    const lines: (string | number)[][] = [];
    for (const format of FORMATS) {
      const [without, withLosses] = measureFormat(folder, format);
      const ratio = withLosses.seconds / without.seconds;
      goals.push({
        what: `processor time with losses, ${format}`,
        measured: ratio,
        unit: 'of that without',
        atMost: MOST_RATIO,
      });
      for (const [way, { seconds, megabytes, bytes }] of [
        ['without', without],
        ['with', withLosses],
      ] as const)
        lines.push([`${format} ${way}`, seconds.toFixed(2), Math.round(megabytes), bytes]);
    }
    console.log(table(['run', 'processor s', 'MB', 'bytes written'], lines));
    return goals;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Means of the rounds: without losses, and with them. */
function measureFormat(folder: string, format: Format): [Taken, Taken] {
  const taken = WAYS.map(() => [] as Taken[]);
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, way] of WAYS.entries()) {
      const args = [import.meta.filename, way, format, folder];
      taken[index]!.push(runApart<Taken>(args, join(folder, 'compiled', way, format)));
    }
  const [without, withLosses] = taken.map((rounds) => ({
    seconds: mean(rounds.map(({ seconds }) => seconds)),
    megabytes: Math.max(...rounds.map(({ megabytes }) => megabytes)),
    bytes: rounds[0]!.bytes,
  }));
  return [without!, withLosses!];
}

if (process.argv[1] === import.meta.filename) {
  const [way, format, folder] = process.argv.slice(2);
  if (folder === undefined) await run();
  else await measure(way as Way, format as Format, folder);
}
