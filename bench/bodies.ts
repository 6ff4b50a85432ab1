/**
 * Enterprise answers of 6 MB handled a second, from the request to the durable answer, and the longest time for which the
 * event loop stood still: bodies are parsed on it. Answers come over loopback from our own service (which needs a core of its
 * own to make them) and from a bare server that sends one constant body. BENCH_BODIES is the number of calls of a measurement.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PassThrough } from 'node:stream';
import { systemClock } from '../src/base/clock.ts';
import { createClient } from '../src/client/client.ts';
import { PROXIMITY_SLUGS } from '../src/contract/topics.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import { CITIES } from '../src/geo/cities.ts';
import type { Location } from '../src/geo/coordinates.ts';
import { makeJob } from '../src/job/settings.ts';
import { newProgress } from '../src/run/frame/progress.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { run as runJob } from '../src/run/run-job.ts';
import { drawBetween, makeRandom } from '../src/sample/random.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import { answerOf, ordered, type Served } from './service-orders.ts';
import { makeSampleDatabase, sized } from './size.ts';
import { type Goal, table } from './table.ts';

/** The cities around whose centre sites lie so densely that an enterprise bundle weighs 5 to 7 MB. */
const DENSE_CENTRES = CITIES.filter(({ name }) =>
  ['Houston', 'Los Angeles', 'New York', 'Chicago'].includes(name),
);
/** Of each topic around each of them. */
const DENSE_SITES = sized(850, 30);

const CALLS = Number(process.env.BENCH_BODIES ?? sized(100, 2));
const SOCKETS = 8;
/** Far beyond what can be reached: the throttle is not measured here. */
const PLENTY = { credits_per_month: 1e12, credits_per_minute: 1e9 };
const ROUNDS = sized(2, 1);
/** From a server with constant bodies. The largest subscription that is sold buys one in two seconds. */
const GOAL = { answersASecond: 15 } as const;

interface Way {
  readonly name: string;
  readonly details?: 'keep';
}

const WAYS: readonly Way[] = [
  { name: 'as runs do' },
  { name: 'with details kept', details: 'keep' },
];

/** Measures every way on both servers, in turns, and prints the better of two rounds. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-bodies-'));
  try {
    makeSampleDatabase(join(folder, 'data.db'));
    addDenseSites(join(folder, 'data.db'));
    const child = fork(join(import.meta.dirname, 'service-process.ts'), [join(folder, 'data.db')]);
    try {
      const { url, bareUrl, key } = await answerOf<Served>(child);
      const [houston] = DENSE_CENTRES;
      const path = `/v1/bundle/enterprise?lat=${houston!.lat}&lng=${houston!.lng}`;
      const text = await (await fetch(url + path, { headers: { 'x-api-key': key } })).text();
      await ordered(child, { body: { name: 'enterprise', text } });
      console.log(
        `${CALLS} calls each, ${SOCKETS} sockets; Houston's bundle is ${(text.length / 1e6).toFixed(1)} MB`,
      );
      reading(text);
      const goals: Goal[] = [];
      for (const [server, baseUrl, centres] of [
        ['our service', url, DENSE_CENTRES],
        ['constant body', bareUrl, [houston!]],
      ] as const) {
        const places = placesAround(centres, CALLS);
        const rows: (string | number)[][] = [
          ['received and thrown away', ...(await received(baseUrl, key, places))],
        ];
        for (const way of WAYS) {
          const rounds: number[][] = [];
          for (let round = 0; round < ROUNDS; round++)
            rounds.push(await handled(folder, way, baseUrl, key, places));
          const best = rounds.toSorted((a, b) => b[0]! - a[0]!)[0]!;
          rows.push([way.name, ...best]);
          if (server === 'constant body' && way === WAYS[0]) {
            const [rate] = best as [number];
            goals.push({
              what: 'enterprise answers, durable',
              measured: rate,
              unit: 'answers/s',
              atLeast: GOAL.answersASecond,
            });
          }
        }
        const head = [
          'answers a second',
          'CPU ms each',
          'loop kept, CPU ms at most',
          'by the clock',
        ];
        console.log(
          `\n${table(
            [server, ...head],
            rows.map(([name, ...figures]) => [
              name!,
              ...figures.map((figure) => Number(figure).toFixed(1)),
            ]),
          )}`,
        );
      }
      return goals;
    } finally {
      child.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replaces the sites of the sample by those of four dense cities. */
