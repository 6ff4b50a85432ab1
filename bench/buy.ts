/**
 * Processor time of a bought single call, on both sides together: a whole run with its store and its output in this process, our
 * service in another one, and no minute that limits. Beside it, in the same run, undici against a Fastify route that sends a
 * constant body of the same size. BENCH_CALLS is the number of calls of a measurement.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { Pool } from 'undici';
import { systemClock } from '../src/base/clock.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { makeJob } from '../src/job/settings.ts';
import { newProgress } from '../src/run/frame/progress.ts';
import { openContext } from '../src/run/frame/run-context.ts';
import { prepare } from '../src/run/prepare.ts';
import { run as runJob } from '../src/run/run-job.ts';
import { addSample } from '../src/sample/add-sample.ts';
import { openSqliteStore } from '../src/store/sqlite-store.ts';
import { answerOf, ordered, type Served } from './service-orders.ts';
import { sized } from './size.ts';
import { type Goal, table } from './table.ts';
import { type Part, timeByPart } from './time-by-part.ts';

const CALLS = Number(process.env.BENCH_CALLS ?? sized(4_000, 20));
const SOCKETS = [8, 32];
/** Processor time of a call, both sides together: milliseconds. */
const GOAL = 1.7;
/** Far beyond what can be reached. */
const PLENTY = { credits_per_month: 1e12, credits_per_minute: 1e9 };
const TOPIC = 'drought';

const CLIENT_PARTS: readonly Part[] = [
  ['store', /\/src\/(store|sql)\//],
  ['throttle', /\/bottleneck\/|\/src\/client\/(throttle|minute-credits)/],
  ['reading answers', /\/src\/client\/(envelope|verdict|content|answer|redact)/],
  ['HTTP', /\/undici\/|\/src\/client\//],
  ['buying', /\/src\/run\/buy\//],
];
const SERVICE_PARTS: readonly Part[] = [
  ['accounts', /\/src\/service\/accounts\//],
  ['answers', /\/src\/(data|geo)\/|answer-call/],
  ['HTTP', /\/fastify\/|node:_http|node:net|\/src\/service\/http\//],
];

export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-buy-'));
  try {
    makeData(join(folder, 'data.db'));
    const service = fork(join(import.meta.dirname, 'service-process.ts'), [
      join(folder, 'data.db'),
    ]);
    try {
      return await measure(folder, service, await answerOf<Served>(service));
    } finally {
      service.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sample data of one topic. */
function makeData(file: string): void {
  using database = openDataDatabase(file);
  addSample(database, [TOPIC], systemClock);
}

async function measure(folder: string, service: ChildProcess, served: Served): Promise<Goal[]> {
  const { url, key } = served;
  const single = await fetch(`${url}/v1/${TOPIC}/risk?lat=40.1&lng=-99.9`, {
    headers: { 'x-api-key': key },
  });
  await ordered(service, { body: { name: 'single', text: await single.text() } });
  // The first calls compile.
  await buy(folder, served, 8);
  const rows: string[][] = [];
  const goals: Goal[] = [];
  for (const sockets of SOCKETS) {
    const ours = await costOf(service, () => buy(folder, served, sockets));
    const bare = await costOf(service, () => requestBare(served, sockets));
    const [both, ofBare] = [ours.client + ours.service, bare.client + bare.service];
    const figures = [ours.client, ours.service, both, bare.client, bare.service, ofBare].map((ms) =>
      ms.toFixed(2),
    );
    rows.push([`${sockets} at once`, ...figures, (both / ofBare).toFixed(1)]);
    goals.push({
      what: `a single, ${sockets} at once`,
      measured: both,
      unit: 'ms of processor',
      atMost: GOAL,
    });
  }
  const head = ['run', 'service', 'both', 'undici', 'bare route', 'both', 'ratio'];
  console.log(`${CALLS} singles; milliseconds of processor time a call\n`);
  console.log(table(['', ...head], rows));
  const client = await timeByPart(CLIENT_PARTS, async () => {
    await ordered(service, { profile: SERVICE_PARTS.map(([name, { source }]) => [name, source]) });
    await buy(folder, served, SOCKETS[0]!);
  });
  const { microseconds } = await ordered<{ microseconds: [string, number][] }>(service, {
    profile: null,
  });
  console.log(
    `\nWhere it goes, ${SOCKETS[0]} at once, the profiler and waiting for the disk included: ms a call\n`,
  );
  const sides = [
    ['run', client],
    ['service', new Map(microseconds)],
  ] as const;
  console.log(
    table(
      ['part', 'ms'],
      sides.flatMap(([side, parts]) =>
        [...parts]
          .sort((a, b) => b[1] - a[1])
          .map(([part, us]) => [`${side}: ${part}`, (us / 1e3 / CALLS).toFixed(2)]),
      ),
    ),
  );
  return goals;
}

/** What some work costs both processes for each call, in milliseconds. */
async function costOf(
  service: ChildProcess,
  work: () => Promise<void>,
): Promise<{ client: number; service: number }> {
  const begun = await ordered<{ cpu: number }>(service, { cpu: true });
  const own = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(own);
  const ended = await ordered<{ cpu: number }>(service, { cpu: true });
  return { client: (user + system) / 1e3 / CALLS, service: (ended.cpu - begun.cpu) / 1e3 / CALLS };
}

/** A run over as many places as there are calls, into a store of its own. */
async function buy(folder: string, { url, key: secret }: Served, sockets: number): Promise<void> {
  const work = mkdtempSync(join(folder, 'run-'));
  const lines = Array.from(
    { length: CALLS },
    (_, at) => `${at},${35 + (at % 100) / 100},${-100 + Math.floor(at / 100) / 100}`,
  );
  writeFileSync(join(work, 'places.csv'), `id,lat,lng\n${lines.join('\n')}\n`);
  const settings = {
    input: 'places.csv',
    topics: [TOPIC],
    subscription: PLENTY,
    concurrency: sockets,
  };
  const job = makeJob([settings], { dataFolder: work, workingFolder: work });
  const effects = {
    clock: systemClock,
    random: Math.random,
    streams: { stdin: new PassThrough(), stdout: new PassThrough() },
    notice: (message: string) => console.log(`Notice: ${message}`),
  };
  const key = { secret, fingerprint: 'bench', scopes: null };
  const connection = {
    kind: 'service' as const,
    baseUrl: url,
    source: 'bench',
    sample: false,
    keys: [key],
  };
  await using store = openSqliteStore(join(work, 'store.db'), systemClock, {
    name: 'bench',
    isAlive: () => true,
  });
  const progress = newProgress();
  using prepared = await prepare(await openContext(job, { connection, store, effects, progress }));
  const { state } = await runJob(prepared);
  if (state !== 'complete' || progress.calls !== CALLS)
    throw new Error(`${state}: ${progress.calls} calls`);
}

async function requestBare({ bareUrl }: Served, sockets: number): Promise<void> {
  const pool = new Pool(bareUrl, { connections: sockets });
  let left = CALLS;
  const worker = async () => {
    while (left-- > 0) await (await pool.request({ path: '/single', method: 'GET' })).body.json();
  };
  await Promise.all(Array.from({ length: sockets }, worker));
  await pool.close();
}
