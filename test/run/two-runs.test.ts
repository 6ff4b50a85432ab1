import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { prepare } from '../../src/run/prepare.ts';
import { newProgress } from '../../src/run/progress.ts';
import { run } from '../../src/run/run-job.ts';
import { openHarness, places } from './harness.ts';

test('two runs of one process on one store, as on the page of perilbook ui, buy no cell twice', async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  const book = `lat,lng\n${places(60)
    .map(([lat, lng]) => `${lat},${lng}\n`)
    .join('')}`;
  const go = async (name: string) => {
    writeFileSync(join(harness.folder, `${name}.csv`), book);
    const job = { input: `${name}.csv`, output: `${name}.out.csv`, topics: ['wildfire' as const], budget: 60 };
    using prepared = await prepare(await harness.open(job));
    return await run(prepared);
  };
  const ends = await Promise.all([go('a'), go('b')]);
  assert.deepEqual(
    ends.map(({ state, summary }) => [state, summary.status.ok]),
    [
      ['complete', 60],
      ['complete', 60],
    ],
  );
  assert.equal(harness.charged(), 60);
  assert.deepEqual(await harness.ledger(), { charged: 60, unknown: 0, open: 0 });
});

test('what another run of the store has spent in this minute is taken from the ledger, not from the throttle once more', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 300), factor: 1 });
  const go = async (from: number, to: number) => {
    harness.writeInput(places(to).slice(from));
    const progress = newProgress();
    const left: number[] = [];
    let spent = 0;
    Object.defineProperty(progress, 'creditsSpent', {
      get: () => spent,
      set: (credits: number) => {
        spent = credits;
        left.push(progress.minuteLeft!());
      },
    });
    await harness.run({ topics: ['wildfire'], budget: 100, concurrency: 1 }, { progress });
    return Math.min(...left);
  };
  assert.equal(await go(0, 60), 240);
  // The service counts 60 of the other run; the ledger withholds them.
  assert.equal(await go(60, 63), 297);
});
