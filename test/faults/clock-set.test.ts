import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { type Bin, gateBefore, startBin } from '../cli/bin-process.ts';
import { ROOT } from '../cli/command-line.ts';
import { column, openHarness, places } from '../run/harness.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const CELLS = 40;
const PRELOAD = pathToFileURL(join(ROOT, 'test/faults/date-set-by-signal.ts')).href;

/** The bin in a process of its own, whose clock is set while it buys: by the next jump whenever `EVERY` requests have come. */
async function setScene(t: TestContext, jumps: readonly number[], every: number, perMinute = 10_000) {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(100_000, perMinute),
    clock: { start: now, factor: 1, origin: now },
  });
  harness.writeInput(places(CELLS));
  let bin: Bin | null = null;
  const gate = await gateBefore(t, harness.url, (number) => {
    if (number % every === 0) bin?.kill('SIGUSR2');
    return 'answer';
  });
  const lines = [
    ...[
      'input: input.csv',
      'output: output.csv',
      'store: store.db',
      'topics: wildfire',
      'concurrency: 2',
      'budget: 1000',
    ],
    `subscription: {credits_per_month: 100000, credits_per_minute: ${perMinute}}`,
    `service: {base_url: "${gate.url}", api_keys: [{env: THE_KEY}]}`,
  ];
  writeFileSync(join(harness.folder, 'job.yaml'), `${lines.join('\n')}\n`);
  const env = { THE_KEY: harness.key().secret, DATE_JUMPS: jumps.join(','), NODE_OPTIONS: `--import=${PRELOAD}` };
  const run = (...more: string[]) => {
    bin = startBin(t, ['run', 'job.yaml', '--json', ...more], harness.folder, env);
    return bin;
  };
  return { harness, gate, run };
}

describe('the machine’s clock is set in the middle of buying', { concurrency: true, timeout: 300_000 }, () => {
  test('back and forward: the run goes on and pays each place once', async (t) => {
    const jumps = [-MINUTE, MINUTE, -2 * HOUR, 2 * HOUR, -20 * DAY, 60 * DAY, -40 * DAY];
    const { harness, gate, run } = await setScene(t, jumps, 5);
    const { code, stdout, stderr } = await run().ended;
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).credits_spent, CELLS);
    assert.deepEqual([harness.charged(), gate.come], [CELLS, CELLS], 'no request was refused or made twice');
    assert.deepEqual(new Set(column(harness.output(), 'hazard_status')), new Set(['ok']));
  });

  test('back, while the minute is full: one Ctrl-C ends the run', async (t) => {
    const { harness, gate, run } = await setScene(t, [-2 * HOUR], 5, 10);
    const bin = run();
    await gate.reached(10);
    bin.kill('SIGINT');
    const { code, stderr } = await bin.ended;
    assert.equal(code, 130, stderr);
    assert.equal(harness.charged(), 10);
  });
});
