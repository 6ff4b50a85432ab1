/**
 * A warm run of ten part files beside one file with the same rows, each in a process of its own:
 *
 *     BENCH_ROWS=10000000 node bench/main.ts parts
 */
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeJob } from '../src/job/settings.ts';
import { writePortfolio } from './oed-portfolio.ts';
import { runApart } from './own-process.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { filesIn, type Measured, makeAnswers, runWarm } from './warm.ts';

const PARTS = 10;
/** One with more rows than usual: a round takes minutes. */
const ROUNDS = process.env.BENCH_ROWS === undefined ? sized(3, 1) : 1;

type Run = 'file' | 'parts' | 'parts-alone';

const RUNS: readonly (readonly [name: string, run: Run])[] = [
  ['one file', 'file'],
  ['ten parts', 'parts'],
  ['ten parts, no threads', 'parts-alone'],
];

async function measure(folder: string, run: Run): Promise<void> {
  const { input, output } = filesIn(folder, 'csv');
  const files =
    run === 'file'
      ? { input, output }
      : { input: join(folder, 'in'), output: join(folder, `out-${run}`) };
  const settings = { ...files, topics: 'natural', store: join(folder, 'store.db'), budget: 0 };
  const job = {
    ...makeJob([settings], { dataFolder: folder, workingFolder: folder }),
    counts: false,
  };
  const begun = performance.now();
  await runWarm(job, run === 'parts-alone' ? { rowThreads: 0 } : {});
  const seconds = (performance.now() - begun) / 1_000;
  console.log(JSON.stringify({ seconds, megabytes: peakMegabytes() }));
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[figures.length >> 1]!;

export async function run(): Promise<Goal[]> {
  const rows = Number(process.env.BENCH_ROWS ?? sized(1_000_000, 2_000));
  const places = Number(process.env.BENCH_PLACES ?? sized(200_000, 400));
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-parts-'));
  try {
    await writePortfolio(filesIn(folder, 'csv').input, { rows, places });
    mkdirSync(join(folder, 'in'));
    for (let part = 0; part < PARTS; part++) {
      const size = { rows: rows / PARTS, places, from: (part * rows) / PARTS };
      await writePortfolio(join(folder, 'in', `part-${part}.csv`), size);
    }
    const cells = await makeAnswers(folder);
    const figures = RUNS.map(() => [] as Measured[]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, [, run]] of RUNS.entries()) {
        for (const name of readdirSync(folder).filter((one) => one.startsWith('out-'))) {
          rmSync(join(folder, name), { recursive: true });
        }
        const args = [import.meta.filename, folder, run];
        figures[index]!.push(runApart(args, join(folder, 'compiled', run)));
        if (run !== 'file') checkSize(folder);
      }
    }
    console.log(
      `${rows.toLocaleString('en-US')} rows, ${cells.toLocaleString('en-US')} cells, 18 natural topics\n`,
    );
    const whole = median(figures[0]!.map(({ seconds }) => seconds));
    const lines = RUNS.map(([name], index) => {
      const seconds = median(figures[index]!.map((one) => one.seconds));
      const megabytes = Math.max(...figures[index]!.map((one) => one.megabytes)).toFixed(0);
      return [name, seconds.toFixed(2), (seconds / whole).toFixed(2), megabytes];
    });
    console.log(
      table(['warm run', `seconds (median of ${ROUNDS})`, 'of one file', 'peak MB'], lines),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [];
}

/** A fast run that wrote less is none: the parts are the one file, with a header each. */
function checkSize(folder: string): void {
  const sizeOf = (...names: string[]) => statSync(join(folder, ...names)).size;
  const whole = sizeOf('out.csv');
  for (const out of readdirSync(folder).filter((name) => name.startsWith('out-'))) {
    const names = readdirSync(join(folder, out));
    const header = bytesOfHeader(join(folder, out, names[0]!));
    const size = names.reduce((sum, name) => sum + sizeOf(out, name), 0) - (PARTS - 1) * header;
    if (size !== whole)
      throw new Error(`${out} has ${size} bytes without further headers, the one file ${whole}`);
  }
}

/** Of the first bytes only: a part of a million rows is longer than a string may be. */
function bytesOfHeader(path: string): number {
  const head = Buffer.alloc(64 * 1024);
  const file = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(file, head)).indexOf('\n') + 1;
  } finally {
    closeSync(file);
  }
}

if (process.argv[1] === import.meta.filename) {
  const [folder, run] = process.argv.slice(2);
  await measure(folder!, run as Run);
}
