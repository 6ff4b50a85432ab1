import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { newProgress } from '../../src/run/buy/progress.ts';
import { column, openHarness, places } from './harness.ts';

const someNatural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

test('a run buys each cell once, writes every row, and a second run spends nothing and writes the same bytes', async (t) => {
  const harness = await openHarness(t);
  const input = harness.writeInput([
    [40.25, -99.75],
    [40.250004, -99.749996],
    [40.5, -98.5],
    ['', ''],
    [51.5, -0.1],
  ]);
  const { summary, state } = await harness.run({ topics: ['wildfire', 'park'] });
  assert.equal(state, 'complete');
  assert.deepEqual([summary.cells, summary.credits, summary.credits_spent], [2, 4, 4]);
  assert.deepEqual(summary.status, {
    ok: 3,
    partial: 0,
    deferred: 0,
    failed: 0,
    rejected: 0,
    outside_us: 1,
    invalid: 1,
  });
  assert.equal(harness.charged(), 4);
  const output = harness.output();
  for (const [index, line] of input.trimEnd().split('\n').entries())
    assert.ok(output.split('\n')[index]!.startsWith(line));
  assert.deepEqual(column(output, 'wildfire_rating'), ['Relatively High', 'Relatively High', 'Not Applicable', '', '']);
  assert.deepEqual(column(output, 'park_count').slice(0, 2), ['2', '2']);
  const again = await harness.run({ topics: ['wildfire', 'park'] });
  assert.deepEqual([again.summary.credits, again.summary.credits_spent, harness.charged()], [0, 0, 4]);
  assert.equal(harness.output(), output);
});

test('the quota stops a run with a complete file; after the anniversary it finishes; service and ledger agree to the credit', async (t) => {
  const harness = await openHarness(t, {
    subscription: customSubscription(100, 100_000),
    start: '2026-03-15T12:00:00Z',
  });
  harness.writeInput(places(10));
  const first = await harness.run({ topics: [...someNatural] });
  assert.equal(first.stop?.reason, 'quota');
  assert.equal(first.state, 'paused');
  assert.equal(first.summary.resume_after, '2026-03-31T00:00:00.000Z');
  assert.deepEqual([first.summary.status.ok, first.summary.status.deferred], [6, 4]);
  assert.equal(column(harness.output(), 'hazard_status').length, 10);
  assert.deepEqual([harness.charged(), (await harness.ledger()).charged], [90, 90]);

  harness.clock.moveTo('2026-03-31T00:00:00Z');
  const second = await harness.run({ topics: [...someNatural] });
  assert.equal(second.state, 'complete');
  assert.equal(second.summary.credits_spent, 60);
  assert.deepEqual([harness.charged(), await harness.ledger()], [150, { charged: 150, unknown: 0, open: 0 }]);
});

test('a quota that other programs used up is believed when the service says so', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(30, 100_000) });
  harness.writeInput(places(5));
  const more = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  const ended = await harness.run({ topics: [...someNatural], subscription: more, concurrency: 1 });
  assert.equal(ended.stop?.reason, 'quota');
  assert.deepEqual([ended.summary.status.ok, harness.charged()], [2, 30]);
  const after = await harness.run({ topics: [...someNatural], subscription: more });
  assert.deepEqual([after.summary.credits_available, after.summary.credits_spent, harness.charged()], [0, 0, 30]);
});

test('the budget stops a run: cells are bought whole or not at all', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(10));
  const ended = await harness.run({ topics: ['wildfire', 'hail'], budget: 7 });
  assert.deepEqual([ended.stop?.reason, ended.state, harness.charged()], ['budget', 'paused', 6]);
  assert.deepEqual([ended.summary.status.ok, ended.summary.status.deferred], [3, 7]);
});

test('nothing is planned beyond the reserve', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(20, 100_000) });
  harness.writeInput(places(10));
  const ended = await harness.run({ topics: ['wildfire', 'hail'], reserve: 12 });
  assert.deepEqual([ended.stop?.reason, harness.charged()], ['quota', 8]);
});

