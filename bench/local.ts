/**
 * Places looked up a second in the local data, on two threads, beside the same fields from our own service on loopback: its JSON
 * over HTTP, parsed as a run does; and through a whole run, into a store (with the start of the threads). The goals are 25,000
 * natural places a second into a store, and 2,000 of all 38 topics looked up.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createClient } from '../src/client/client.ts';
import { findVerdict } from '../src/client/verdict.ts';
import { flatten } from '../src/columns/topic-columns.ts';
import { type Call, CREDITS } from '../src/contract/credits.ts';
import { NATURAL_SLUGS, TOPIC_SLUGS, type TopicSlug } from '../src/contract/topics.ts';
import { CITIES } from '../src/geo/cities.ts';
import type { Location } from '../src/geo/coordinates.ts';
import { drawBetween, drawNormal, makeRandom } from '../src/sample/random.ts';
import { type LocalRunRates, localRun } from './local-run.ts';
import type { LookupTask, LookupTime } from './local-worker.ts';
import { makeSampleDatabase, sized } from './size.ts';
import { type Goal, table } from './table.ts';

const THREADS = 2;
const ROUNDS = sized(3, 1);
const CONNECTIONS = 8;

interface Case {
  readonly name: string;
  readonly topics: readonly TopicSlug[];
  readonly counts: boolean;
  readonly bundle: 'standard' | 'enterprise';
  /** Places a second that are wanted, looked up or into a store. */
  readonly goal: { readonly of: 'look-up' | 'store'; readonly atLeast: number } | null;
  readonly places: number;
  /** Places asked through HTTP, which takes longer. */
  readonly asked: number;
}

const CASES: readonly Case[] = [
  {
    name: 'natural',
    topics: NATURAL_SLUGS,
    counts: false,
    bundle: 'standard',
    goal: { of: 'store', atLeast: 25_000 },
    places: sized(100_000, 400),
    asked: sized(1_000, 4),
  },
  {
    name: 'natural with counts',
    topics: NATURAL_SLUGS,
    counts: true,
    bundle: 'standard',
    goal: null,
    places: sized(30_000, 100),
    asked: sized(1_000, 4),
  },
  {
    name: 'all 38 without counts',
    topics: TOPIC_SLUGS,
    counts: false,
    bundle: 'enterprise',
    goal: { of: 'look-up', atLeast: 2_000 },
    places: sized(10_000, 40),
    asked: sized(60, 4),
  },
];

/** Measures both ways in turns, so that a busy machine slows both alike; the median of three rounds. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-local-'));
  try {
    const file = join(folder, 'data.db');
    makeSampleDatabase(file);
    const child = fork(join(import.meta.dirname, 'service-process.ts'), [file]);
    try {
      const [{ url, key }] = (await once(child, 'message')) as [{ url: string; key: string }];
      const rows: (string | number)[][] = [];
      for (const one of CASES) rows.push(await compare(one, file, url, key));
      const head =
        'topics,places/s,into the store,whole run,through HTTP,ratio,goal,MB a thread'.split(',');
      console.log(
        `${THREADS} threads, places around cities and between them, in order\n\n${table(head, rows)}`,
      );
      return CASES.flatMap(({ name, goal }, index) => {
        if (goal === null) return [];
        const [, lookedUp, stored] = rows[index]!;
        const measured = Number(goal.of === 'store' ? stored : lookedUp);
        return [{ what: `${name}, ${goal.of}`, measured, unit: 'places/s', atLeast: goal.atLeast }];
      });
    } finally {
      await ended(child);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  one: Case,
  file: string,
  url: string,
  key: string,
): Promise<(string | number)[]> {
  const places = placesInOrder(one.places);
  const local: number[] = [];
  const http: number[] = [];
  const runs: LocalRunRates[] = [];
  let megabytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { rate, heap } = await lookUp(one, file, places);
    local.push(rate);
    megabytes = Math.max(megabytes, heap / 1e6);
    http.push(await ask(one, url, key, places));
    runs.push(await localRun(one, file, places));
  }
  const ratio = median(local) / median(http);
  const [stored, whole] = [
    median(runs.map((rates) => rates.lookedUp)),
    median(runs.map((rates) => rates.whole)),
  ];
  const figures = [median(local), stored, whole, median(http)].map(Math.round);
  return [one.name, ...figures, ratio.toFixed(0), one.goal?.atLeast ?? '-', Math.round(megabytes)];
}

/** Looks up the places on all threads; each has a part of them and a data file of its own. */
async function lookUp({ topics, counts }: Case, file: string, places: readonly Location[]) {
  const share = Math.ceil(places.length / THREADS);
  const workers = Array.from({ length: THREADS }, (_, index) => {
    const task: LookupTask = {
      file,
      topics,
      counts,
      places: places.slice(index * share, (index + 1) * share),
    };
    return new Worker(new URL('./local-worker.ts', import.meta.url), { workerData: task });
  });
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const begun = performance.now();
  const times = await Promise.all(
    workers.map(async (worker) => {
      worker.postMessage('go');
      const [time] = (await once(worker, 'message')) as [LookupTime];
      return time;
    }),
  );
  const rate = places.length / ((performance.now() - begun) / 1_000);
  await Promise.all(workers.map((worker) => worker.terminate()));
  if (times.some(({ fields }) => fields === 0)) throw new Error('Nothing was found');
  return { rate, heap: Math.max(...times.map(({ heap }) => heap)) };
}

/** Places a second through HTTP, of some that are evenly spread over all. */
async function ask(
  { bundle, asked }: Case,
  url: string,
  key: string,
  places: readonly Location[],
): Promise<number> {
  const call: Call = { kind: bundle };
  const every = Math.floor(places.length / asked);
  const left = places.filter((_, index) => index % every === 0).slice(0, asked);
  const count = left.length;
  const client = createClient({ baseUrl: url, sockets: CONNECTIONS, userAgent: 'bench' });
  const begun = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let place = left.shift(); place !== undefined; place = left.shift()) {
        const exchange = await client.send({ call, location: place, key });
        findVerdict(exchange, { call, price: CREDITS[bundle] }, place, 0, (topic, result) =>
          flatten(topic, result, place),
        );
      }
    }),
  );
  const rate = count / ((performance.now() - begun) / 1_000);
  await client.close();
  return rate;
}

/** Four of five places around cities, the more the larger; in rows of a tenth of a degree, from west to east. */
function placesInOrder(count: number): Location[] {
  const random = makeRandom(1, 'local');
  const people = CITIES.reduce((sum, city) => sum + city.people, 0);
  const places = Array.from({ length: count }, (_, index) => {
    if (index % 5 === 0)
      return { lat: drawBetween(random, 31, 48), lng: drawBetween(random, -120, -82) };
    let rest = random() * people;
    const city = CITIES.find((one) => {
      rest -= one.people;
      return rest < 0;
    })!;
    return { lat: city.lat + 0.15 * drawNormal(random), lng: city.lng + 0.15 * drawNormal(random) };
  });
  const rowOf = ({ lat }: Location) => Math.floor(lat * 10);
  return places.sort((a, b) => rowOf(a) - rowOf(b) || a.lng - b.lng);
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
