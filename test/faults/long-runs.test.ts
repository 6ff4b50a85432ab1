import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { startBin } from '../cli/bin-process.ts';
import { openHarness } from '../run/harness.ts';
import { SOAK } from '../tier.ts';

const MINUTES = 60;
/** What the service and the disk of a small machine can bear, and still a limit that is in force. */
const CREDITS_PER_MINUTE = 6_000;
const MEBIBYTE = 1024 * 1024;

test('an hour at the full rate of a subscription does not grow in memory', {
  ...SOAK,
  timeout: 7_200_000,
}, async (t) => {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000_000, CREDITS_PER_MINUTE),
    clock: { start: now, factor: 1, origin: now },
  });
  const cells = Math.ceil(CREDITS_PER_MINUTE * MINUTES * 1.2) + CREDITS_PER_MINUTE;
  writeFileSync(join(harness.folder, 'input.csv'), manyLocations(cells));
  const { secret } = harness.key();
  const job = {
    ...{ input: 'input.csv', output: 'output.csv', store: 'hour.db', topics: 'wildfire' },
    ...{ concurrency: 32, budget: cells, max_minutes: MINUTES },
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
  assert.equal(code, 4, stderr.slice(0, 500));
  const spent = JSON.parse(stdout).credits_spent as number;
  assert.equal(spent, harness.charged());
  const samples = readFileSync(memory, 'utf8').trimEnd().split('\n').map(Number);
  // The beginning reads the book and warms up; the end, after the time is over, writes the output.
  const buying = samples.slice(0, MINUTES * 60);
  const fifth = Math.floor(buying.length / 5);
  const [early, late] = [median(buying.slice(fifth, 2 * fifth)), median(buying.slice(-fifth))];
  const used = Math.round((spent / (CREDITS_PER_MINUTE * MINUTES)) * 100);
  const figures = `${spent} calls, ${used} % of the limit: ${early} MiB early, ${late} MiB late`;
  t.diagnostic(figures);
  assert.ok(late <= early * 1.25 + 32, figures);
});

/** Locations 11 m apart, in the areas of the small setup: so many that they are not kept as text. */
function manyLocations(cells: number): string {
  const lines = Array.from({ length: cells }, (_, number) => {
    const [lat, lng] = [
      40.01 + 0.0001 * (number % 4_800),
      -99.99 + 0.0001 * Math.floor(number / 4_800),
    ];
    return `${number},${lat.toFixed(4)},${lng.toFixed(4)}\n`;
  });
  return `id,lat,lng\n${lines.join('')}`;
}

/** Of bytes, in whole mebibytes. */
function median(bytes: readonly number[]): number {
  return Math.round(
    (bytes.toSorted((a, b) => a - b)[Math.floor(bytes.length / 2)] ?? 0) / MEBIBYTE,
  );
}
