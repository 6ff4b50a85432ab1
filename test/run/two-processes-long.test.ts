import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { openHarness, places } from './harness.ts';
import type { ChildTask } from './run-child.ts';

const run = promisify(execFile);
const CHILD = join(import.meta.dirname, 'run-child.ts');

interface ChildEnd {
  readonly state: string;
  readonly slowedDown: number;
  readonly calls: number;
  readonly summary: { readonly credits_spent: number; readonly status: { readonly ok: number } };
}

test('two processes, one store, one key, overlapping cells: nothing is bought twice, the service never answers 429', async (t) => {
  const [creditsPerMonth, creditsPerMinute] = [100_000, 200];
  const start = Date.parse('2026-03-15T12:00:00Z');
  const origin = Date.now();
  const factor = 40;
  const harness = await openHarness(t, {
    subscription: customSubscription(creditsPerMonth, creditsPerMinute),
    clock: { start, factor, origin },
  });
  const all = places(170);
  const book = (from: number, to: number) =>
    `lat,lng\n${all
      .slice(from, to)
      .map(([lat, lng]) => `${lat},${lng}\n`)
      .join('')}`;
  writeFileSync(join(harness.folder, 'a.csv'), book(0, 120));
  writeFileSync(join(harness.folder, 'b.csv'), book(50, 170));
  const task: Omit<ChildTask, 'input' | 'output' | 'topics'> = {
    folder: harness.folder,
    baseUrl: harness.url,
    secret: harness.key().secret,
    creditsPerMonth,
    creditsPerMinute,
    clock: { start, factor, origin },
  };
  const child = async (name: string, topics: string[]): Promise<ChildEnd> => {
    const words = JSON.stringify({ ...task, input: `${name}.csv`, output: `${name}.out.csv`, topics });
    const { stdout } = await run(process.execPath, [CHILD, words], { timeout: 300_000 });
    return JSON.parse(stdout) as ChildEnd;
  };
  const [a, b] = await Promise.all([child('a', ['wildfire', 'hail']), child('b', ['hail', 'tornado'])]);
  assert.deepEqual([a.state, b.state], ['complete', 'complete']);
  assert.deepEqual([a.summary.status.ok, b.summary.status.ok], [120, 120]);
  // wildfire at 120 cells, tornado at 120, hail at all 170 once, though both asked for it at 70 of them.
  assert.equal(harness.charged(), 120 + 120 + 170);
  assert.equal(a.summary.credits_spent + b.summary.credits_spent, 410);
  assert.deepEqual(await harness.ledger(), { charged: 410, unknown: 0, open: 0 });
  assert.deepEqual([a.slowedDown, b.slowedDown], [0, 0]);
  assert.ok(harness.clock.now() - start > 60_000, 'the minute limit was in force');
});