test('avalanche is bought alone only where the standard bundle was seen to lack it', async (t) => {
  const withIt = await openHarness(t);
  withIt.writeInput(places(6));
  const spared = await withIt.run({ concurrency: 1 });
  assert.equal(spared.summary.credits, 6 * 16, 'priced as if the bundle lacked it');
  assert.deepEqual([spared.state, withIt.charged()], ['complete', 6 * 15]);
  assert.equal((await withIt.plan({ topics: 'all' })).cells_cached, 0);

  const without = await openHarness(t, { service: { standardTopics: someNatural } });
  without.writeInput(places(6));
  const bought = await without.run();
  assert.deepEqual([bought.state, bought.summary.credits_spent, without.charged()], ['complete', 6 * 16, 6 * 16]);
});

test('a key without bundle buys natural topics as singles, and the next plan says so', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(2));
  const keys = [harness.key(...NATURAL_SLUGS)];
  const ended = await harness.run({ budget: 100 }, { keys });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 36]);
  assert.match(harness.notices.join('\n'), /lacks the scope bundle \(403\)/);
  harness.writeInput(places(3));
  const plan = await harness.plan({}, keys);
  assert.deepEqual([plan.credits, plan.calls], [18, { single: 18, standard: 0, enterprise: 0 }]);
  assert.match(plan.scopes.join('\n'), /No key carries the scope bundle/);
});

test('without a budget a run that a refused scope makes dearer stays within the approved plan', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(10));
  const planned = await harness.plan();
  const ended = await harness.run({}, { keys: [harness.key(...NATURAL_SLUGS)] });
  assert.ok(harness.charged() <= planned.credits + planned.credits_retries_at_most);
  assert.equal(ended.summary.status.ok + ended.summary.status.deferred, 10);
});

test('a key without the singles gets the topics from bundles', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(2));
  const keys = [{ ...harness.key('bundle'), scopes: new Set(['bundle']) }];
  const plan = await harness.plan({ topics: ['wildfire'] }, keys);
  assert.deepEqual([plan.credits, plan.calls.standard], [30, 2]);
  assert.match(plan.scopes.join('\n'), /No key carries the scope of wildfire: bought in standard bundles/);
  const ended = await harness.run({ topics: ['wildfire'] }, { keys });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 30]);
  await assert.rejects(
    harness.run({ topics: ['park'] }, { keys: [{ ...harness.key('hail'), scopes: new Set(['hail']) }] }),
    {
      code: 'SCOPE_MISSING',
    },
  );
});

test('a refused key gives way to the next; when none is left the run stops and has still written', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  const bad = { secret: 'pb_nobody', fingerprint: 'nobody', scopes: null };
  const ended = await harness.run({ topics: ['wildfire'] }, { keys: [bad, harness.key()] });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 3]);
  const none = await harness.run({ topics: ['hail'] }, { keys: [bad] });
  assert.equal(none.stop?.reason, 'keys');
  assert.deepEqual(column(harness.output(), 'hazard_status'), ['deferred', 'deferred', 'deferred']);
});

test('a key that turns out to lack a scope ends the run with that, and what it may buy is bought', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(3));
  const key = harness.key('wildfire');
  const ended = await harness.run({ topics: ['wildfire', 'park'], budget: 200 }, { keys: [key] });
  assert.deepEqual([ended.stop?.reason, ended.stop?.message], ['keys', 'No key may buy park (403).']);
  assert.deepEqual([ended.state, harness.charged()], ['stopped', 3]);
  // The next run knows it before it begins; what is bought already needs no key.
  await assert.rejects(harness.run({ topics: ['park'] }, { keys: [key] }), { code: 'SCOPE_MISSING' });
  assert.equal((await harness.run({ topics: ['wildfire'] }, { keys: [harness.key('hail')] })).state, 'complete');
});

