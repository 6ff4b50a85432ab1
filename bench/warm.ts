/**
 * The warm run: everything is in the store, nothing is bought; scan, plan and write, beside DuckDB and csv-parse doing the
 * same join in the same run. Each in a process of its own, so that its peak memory is its own.
 *
 *     node bench/warm.ts [rows] [places]
 */
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { systemClock } from '../src/base/clock.ts';
import { columnsOf } from '../src/columns/topic-columns.ts';
import { NATURAL_SLUGS } from '../src/contract/topics.ts';
import { type Job, makeJob } from '../src/job/settings.ts';
import { openRowFile } from '../src/rows/open/open-row-file.ts';
import type { LossSource } from '../src/run/frame/connection-kinds.ts';
import { openStoreAt } from '../src/run/frame/open-store-at.ts';
import { type Effects, openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { run as runJob } from '../src/run/run-job.ts';
import { scanRows } from '../src/run/scan/scan-input.ts';
import type { CellAnswers } from '../src/store/answers/port.ts';
import { writePortfolio } from './oed-portfolio.ts';
import { runApart } from './own-process.ts';
import { peakMegabytes } from './peak-memory.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';

/** Loaded where they are used: DuckDB's library alone takes 150 MB, which are none of Perilbook's. */
const peers = () => import('./warm-peers.ts');

const RATINGS = [
  'Very Low',
  'Relatively Low',
  'Relatively Moderate',
  'Relatively High',
  'Very High',
] as const;
const ROWS = sized(1_000_000, 2_000);
const PLACES = sized(200_000, 400);
const MORE_PLACES = sized(1_000_000, 1_000);

/** Places of a book, and the goals for them: of DuckDB's time, and the most memory. */
interface Shape {
  readonly places: number;
  /** A fifth of the places have a topic without data, or lack one whose call failed. */
  readonly isVaried: boolean;
  readonly goals: Partial<Record<Format, { readonly ratio: number; readonly megabytes: number }>>;
}

const SHAPES: readonly Shape[] = [
  {
    places: PLACES,
    isVaried: false,
    goals: { csv: { ratio: 0.55, megabytes: 300 }, parquet: { ratio: 0.95, megabytes: 400 } },
  },
  {
    places: MORE_PLACES,
    isVaried: false,
    goals: { csv: { ratio: 0.65, megabytes: 360 }, parquet: { ratio: 1.2, megabytes: 450 } },
  },
  {
    places: MORE_PLACES,
    isVaried: true,
    goals: { csv: { ratio: 0.75, megabytes: 400 } },
  },
];
/** A tiny run tries each way once: places in memory, and places with nulls and failures. */
const MEASURED = sized(
  SHAPES,
  SHAPES.filter(({ places, isVaried }) => places === PLACES || isVaried),
);
const ROUNDS = sized(3, 1);
export const SOURCE = 'bench';

type Format = 'csv' | 'parquet';
type Runner = 'perilbook' | 'duckdb' | 'plain';
const RUNS: readonly (readonly [Runner, Format])[] = [
  ['perilbook', 'csv'],
  ['duckdb', 'csv'],
  ['plain', 'csv'],
  ['perilbook', 'parquet'],
  ['duckdb', 'parquet'],
];

export const filesIn = (folder: string, format: Format) => ({
  input: join(folder, `book.${format}`),
  answers: join(folder, `answers.${format}`),
  output: join(folder, `out.${format}`),
});

/** The peers write beside our output, so that both can be compared. */
const peerFiles = (folder: string, peer: Exclude<Runner, 'perilbook'>, format: Format) => ({
  ...filesIn(folder, format),
  output: join(folder, `${peer}.${format}`),
});

export const jobIn = (folder: string, format: Format) => {
  const { input, output } = filesIn(folder, format);
  const settings = { input, output, topics: 'natural', store: join(folder, 'store.db'), budget: 0 };
  return { ...makeJob([settings], { dataFolder: folder, workingFolder: folder }), counts: false };
};

export const storeOf = (file: string) =>
  openStoreAt(file, systemClock, { name: 'bench', isAlive: () => true });

const CELLS_A_WRITE = 1_000;

/** Fills the store and the peers' table with the same answers: a rating, a score of four decimals, a frequency of three.
 * @param isVaried as in `Shape` */
export async function makeAnswers(folder: string, isVaried = false): Promise<number> {
  const job = jobIn(folder, 'csv');
  using scan = await scanRows(await openRowFile(job.input), job);
  const { cells } = scan;
  const store = await storeOf(job.store);
  const source = await store.source(SOURCE);
  let answered: CellAnswers[] = [];
  const stream = createWriteStream(filesIn(folder, 'csv').answers);
  const names = NATURAL_SLUGS.flatMap((slug) => columnsOf(slug).slice(0, 3));
  stream.write(`lat7,lng7,hazard_status,${names.map(({ name }) => name).join()}\n`);
  const now = Date.now();
  for (let number = 0; number < cells.size; number++) {
    const cell = cells.cell(number);
    const other = isVaried && number % 5 === 0 ? number % NATURAL_SLUGS.length : -1;
    const all = NATURAL_SLUGS.map((topic, index) => {
      const mixed = (number * 7919 + index * 104_729) % 1_000_000;
      const counts = columnsOf(topic).slice(3);
      const fields = [
        RATINGS[mixed % 5]!,
        mixed / 1e4,
        (mixed % 977) / 1000,
        ...counts.map(() => number % 9),
      ];
      return { topic, asOf: now, fields: index === other ? fields.map(() => null) : fields };
    });
    const hasFailed = other >= 0 && number % 2 === 0;
    const answers = all.filter((_, index) => !(hasFailed && index === other));
    const failure = { reason: 'failed', note: 'the service failed (500)', at: now } as const;
    const failures = hasFailed ? [{ topic: NATURAL_SLUGS[other]!, ...failure }] : [];
    answered.push({ cell, answers, failures });
    if (answered.length === CELLS_A_WRITE || number === cells.size - 1) {
      await store.putAnswers(source, answered);
      answered = [];
    }
    const told = all.map(({ fields }) => fields.slice(0, 3).join());
    stream.write(`${cell.lat7},${cell.lng7},${hasFailed ? '' : 'ok'},${told.join()}\n`);
  }
  await store.close();
  stream.end();
  await finished(stream);
  return cells.size;
}

/** Runs a job whose answers are all in the store. @param losses the source of its loss rates, which are in the store too */
export async function runWarm(
  job: Job,
  effectsOfRun: Pick<Effects, 'rowThreads'> = {},
  losses: LossSource | null = null,
): Promise<void> {
  const store = await storeOf(job.store);
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = {
    clock: systemClock,
    random: Math.random,
    streams,
    notice: console.error,
    ...effectsOfRun,
  };
  const key = { secret: 'none-is-asked', fingerprint: '', scopes: null };
  const connection = {
    kind: 'service' as const,
    // Nothing may be asked: the budget is 0.
    baseUrl: 'http://127.0.0.1:9',
    source: SOURCE,
    sample: false,
    keys: [key],
    losses,
  };
  using prepared = await prepare(await openContext(job, { connection, store, effects }));
  await runJob(prepared);
  if (prepared.progress.calls > 0) throw new Error('something was asked for');
  await store.close();
}

/** What a run took. */
export interface Measured {
  readonly seconds: number;
  readonly megabytes: number;
}

/** One measurement, in a process of its own. @param compiled as of `runApart` */
export function measureApart(
  runner: Runner,
  format: Format,
  folder: string,
  compiled = join(folder, 'compiled'),
): Measured {
  const args = [import.meta.filename, runner, format, folder];
  return runApart(args, join(compiled, runner, format));
}

/** One measurement, in this process. */
async function measure(runner: Runner, format: Format, folder: string): Promise<void> {
  const begun = performance.now();
  if (runner === 'perilbook') await runWarm(jobIn(folder, format));
  else if (runner === 'duckdb')
    await (await peers()).duckdb(peerFiles(folder, runner, format), format);
  else await (await peers()).plain(peerFiles(folder, runner, format));
  const seconds = (performance.now() - begun) / 1000;
  console.log(JSON.stringify({ seconds, megabytes: peakMegabytes() }));
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[figures.length >> 1]!;

/** Makes the files and measures all, the peers in turn, so that a busy minute of the machine falls on each of them. */
export async function run(rows = ROWS, shapes = MEASURED): Promise<Goal[]> {
  const goals: Goal[] = [];
  for (const shape of shapes) goals.push(...(await measureShape(rows, shape)));
  return goals;
}

async function measureShape(
  rows: number,
  { places, isVaried, goals: wanted }: Shape,
): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-warm-'));
  try {
    const csv = filesIn(folder, 'csv');
    await writePortfolio(csv.input, { rows, places });
    const cells = await makeAnswers(folder, isVaried);
    const parquet = filesIn(folder, 'parquet');
    const { toParquet } = await peers();
    await toParquet(csv.input, parquet.input);
    await toParquet(csv.answers, parquet.answers);
    console.log(
      `${rows} rows, ${(statSync(csv.input).size / 1e6).toFixed(0)} MB, ${cells} cells${isVaried ? ', a fifth with nulls or failures' : ''}, 18 natural topics\n`,
    );
    const figures = RUNS.map(() => [] as Measured[]);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, [runner, format]] of RUNS.entries()) {
        // It takes eight times as long as the others: once will do, for the first shape.
        if (runner === 'plain' && (round > 0 || places !== PLACES)) continue;
        figures[index]!.push(measureApart(runner, format, folder));
      }
    }
    for (const format of ['csv', 'parquet'] as const) await checkSame(folder, format, rows);
    const seconds = figures.map((all) => median(all.map((one) => one.seconds)));
    const goals: Goal[] = [];
    const lines = RUNS.flatMap(([runner, format], index) => {
      if (figures[index]!.length === 0) return [];
      const peer = RUNS.findIndex((other) => other[0] === 'duckdb' && other[1] === format);
      const ratio = seconds[index]! / seconds[peer]!;
      const megabytes = Math.max(...figures[index]!.map((one) => one.megabytes));
      const goal = runner === 'perilbook' ? wanted[format] : undefined;
      if (goal !== undefined) {
        const at = `${format} at ${cells} places${isVaried ? ', varied' : ''}`;
        goals.push({
          what: `${at}, of DuckDB's time`,
          measured: ratio,
          unit: 'ratio',
          atMost: goal.ratio,
        });
        goals.push({
          what: `${at}, peak memory`,
          measured: megabytes,
          unit: 'MB',
          atMost: goal.megabytes,
        });
      }
      const told = [seconds[index]!.toFixed(2), ratio.toFixed(2), megabytes.toFixed(0)];
      return [[`${runner}, ${format}`, ...told]];
    });
    console.log(
      'Both outputs were compared value by value, and the rows of ours with the input.\n',
    );
    console.log(
      table(['warm run', `seconds (median of ${ROUNDS})`, 'of DuckDB', 'peak MB'], lines),
    );
    return goals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A fast run that wrote something else is none. */
async function checkSame(folder: string, format: Format, rows: number): Promise<void> {
  const { compareOutputs } = await peers();
  const { input, output } = filesIn(folder, format);
  const found = await compareOutputs(input, output, peerFiles(folder, 'duckdb', format).output);
  if (found.rows !== rows || found.misplaced > 0 || found.different > 0) {
    throw new Error(`${format}: the outputs differ: ${JSON.stringify(found)}`);
  }
}

if (process.argv[1] === import.meta.filename) {
  const [first, second, third] = process.argv.slice(2);
  if (first === 'perilbook' || first === 'duckdb' || first === 'plain')
    await measure(first, second as Format, third!);
  else {
    const places = second === undefined ? undefined : Number(second);
    const shapes = MEASURED.filter((shape) => places === undefined || shape.places === places);
    await run(Number(first ?? ROWS), shapes);
  }
}
