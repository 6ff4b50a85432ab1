import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { approvablePlan } from '../../src/job/approved-plan.ts';
import { newProgress } from '../../src/job/buying/progress.ts';
import { prepare, prepareAgain } from '../../src/job/prepare.ts';
import { run } from '../../src/job/run-job.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { forAnotherPlace, standBetween } from './between.ts';
import { openDesk, places } from './harness.ts';

test('two runs of one process on one store, as on the page of perilbook ui, buy no cell twice', async (t) => {
  const desk = await openDesk(t, { factor: 20 });
  const book = `lat,lng\n${places(60)
    .map(([lat, lng]) => `${lat},${lng}\n`)
    .join('')}`;
  const go = async (name: string) => {
    writeFileSync(join(desk.folder, `${name}.csv`), book);
    const job = desk.job({ input: `${name}.csv`, output: `${name}.out.csv`, topics: ['wildfire'], budget: 60 });
    const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
    const effects = { clock: desk.clock, random: Math.random, streams, notice: () => {} };
    const connection = { baseUrl: desk.url, source: 'desk', sample: false, keys: [desk.key()] };
    const prepared = await prepare(job, connection, desk.store, effects);
    return run(prepared, desk.store, effects, newProgress(), new AbortController().signal);
  };
  const ends = await Promise.all([go('a'), go('b')]);
  assert.deepEqual(
    ends.map(({ state, summary }) => [state, summary.status.ok]),
    [
      ['complete', 60],
      ['complete', 60],
    ],
  );
  assert.equal(desk.charged(), 60);
  assert.deepEqual(await desk.ledger(), { charged: 60, unknown: 0, open: 0 });
});

test('two runs under one approved plan, begun together, stay within it together', async (t) => {
  const desk = await openDesk(t, { factor: 100 });
  desk.book(places(40));
  let asked = 0;
  const baseUrl = await standBetween(t, desk.url, (_, answer) =>
    ++asked % 2 === 0 ? forAnotherPlace(answer) : answer,
  );
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const effects = { clock: desk.clock, random: Math.random, streams, notice: () => {} };
  const prepared = async (name: string) => {
    const store = openSqliteStore(join(desk.folder, 'store.db'), desk.clock, { name, isAlive: () => true });
    t.after(() => store.close());
    const job = desk.job({ output: `${name}.csv`, topics: ['wildfire'] });
    const connection = { baseUrl, source: 'desk', sample: false, keys: [desk.key()] };
    return { store, prepared: await prepare(job, connection, store, effects) };
  };
  const both = [await prepared('a'), await prepared('b')];
  const approved = approvablePlan(both[0]!.prepared, desk.clock.now());
  assert.equal(approved.credits_at_most, 40);
  const ready = await Promise.all(both.map(({ prepared, store }) => prepareAgain(prepared, store, approved)));
  const go = ({ store }: (typeof both)[number], nth: number) =>
    run(ready[nth]!, store, effects, newProgress(), new AbortController().signal);
  const ends = await Promise.all(both.map(go));
  assert.ok(desk.charged() <= 40, `${desk.charged()} credits under a plan of 40`);
  assert.ok(ends.some(({ stop }) => stop?.reason === 'approved_plan'));
});
