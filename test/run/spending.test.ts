import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS, PROXIMITY_SLUGS, TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { column, type Harness, openHarness, places } from './harness.ts';

const someNatural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** A book with a value for each place. */
function valued(harness: Harness, values: readonly (number | string)[]): void {
  const rows = places(values.length).map(([lat, lng], index) => `${index + 1},${lat},${lng},${values[index]}\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `id,lat,lng,BuildingTIV\n${rows.join('')}`);
}

test('plan --json of figures worked out by hand: one cell, what it lacks, what bundles are known to return', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  const price = async (topics: readonly string[]) => {
    const { credits, calls } = await harness.plan({ topics: [...topics] });
    return [credits, calls.single + calls.standard + calls.enterprise];
  };
  const three = [...NATURAL_SLUGS, ...PROXIMITY_SLUGS.slice(0, 3)];
  assert.deepEqual(await price(TOPIC_SLUGS), [35, 1]);
  assert.deepEqual(await price(someNatural.slice(0, 15)), [15, 1]);
  assert.deepEqual(await price(three), [19, 5], 'not yet seen');
  harness.writeInput(places(2).slice(1));
  await harness.run({ topics: [...NATURAL_SLUGS] });
  harness.writeInput(places(1));
  assert.deepEqual(await price(TOPIC_SLUGS), [34, 20], 'seen to return avalanche');
  assert.deepEqual(await price(three), [18, 4]);

  const lacking = await openHarness(t, { service: { standardTopics: someNatural } });
  lacking.writeInput(places(2).slice(1));
  await lacking.run({ topics: [...NATURAL_SLUGS] });
  lacking.writeInput(places(1));
  const { credits, calls } = await lacking.plan({ topics: three });
  assert.deepEqual([credits, calls], [19, { single: 4, standard: 1, enterprise: 0 }]);
});

test('money goes to the most valuable cells first, and the summary says how much of the value that is', async (t) => {
  const harness = await openHarness(t);
  valued(harness, [10, 500, 30, 'none', 400, '$60']);
  const ended = await harness.run({ topics: ['wildfire'], order_by: 'tiv', budget: 2 });
  assert.deepEqual(column(harness.output(), 'hazard_status'), [
    'deferred',
    'ok',
    'deferred',
    'deferred',
    'ok',
    'deferred',
  ]);
  assert.equal(ended.summary.complete.rows, 2 / 6);
  assert.equal(ended.summary.complete.value, 0.9);
  assert.deepEqual(ended.summary.complete_tiers, [], 'one set of topics');
  assert.deepEqual(
    ended.summary.findings.map(({ finding, first_line }) => [finding, first_line]),
    [['value_not_a_number', 5]],
  );
  const cheapFirst = await harness.run({
    topics: ['hail'],
    order_by: { column: 'BuildingTIV', direction: 'asc' },
    budget: 1,
  });
  assert.equal(cheapFirst.summary.complete.value, 0);
});

test('values in several currencies are reported where they decide the order', async (t) => {
  const harness = await openHarness(t);
  const codes = ['', 'usd', 'USD ', 'CAD', 'USD', 'EUR'];
  const rows = places(6).map(([lat, lng], index) => `${lat},${lng},${index + 1},${codes[index]}\n`);
  // A location that is not looked up: its value is in no sum.
  const toronto = '43.6532,-79.3832,9,GBP\n';
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,BuildingTIV,LocCurrency\n${toronto}${rows.join('')}`);
  const findings = async (order_by: 'tiv' | 'file') =>
    (await harness.plan({ topics: ['wildfire'], order_by })).findings.map(({ finding, rows, first_line }) => [
      ...[finding, rows, first_line],
    ]);
  assert.deepEqual(await findings('tiv'), [
    ['outside_us', 1, 2],
    ['currency_differs', 2, 6],
  ]);
  assert.deepEqual(await findings('file'), [['outside_us', 1, 2]]);
});

