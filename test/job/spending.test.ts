import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS, PROXIMITY_SLUGS, TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { column, type Desk, openDesk, places } from './harness.ts';

const someNatural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** A book with a value for each place. */
function valued(desk: Desk, values: readonly (number | string)[]): void {
  const rows = places(values.length).map(([lat, lng], index) => `${index + 1},${lat},${lng},${values[index]}\n`);
  writeFileSync(join(desk.folder, 'input.csv'), `id,lat,lng,BuildingTIV\n${rows.join('')}`);
}

test('plan --json of figures worked out by hand: one cell, what it lacks, what bundles are known to return', async (t) => {
  const desk = await openDesk(t);
  desk.book(places(1));
  const price = async (topics: readonly string[]) => {
    const { credits, calls } = await desk.plan({ topics: [...topics] });
    return [credits, calls.single + calls.standard + calls.enterprise];
  };
  const three = [...NATURAL_SLUGS, ...PROXIMITY_SLUGS.slice(0, 3)];
  assert.deepEqual(await price(TOPIC_SLUGS), [35, 1]);
  assert.deepEqual(await price(someNatural.slice(0, 15)), [15, 1]);
  assert.deepEqual(await price(three), [19, 5], 'not yet seen');
  desk.book(places(2).slice(1));
  await desk.run({ topics: [...NATURAL_SLUGS] });
  desk.book(places(1));
  assert.deepEqual(await price(TOPIC_SLUGS), [34, 20], 'seen to return avalanche');
  assert.deepEqual(await price(three), [18, 4]);

  const lacking = await openDesk(t, { service: { standardTopics: someNatural } });
  lacking.book(places(2).slice(1));
  await lacking.run({ topics: [...NATURAL_SLUGS] });
  lacking.book(places(1));
  const { credits, calls } = await lacking.plan({ topics: three });
  assert.deepEqual([credits, calls], [19, { single: 4, standard: 1, enterprise: 0 }]);
});

test('money goes to the most valuable cells first, and the summary says how much of the value that is', async (t) => {
  const desk = await openDesk(t);
  valued(desk, [10, 500, 30, 'none', 400, '$60']);
  const ended = await desk.run({ topics: ['wildfire'], order_by: 'tiv', budget: 2 });
  assert.deepEqual(column(desk.output(), 'hazard_status'), [
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
  const cheapFirst = await desk.run({
    topics: ['hail'],
    order_by: { column: 'BuildingTIV', direction: 'asc' },
    budget: 1,
  });
  assert.equal(cheapFirst.summary.complete.value, 0);
});

test('tiers: every cell gets the leanest, then the most valuable are upgraded; a later run goes on from there', async (t) => {
  const desk = await openDesk(t);
  valued(desk, [1, 4, 2, 3]);
  const job = { tiers: ['all', 'natural', ['wildfire', 'hail']], order_by: 'tiv' as const };
  const planned = await desk.plan({ ...job, budget: 40 });
  assert.deepEqual(
    planned.shares.map(({ tier, cells, share_of_value }) => [tier, cells, share_of_value]),
    [
      ['wildfire, hail', 2, 0.3],
      ['natural', 2, 0.7],
      ['all', 0, 0],
    ],
  );
  const first = await desk.run({ ...job, budget: 40 });
  assert.ok(first.summary.credits_spent <= 40 && first.summary.credits_spent >= 34, `${first.summary.credits_spent}`);
  assert.deepEqual(
    column(desk.output(), 'wildfire_rating').filter((rating) => rating === ''),
    [],
  );
  assert.deepEqual(
    column(desk.output(), 'drought_rating').map((rating) => rating !== ''),
    [false, true, false, true],
  );
  assert.equal(desk.charged(), first.summary.credits_spent);
  assert.deepEqual(first.summary.complete_tiers, [
    { tier: 'wildfire, hail', rows: 1, value: 1 },
    { tier: 'natural', rows: 0.5, value: 0.7 },
    { tier: 'all', rows: 0, value: 0 },
  ]);
  const rest = await desk.run(job);
  assert.equal(rest.state, 'complete');
  assert.deepEqual(
    rest.summary.complete_tiers.map(({ rows, value }) => [rows, value]),
    [
      [1, 1],
      [1, 1],
      [1, 1],
    ],
  );
  assert.equal(desk.charged(), first.summary.credits_spent + rest.summary.credits_spent);
});

test('overages are bought only up to the ceiling, though the provider would go on', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(20, 100_000, 0.04), overages: true });
  desk.book(places(40));
  const subscription = { credits_per_month: 20, credits_per_minute: 100_000, overage_rate: 0.04 };
  const without = await desk.run({ topics: ['wildfire'], subscription });
  assert.deepEqual([without.stop?.reason, desk.charged()], ['quota', 20]);
  const planned = await desk.plan({ topics: ['wildfire'], subscription, overages: { ceiling: 0.4 } });
  assert.deepEqual([planned.credits, planned.credits_available, planned.overage_dollars], [20, 10, 0.4]);
  const some = await desk.run({ topics: ['wildfire'], subscription, overages: { ceiling: 0.4 } });
  assert.deepEqual([some.stop?.reason, desk.charged()], ['quota', 30]);
  assert.throws(
    () => desk.job({ subscription: { ...subscription, overage_rate: undefined }, overages: { ceiling: 1 } }),
    { code: 'JOB_FILE' },
  );
});

