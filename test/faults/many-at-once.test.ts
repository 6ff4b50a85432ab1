import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { gateBefore, startBin } from '../cli/bin-process.ts';
import { column, openHarness, places } from '../run/harness.ts';
import { manyTrial } from './many-trial.ts';

const timeout = 300_000;

test('four processes, one new store, one key, books that overlap: nothing twice, no limit crossed', {
  timeout,
}, async (t) => {
  const { needed, charged, shares, longestWait, wrong } = await manyTrial(t, 1, {
    quota: 2,
    creditsPerMinute: 600,
    cells: 300,
  });
  t.diagnostic(
    `${needed} credits needed, ${charged} charged, shares ${shares.join(', ')}, at most ${longestWait} calls of others in between`,
  );
  assert.deepEqual(wrong, []);
});

test('four processes and a quota that does not reach: spent to the last credit, not one more, and nobody starves', {
  timeout,
}, async (t) => {
  const { needed, charged, shares, longestWait, wrong } = await manyTrial(t, 2, {
    quota: 0.7,
    creditsPerMinute: 300,
    cells: 300,
    apart: true,
  });
  t.diagnostic(
    `${needed} credits needed, ${charged} charged, shares ${shares.join(', ')}, at most ${longestWait} calls of others in between`,
  );
  assert.deepEqual(wrong, []);
});

test('a process that is killed while it holds a claim frees it: one that waits for the cell takes it over', {
  timeout,
}, async (t) => {
  const now = Date.now();
  const harness = await openHarness(t, {
    subscription: customSubscription(1_000, 1_000),
    clock: { start: now, factor: 1, origin: now },
  });
  harness.writeInput(places(2));
  let isOpen = false;
  const gate = await gateBefore(t, harness.url, () => (isOpen ? 'answer' : 'hold'));
  const { secret } = harness.key();
  const start = (name: string) => {
    const job = {
      ...{ input: 'input.csv', output: `${name}.csv`, store: 'store.db', topics: 'wildfire', budget: 100 },
      subscription: { credits_per_month: 1_000, credits_per_minute: 1_000 },
      service: { base_url: gate.url, api_keys: [{ env: 'THE_KEY' }] },
    };
    writeFileSync(join(harness.folder, `${name}.yaml`), JSON.stringify(job));
    return startBin(t, ['run', `${name}.yaml`], harness.folder, { THE_KEY: secret });
  };
  const holder = start('holder');
  await gate.reached(2);
  const waiter = start('waiter');
  while ((await harness.store.runs()).length < 2) await delay(20);
  isOpen = true;
  // The cells are claimed by a process that lives: the other asks again and again, and sends nothing.
  await delay(1_500);
  assert.deepEqual([gate.come, waiter.isRunning, harness.charged()], [2, true, 0]);
  holder.kill('SIGKILL');
  await holder.ended;
  const { code, stderr } = await waiter.ended;
  assert.equal(code, 0, stderr);
  assert.equal(gate.come, 4);
  const { charged, unknown, open } = await harness.ledger();
  assert.deepEqual([charged, unknown, open, harness.charged()], [2, 2, 0, 2]);
  const output = readFileSync(join(harness.folder, 'waiter.csv'), 'utf8');
  assert.deepEqual(column(output, 'hazard_status'), ['ok', 'ok']);
});