function addDenseSites(file: string): void {
  using database = openDataDatabase(file);
  for (const topic of PROXIMITY_SLUGS) {
    const random = makeRandom(1, topic);
    const records = Array.from({ length: DENSE_SITES * DENSE_CENTRES.length }, (_, index) => {
      const { lat, lng, state } = DENSE_CENTRES[index % DENSE_CENTRES.length]!;
      // Within 5 km, and as many properties as an agency publishes.
      const coordinates = [
        lng + drawBetween(random, -0.025, 0.025),
        lat + drawBetween(random, -0.025, 0.025),
      ];
      const columns = Array.from({ length: 14 }, (__, column) => [
        `Column_${column}`,
        `Value ${index} of 900`,
      ]);
      const properties = {
        Name: `Sample site ${index}`,
        State: state,
        ...Object.fromEntries(columns),
      };
      return { geometry: { type: 'Point' as const, coordinates }, properties };
    });
    const info = {
      name: `sites:${topic}` as const,
      source: 'benchmark',
      vintage: '',
      licence: '',
      sample: true,
    };
    importDataset(database, { kind: 'sites', topic, info, records }, systemClock);
  }
}

/** What one body costs its reader. */
function reading(text: string): void {
  const body = Buffer.from(text);
  const begun = performance.now();
  for (let time = 0; time < 10; time++) JSON.parse(body.toString());
  console.log(`JSON.parse alone takes ${((performance.now() - begun) / 10).toFixed(0)} ms`);
}

/** One job with one enterprise call a place; the figures of the whole run, its store and its output included. */
async function handled(
  folder: string,
  { details }: Way,
  baseUrl: string,
  secret: string,
  places: readonly Location[],
): Promise<number[]> {
  const work = mkdtempSync(join(folder, 'run-'));
  const lines = places.map(({ lat, lng }, index) => `${index + 1},${lat},${lng}`);
  writeFileSync(join(work, 'book.csv'), `id,lat,lng\n${lines.join('\n')}\n`);
  const store = openSqliteStore(join(work, 'store.db'), systemClock, {
    name: 'bench',
    isAlive: () => true,
  });
  const settings = {
    input: 'book.csv',
    topics: 'all',
    service: { base_url: baseUrl },
    subscription: PLENTY,
    concurrency: SOCKETS,
  } as const;
  const job = makeJob([{ ...settings, ...(details ? { details } : {}) }], {
    dataFolder: work,
    workingFolder: work,
  });
  const effects = {
    clock: systemClock,
    random: Math.random,
    streams: { stdin: new PassThrough(), stdout: new PassThrough() },
    notice: (message: string) => console.log(`Notice: ${message}`),
  };
  try {
    const key = { secret, fingerprint: 'bench', scopes: null };
    const connection = {
      kind: 'service' as const,
      baseUrl,
      source: baseUrl,
      sample: true,
      keys: [key],
    };
    const progress = newProgress();
    using prepared = await prepare(
      await openContext(job, { connection, store, effects, progress }),
    );
    const figures = await measured(places.length, async () => {
      const { state } = await runJob(prepared);
      if (state !== 'complete' || progress.calls !== places.length)
        throw new Error(`${state}: ${progress.calls} calls`);
    });
    return figures;
  } finally {
    await store.close();
    rmSync(work, { recursive: true, force: true });
  }
}

/** What the server and the wire allow: bodies are received whole, and not looked at. */
async function received(
  baseUrl: string,
  key: string,
  places: readonly Location[],
): Promise<number[]> {
  const client = createClient({ baseUrl, sockets: SOCKETS, userAgent: 'bench' });
  const left = [...places];
  try {
    return await measured(places.length, async () => {
      const worker = async () => {
        for (let location = left.pop(); location; location = left.pop()) {
          await client.send({ call: { kind: 'enterprise' }, location, key });
        }
      };
      await Promise.all(Array.from({ length: SOCKETS }, worker));
    });
  } finally {
    await client.close();
  }
}

/**
 * How often a second; the CPU time that each took in all threads; and for how long the loop was kept at most, once by the
 * clock and once by its thread's own CPU time: where other programs want the cores too, the clock also counts the time for
 * which the thread was ready and did not get one.
 */
async function measured(times: number, work: () => Promise<void>): Promise<number[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let [busiest, before] = [0, threadMs()];
  const watch = setInterval(() => {
    const now = threadMs();
    [busiest, before] = [Math.max(busiest, now - before), now];
  }, 1);
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work().finally(() => clearInterval(watch));
  const seconds = (performance.now() - begun) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  delay.disable();
  return [times / seconds, (user + system) / 1_000 / times, busiest, delay.max / 1e6];
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Places next to each other in the densest parts: no two share a cell, and every bundle weighs 5 to 7 MB. */
function placesAround(centres: readonly Location[], count: number): Location[] {
  return Array.from({ length: count }, (_, index) => {
    const centre = centres[index % centres.length]!;
    const step = Math.floor(index / centres.length);
    return {
      lat: round4(centre.lat + 1e-4 * (step % 12)),
      lng: round4(centre.lng + 1e-4 * Math.floor(step / 12)),
    };
  });
}

const round4 = (degrees: number): number => Math.round(degrees * 1e4) / 1e4;