test('a topic that a bundle reports unavailable is asked for once more as a single, never by another bundle', async (t) => {
  let asked = 0;
  const harness = await openHarness(t, { service: { failures: (topic) => topic === 'hail' && asked++ % 2 === 0 } });
  harness.writeInput(places(1));
  const ended = await harness.run({ concurrency: 1 });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 16]);
});

test('a topic that stays unavailable makes rows partial, is free, and is tried again by the next run', async (t) => {
  let broken = true;
  const harness = await openHarness(t, { service: { failures: (topic) => broken && topic === 'hail' } });
  harness.writeInput(places(12));
  const ended = await harness.run();
  assert.deepEqual([ended.state, ended.summary.status.partial, harness.charged()], ['incomplete', 12, 12 * 15]);
  assert.match(harness.output(), /unavailable/);
  broken = false;
  const again = await harness.run();
  assert.deepEqual([again.state, again.summary.credits, harness.charged()], ['complete', 12, 12 * 15 + 12]);
});

test('a service that is down pauses the run: resumable, nothing recorded as a fact', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(40));
  const ended = await harness.run({ topics: ['wildfire', 'hail'] }, { baseUrl: 'http://127.0.0.1:9' });
  assert.deepEqual([ended.stop?.reason, ended.state], ['service_down', 'paused']);
  assert.equal(ended.summary.status.ok, 0);
  assert.deepEqual(await harness.ledger(), { charged: 0, unknown: 0, open: 0 });
  assert.equal((await harness.run({ topics: ['wildfire', 'hail'] })).state, 'complete');
});

test('a service that is down pauses the run of a single cell too: nobody answered', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  harness.writeInput(places(1));
  const ended = await harness.run({ topics: ['wildfire'] }, { baseUrl: 'http://127.0.0.1:9' });
  assert.deepEqual([ended.stop?.reason, ended.state], ['service_down', 'paused']);
  assert.deepEqual(column(harness.output(), 'hazard_status'), ['failed']);
  assert.equal((await harness.run({ topics: ['wildfire'] })).state, 'complete');
  assert.equal(harness.charged(), 1);
});

test('an interrupt lets calls in flight land, writes all rows, and the next run goes on', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(200));
  const interruption = new AbortController();
  const progress = newProgress();
  const watch = setInterval(() => progress.calls >= 20 && interruption.abort(), 1);
  t.after(() => clearInterval(watch));
  const ended = await harness.run({ topics: ['wildfire'] }, { interrupt: interruption.signal, progress });
  assert.deepEqual([ended.stop?.reason, ended.state], ['interrupted', 'interrupted']);
  const { ok, deferred } = ended.summary.status;
  assert.ok(ok >= 20 && deferred > 0 && ok + deferred === 200, JSON.stringify(ended.summary.status));
  assert.deepEqual(await harness.ledger(), { charged: ok, unknown: 0, open: 0 });
  assert.equal(harness.charged(), ok);
  assert.equal((await harness.run({ topics: ['wildfire'] })).state, 'complete');
  assert.equal(harness.charged(), 200);
});

test('the minute limit is kept without one 429, over several minutes', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100_000, 300), factor: 100 });
  harness.writeInput(places(60));
  const progress = newProgress();
  const ended = await harness.run({ topics: [...someNatural] }, { progress });
  assert.deepEqual([ended.state, harness.charged(), progress.slowedDown], ['complete', 900, 0]);
});

test('an answer is bought again only when it is stale', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  const job = { topics: ['wildfire', 'alternativeFuels', 'nuclearReactors'] };
  await harness.run(job);
  harness.clock.moveTo('2026-03-17T12:00:00Z');
  assert.equal((await harness.run(job)).summary.credits_spent, 1, 'alternativeFuels after a day');
  harness.clock.moveTo('2027-03-20T12:00:00Z');
  assert.equal((await harness.run(job)).summary.credits_spent, 2, 'wildfire after a year, reactors never');
  await harness.clock.sleep(2_000);
  assert.equal((await harness.run({ ...job, time_to_live: { alternativeFuels: '1s' } })).summary.credits_spent, 1);
});
