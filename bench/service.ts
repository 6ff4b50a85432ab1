/**
 * The service over loopback beside a bare Fastify route that sends a constant body of the same size, in turns within one
 * run, so that a busy machine slows both alike. BENCH_SECONDS is the length of a measurement (4), BENCH_MEMORY_CALLS the
 * number of enterprise calls over which memory is watched (1000; the target is stated for 10 000; 0 leaves it out), BENCH_CASE a part of the
 * name of the only cases to be compared.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import type { Polygon } from 'geojson';
import { systemClock } from '../src/base/clock.ts';
import { createAreaFinder } from '../src/data/tables/area-finder.ts';
import { openDataDatabase } from '../src/data/tables/data-database.ts';
import { importDataset } from '../src/data/tables/import-dataset.ts';
import type { AreaRecord } from '../src/data/tables/records.ts';
import type { Location } from '../src/geo/coordinates.ts';
import { makeRandom } from '../src/sample/random.ts';
import { FLAGS } from './own-process.ts';
import { answerOf, ordered, type Served } from './service-orders.ts';
import { makeSampleDatabase, sized } from './size.ts';
import { type Goal, table } from './table.ts';

const HOUSTON = 'lat=29.7604&lng=-95.3698';
/** The goal is a share of the bare route's rate. */
const CASES: readonly (readonly [
  name: string,
  path: string,
  connections: number,
  goal?: number,
])[] = [
  ['single natural', `/v1/riverineFlood/risk?${HOUSTON}`, 20],
  ['the same, 64 at once', `/v1/riverineFlood/risk?${HOUSTON}`, 64, 0.5],
  ['single proximity', `/v1/ustFacility/risk?${HOUSTON}`, 20],
  ['standard', `/v1/bundle/standard?${HOUSTON}`, 20, 0.25],
  ['enterprise', `/v1/bundle/enterprise?${HOUSTON}`, 4, 0.5],
];
const ROUNDS = sized(3, 1);
/** Degrees: 85,000 squares of this size cover the lower states. */
const TRACT_SIZE = sized(1 / 7.65, 2);
const LOOKUPS = sized(200_000, 1_000);

const seconds = Number(process.env.BENCH_SECONDS ?? sized(4, 0.3));
const memoryCalls = Number(process.env.BENCH_MEMORY_CALLS ?? sized(1_000, 4));
const only = process.env.BENCH_CASE ?? sized('', 'single natural');

