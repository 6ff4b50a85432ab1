import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { startBin } from '../cli/bin-process.ts';
import { openHarness } from '../run/harness.ts';

/** What the service and the disk of a small machine can bear, and still a limit that is in force. */
const CREDITS_PER_MINUTE = 6_000;
const MEBIBYTE = 1024 * 1024;

export interface HourTrial {
  readonly calls: number;
  /** Share of the limit that was used. */
  readonly used: number;
  /** Mebibytes of the run, in the second and in the last fifth of the time. */
  readonly early: number;
  readonly late: number;
  readonly wrong: readonly string[];
}

/** Buys at the full rate of a subscription for so many minutes, in a process of its own, and watches its memory. */
export async function hourTrial(t: TestContext, minutes: number): Promise<HourTrial> {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000_000, CREDITS_PER_MINUTE),
    clock: { start: now, factor: 1, origin: now },
  });
  const cells = Math.ceil(CREDITS_PER_MINUTE * minutes * 1.2) + CREDITS_PER_MINUTE;
  await writeOutput(join(harness.folder, 'input.csv'), cells);
  const { secret } = harness.key();
  const job = {
    ...{
      input: 'input.csv',
      output: 'output.csv',
      store: 'hour.db',
      topics: 'wildfire',
      concurrency: 32,
      budget: cells,
    },
    max_minutes: minutes,
    subscription: { credits_per_month: 100_000_000, credits_per_minute: CREDITS_PER_MINUTE },
    service: { base_url: harness.url, api_keys: [{ env: 'THE_KEY' }] },
  };
  writeFileSync(join(harness.folder, 'job.yaml'), JSON.stringify(job));
  const memory = join(harness.folder, 'memory');
  const bin = startBin(t, ['run', 'job.yaml', '--quiet', '--json'], harness.folder, {
    THE_KEY: secret,
    WATCH_MEMORY: memory,
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'watch-memory.ts')}`,
  });
  const { code, stdout, stderr } = await bin.ended;
  const wrong: string[] = [];
  if (code !== 4) wrong.push(`ended with ${code}: ${stderr.slice(0, 500)}`);
  const spent = stdout === '' ? 0 : (JSON.parse(stdout).credits_spent as number);
  if (spent !== harness.charged()) wrong.push(`${harness.charged()} charged, ${spent} told`);
  const samples = readFileSync(memory, 'utf8').trimEnd().split('\n').map(Number);
  // The beginning reads the book and warms up; the end, after the time is over, writes the output.
  const buying = samples.slice(0, minutes * 60);
  const fifth = Math.floor(buying.length / 5);
  const [early, late] = [median(buying.slice(fifth, 2 * fifth)), median(buying.slice(-fifth))].map((bytes) =>
    Math.round(bytes / MEBIBYTE),
  ) as [number, number];
  if (late > early * 1.25 + 32) wrong.push(`memory grew from ${early} to ${late} MiB`);
  const used = spent / (CREDITS_PER_MINUTE * minutes);
  return { calls: spent, used, early, late, wrong };
}

/** Locations 11 m apart, in the areas of the small setup: so many that they are not kept as text. */
async function writeOutput(file: string, cells: number): Promise<void> {
  const stream = createWriteStream(file);
  stream.write('id,lat,lng\n');
  for (let from = 0; from < cells; from += 10_000) {
    const rows = Array.from({ length: Math.min(10_000, cells - from) }, (_, index) => {
      const number = from + index;
      return `${number},${(40.01 + 0.0001 * (number % 4_800)).toFixed(4)},${(-99.99 + 0.0001 * Math.floor(number / 4_800)).toFixed(4)}\n`;
    });
    if (!stream.write(rows.join(''))) await new Promise<void>((resolve) => stream.once('drain', () => resolve()));
  }
  await new Promise<void>((resolve) => stream.end(() => resolve()));
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