test('tiers: every cell gets the leanest, then the most valuable are upgraded; a later run goes on from there', async (t) => {
  const harness = await openHarness(t);
  valued(harness, [1, 4, 2, 3]);
  const job = { tiers: ['all', 'natural', ['wildfire', 'hail']], order_by: 'tiv' as const };
  const planned = await harness.plan({ ...job, budget: 40 });
  assert.deepEqual(
    planned.shares.map(({ tier, cells, share_of_value }) => [tier, cells, share_of_value]),
    [
      ['wildfire, hail', 2, 0.3],
      ['natural', 2, 0.7],
      ['all', 0, 0],
    ],
  );
  const first = await harness.run({ ...job, budget: 40 });
  assert.ok(first.summary.credits_spent <= 40 && first.summary.credits_spent >= 34, `${first.summary.credits_spent}`);
  assert.deepEqual(
    column(harness.output(), 'wildfire_rating').filter((rating) => rating === ''),
    [],
  );
  assert.deepEqual(
    column(harness.output(), 'drought_rating').map((rating) => rating !== ''),
    [false, true, false, true],
  );
  assert.equal(harness.charged(), first.summary.credits_spent);
  assert.deepEqual(first.summary.complete_tiers, [
    { tier: 'wildfire, hail', rows: 1, value: 1 },
    { tier: 'natural', rows: 0.5, value: 0.7 },
    { tier: 'all', rows: 0, value: 0 },
  ]);
  const rest = await harness.run(job);
  assert.equal(rest.state, 'complete');
  assert.deepEqual(
    rest.summary.complete_tiers.map(({ rows, value }) => [rows, value]),
    [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
  );
  assert.equal(harness.charged(), first.summary.credits_spent + rest.summary.credits_spent);
});

test('overages are bought only up to the ceiling, though the provider would go on', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(20, 100_000, 0.04), overages: true });
  harness.writeInput(places(40));
  const subscription = { credits_per_month: 20, credits_per_minute: 100_000, overage_rate: 0.04 };
  const without = await harness.run({ topics: ['wildfire'], subscription });
  assert.deepEqual([without.stop?.reason, harness.charged()], ['quota', 20]);
  const planned = await harness.plan({ topics: ['wildfire'], subscription, overages: { ceiling: 0.4 } });
  assert.deepEqual([planned.credits, planned.credits_available, planned.overage_dollars], [20, 10, 0.4]);
  const some = await harness.run({ topics: ['wildfire'], subscription, overages: { ceiling: 0.4 } });
  assert.deepEqual([some.stop?.reason, harness.charged()], ['quota', 30]);
  assert.throws(
    () => harness.job({ subscription: { ...subscription, overage_rate: undefined }, overages: { ceiling: 1 } }),
    { code: 'JOB_FILE' },
  );
});

test('a plan over two periods is kept to the credit by a run that waits for the anniversary', async (t) => {
  const harness = await openHarness(t, {
    subscription: customSubscription(100, 100_000),
    start: '2026-02-10T08:00:00Z',
  });
  harness.writeInput(places(11));
  const job = { topics: [...someNatural.slice(0, 15)], on_quota: 'wait' as const };
  const planned = await harness.plan(job);
  assert.deepEqual([planned.credits, planned.periods, planned.finish_by?.slice(0, 10)], [165, 2, '2026-02-28']);
  const ended = await harness.run(job);
  assert.deepEqual([ended.state, ended.summary.credits_spent, harness.charged()], ['complete', 165, 165]);
  assert.match(harness.notices.join('\n'), /Waiting until 2026-02-28 00:00 UTC/);
  assert.ok(harness.clock.now() >= Date.parse('2026-02-28T00:00:00Z'));
});

test('a window of minutes ends the buying; the rest is deferred and the next run goes on', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100_000, 60), factor: 60 });
  harness.writeInput(places(400));
  const ended = await harness.run({ topics: ['wildfire'], max_minutes: 2 });
  assert.deepEqual([ended.stop?.reason, ended.state], ['time', 'paused']);
  assert.ok(harness.charged() > 0 && harness.charged() < 400, `${harness.charged()}`);
  assert.equal(ended.summary.status.ok, harness.charged());
});

test('without counts the columns of details are left out and nothing else changes', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  await harness.run({ topics: ['wildfire', 'hail'] });
  const [withCounts] = harness.output().split('\n');
  await harness.run({ topics: ['wildfire', 'hail'], counts: false });
  const [without] = harness.output().split('\n');
  assert.equal(without, withCounts!.replace(/,hail_reports|,wildfire_(current|historical|perimeters)/g, ''));
});

test('the ceiling holds for several jobs at once', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(20, 100_000, 0.04), overages: true });
  harness.writeInput(places(40));
  const subscription = { credits_per_month: 20, credits_per_minute: 100_000, overage_rate: 0.04 };
  const job = (topic: string) => ({
    topics: [topic],
    output: `${topic}.csv`,
    subscription,
    overages: { ceiling: 0.4 },
  });
  const ended = await Promise.all(['wildfire', 'hail', 'drought'].map((topic) => harness.run(job(topic))));
  assert.deepEqual(
    ended.map(({ stop }) => stop?.reason),
    ['quota', 'quota', 'quota'],
  );
  assert.equal(harness.charged(), 30);
  assert.deepEqual(await harness.ledger(), { charged: 30, unknown: 0, open: 0 });
});