test('a plan over two periods is kept to the credit by a run that waits for the anniversary', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(100, 100_000), start: '2026-02-10T08:00:00Z' });
  desk.book(places(11));
  const job = { topics: [...someNatural.slice(0, 15)], on_quota: 'wait' as const };
  const planned = await desk.plan(job);
  assert.deepEqual([planned.credits, planned.periods, planned.finish_by?.slice(0, 10)], [165, 2, '2026-02-28']);
  const ended = await desk.run(job);
  assert.deepEqual([ended.state, ended.summary.credits_spent, desk.charged()], ['complete', 165, 165]);
  assert.match(desk.notices.join('\n'), /Waiting until 2026-02-28 00:00 UTC/);
  assert.ok(desk.clock.now() >= Date.parse('2026-02-28T00:00:00Z'));
});

test('a window of minutes ends the buying; the rest is deferred and the next run goes on', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(100_000, 60), factor: 200 });
  desk.book(places(400));
  const ended = await desk.run({ topics: ['wildfire'], max_minutes: 2 });
  assert.deepEqual([ended.stop?.reason, ended.state], ['time', 'paused']);
  assert.ok(desk.charged() > 0 && desk.charged() < 400, `${desk.charged()}`);
  assert.equal(ended.summary.status.ok, desk.charged());
});

test('without counts the columns of details are left out and nothing else changes', async (t) => {
  const desk = await openDesk(t);
  desk.book(places(1));
  await desk.run({ topics: ['wildfire', 'hail'] });
  const [withCounts] = desk.output().split('\n');
  await desk.run({ topics: ['wildfire', 'hail'], counts: false });
  const [without] = desk.output().split('\n');
  assert.equal(without, withCounts!.replace(/,hail_reports|,wildfire_(current|historical|perimeters)/g, ''));
});

test('the ceiling holds for several jobs at once', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(20, 100_000, 0.04), overages: true });
  desk.book(places(40));
  const subscription = { credits_per_month: 20, credits_per_minute: 100_000, overage_rate: 0.04 };
  const job = (topic: string) => ({
    topics: [topic],
    output: `${topic}.csv`,
    subscription,
    overages: { ceiling: 0.4 },
  });
  const ended = await Promise.all(['wildfire', 'hail', 'drought'].map((topic) => desk.run(job(topic))));
  assert.deepEqual(
    ended.map(({ stop }) => stop?.reason),
    ['quota', 'quota', 'quota'],
  );
  assert.equal(desk.charged(), 30);
  assert.deepEqual(await desk.ledger(), { charged: 30, unknown: 0, open: 0 });
});