/** Measures the service and prints what it finds. */
export async function run(): Promise<Goal[]> {
  const folder = mkdtempSync(join(tmpdir(), 'perilbook-bench-'));
  try {
    const file = join(folder, 'data.db');
    console.log(`sample database made in ${makeSampleDatabase(file).toFixed(1)} s\n`);
    const goals: Goal[] = [];
    const child = fork(join(import.meta.dirname, 'service-process.ts'), [file], {
      execArgv: FLAGS,
    });
    try {
      const served = await answerOf<Served>(child);
      const rows: string[][] = [];
      for (const [name, path, connections, goal] of CASES.filter(([name]) => name.includes(only))) {
        const { row, ratio } = await compare(child, name, path, connections, served);
        rows.push(row);
        if (goal !== undefined)
          goals.push({ what: name, measured: ratio, unit: 'of a bare route', atLeast: goal });
      }
      console.log(table(['case', 'MB', 'ours/s', 'MB/s', 'bare/s', 'ratio', 'failed'], rows));
      if (memoryCalls > 0) await watchMemory(child, memoryCalls, served);
    } finally {
      child.kill();
    }
    measureLookups();
    return goals;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(
  child: ChildProcess,
  name: string,
  path: string,
  connections: number,
  { url, bareUrl, key }: Served,
): Promise<{ readonly row: string[]; readonly ratio: number }> {
  const response = await fetch(url + path, { headers: { 'x-api-key': key } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text}`);
  const constant = String(text.length);
  await ordered(child, { body: { name: constant, text } });
  const load = (target: string) =>
    autocannon({ url: target, connections, duration: seconds, headers: { 'x-api-key': key } });
  const rates: [ours: number[], bare: number[]] = [[], []];
  let failed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const ours = await load(url + path);
    failed += ours.non2xx + ours.errors;
    rates[0].push(ours.requests.average);
    rates[1].push((await load(`${bareUrl}/${constant}`)).requests.average);
  }
  const [ours, bare] = rates.map(median) as [number, number];
  const megabytes = Buffer.byteLength(text) / 1e6;
  const figures = [
    megabytes.toFixed(3),
    ours.toFixed(0),
    (ours * megabytes).toFixed(0),
    bare.toFixed(0),
  ];
  const ratio = ours / bare;
  return { row: [name, ...figures, ratio.toFixed(2), String(failed)], ratio };
}

/** The process's memory while it answers so many enterprise calls. */
async function watchMemory(
  child: ChildProcess,
  calls: number,
  { url, key }: Served,
): Promise<void> {
  const parts = sized(10, 1);
  const rss: number[] = [];
  for (let part = 0; part < parts; part++) {
    await autocannon({
      url: `${url}/v1/bundle/enterprise?${HOUSTON}`,
      connections: 4,
      amount: Math.ceil(calls / parts),
      headers: { 'x-api-key': key },
    });
    rss.push((await ordered<{ rss: number }>(child, { memory: true })).rss);
  }
  console.log(
    `\nmemory over ${calls} enterprise calls, MB: ${rss.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`,
  );
}

/** Areas found a second: squares of a seventh of a degree with 64 corners over the lower states, as many as tracts. */
function measureLookups(): void {
  const database = openDataDatabase(':memory:');
  const size = TRACT_SIZE;
  const tracts: AreaRecord[] = [];
  for (let lat = 25; lat < 49; lat += size) {
    for (let lng = -124; lng < -66; lng += size) {
      const geoid = `01${String(tracts.length).padStart(9, '0')}`;
      tracts.push({
        geoid,
        level: 'tract',
        name: geoid,
        state: 'AL',
        geometry: squareOf(lng, lat, size, 16),
      });
    }
  }
  const info = { name: 'areas', source: 'bench', vintage: '', licence: '', sample: true } as const;
  importDataset(database, { kind: 'areas', level: 'tract', info, records: tracts }, systemClock);
  const find = createAreaFinder(database);
  const random = makeRandom(1, 'areas');
  const places = (
    count: number,
    [south, north, west, east]: readonly [number, number, number, number],
  ): Location[] =>
    Array.from({ length: count }, () => ({
      lat: south + (north - south) * random(),
      lng: west + (east - west) * random(),
    }));
  for (const [name, box] of [
    ['the lower states', [25, 49, -124, -66]],
    ['one city', [29.5, 30, -95.7, -95]],
  ] as const) {
    const asked = places(LOOKUPS, box);
    for (const place of asked.slice(0, LOOKUPS / 4)) find(place);
    const start = performance.now();
    let found = 0;
    for (const place of asked) if (find(place) !== null) found += 1;
    const rate = asked.length / ((performance.now() - start) / 1000);
    console.log(
      `point in tract, ${tracts.length} tracts, ${name}: ${Math.round(rate)} lookups/s (${found} found)`,
    );
  }
  database.close();
}

function squareOf(lng: number, lat: number, size: number, steps: number): Polygon {
  const corners: [number, number][] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
    [0, 0],
  ];
  const ring = corners.slice(1).flatMap(([x, y], side) => {
    const [fromX, fromY] = corners[side]!;
    return Array.from({ length: steps }, (_, step) => [
      lng + size * (fromX + ((x - fromX) * step) / steps),
      lat + size * (fromY + ((y - fromY) * step) / steps),
    ]);
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0]!]] };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
