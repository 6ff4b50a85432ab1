import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { approvablePlan } from '../../src/run/approval.ts';
import { prepare, prepareAgain } from '../../src/run/prepare.ts';
import { run } from '../../src/run/run-job.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { forAnotherPlace, standBetween } from '../fake-service.ts';
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

test('two runs under one approved plan, begun together, stay within it together', async (t) => {
  const harness = await openHarness(t, { factor: 100 });
  harness.writeInput(places(40));
  let asked = 0;
  const baseUrl = await standBetween(t, harness.url, (_, answer) =>
    ++asked % 2 === 0 ? forAnotherPlace(answer) : answer,
  );
  const prepared = async (name: string) => {
    const store = openSqliteStore(join(harness.folder, 'store.db'), harness.clock, { name, isAlive: () => true });
    t.after(() => store.close());
    const job = { output: `${name}.csv`, topics: ['wildfire' as const] };
    const prepared = await prepare(await harness.open(job, { store, baseUrl }));
    t.after(() => prepared[Symbol.dispose]());
    return prepared;
  };
  const both = [await prepared('a'), await prepared('b')];
  const approved = approvablePlan(both[0]!, harness.clock.now());
  assert.equal(approved.credits_at_most, 40);
  const ready = await Promise.all(both.map((prepared) => prepareAgain(prepared, { approved })));
  const ends = await Promise.all(ready.map((prepared) => run(prepared)));
  assert.ok(harness.charged() <= 40, `${harness.charged()} credits under a plan of 40`);
  assert.ok(ends.some(({ stop }) => stop?.reason === 'approved_plan'));
});
