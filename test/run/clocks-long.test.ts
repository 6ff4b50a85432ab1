import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { billingPeriod, refusalHoldsUntil } from '../../src/contract/billing-period.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { newProgress } from '../../src/run/frame/progress.ts';
import { standBetween } from '../fake-service.ts';
import { FastClock } from '../fast-clock.ts';
import { type Fault, openFaultProxy } from '../faults/fault-proxy.ts';
import { LeapingClock } from '../faults/leaping-clock.ts';
import { JumpingClock } from '../jumping-clock.ts';
import { usage } from '../service/file-accounts.ts';
import { releaseLater } from '../service/small-data.ts';
import { column, openHarness, places } from './harness.ts';

test('a refusal holds until the anniversary behind the moment it was asked for; right behind one, for a minute', () => {
  const at = (time: string) => new Date(refusalHoldsUntil(31, Date.parse(time))).toISOString();
  assert.equal(at('2026-03-30T23:59:59Z'), '2026-03-31T00:00:00.000Z');
  assert.equal(at('2026-03-31T00:00:00Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:00:59.999Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:01:00Z'), '2026-04-30T00:00:00.000Z');
  assert.equal(
    billingPeriod(31, Date.parse('2026-03-31T00:01:00Z')).end,
    Date.parse('2026-04-30T00:00:00Z'),
  );
});

const QUIET_TURNS = 30;

/** A harness on a clock that stands still while anything happens, so that no machine is too slow for it, and the address of its service
 * behind a proxy that tells the clock of all that passes. The service's clock may be behind. */
async function openStillHarness(
  t: TestContext,
  start: string,
  perMonth: number,
  behindMs = 0,
  act?: Fault['act'],
) {
  const clock = new LeapingClock(start, QUIET_TURNS);
  const provider = { now: () => clock.now() - behindMs, sleep: (ms: number) => clock.sleep(ms) };
  const subscription = customSubscription(perMonth, 100_000);
  const harness = await openHarness(t, { subscription, clock, service: { clock: provider } });
  const proxy = await openFaultProxy({ service: harness.url, clock });
  releaseLater(t, () => proxy.close());
  if (act) proxy.disturb(() => ({ name: 'test', act }));
  return { harness, baseUrl: proxy.url };
}

test('a refusal that was asked for before the anniversary holds until then, however late it arrives', async (t) => {
  const late: string[] = [];
  const { harness, baseUrl } = await openStillHarness(
    t,
    '2026-03-30T23:59:55Z',
    5,
    0,
    async (passage) => {
      const said = await passage.ask();
      if (said.status === 429) {
        await passage.clock.sleep(15_000);
        late.push(new Date(passage.clock.now()).toISOString());
      }
      passage.answer(said);
    },
  );
  harness.writeInput(places(8));
  // The ledger does not know that the quota is so small.
  const subscription = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  const run = () =>
    harness.run({ topics: ['wildfire'], subscription, concurrency: 1 }, { baseUrl });
  const { stop, summary } = await run();
  assert.equal(stop?.reason, 'quota');
  assert.ok(summary.resume_after! < '2026-03-31T00:02', `to resume after ${summary.resume_after}`);
  harness.clock.moveTo('2026-03-31T00:02:00Z');
  assert.equal((await run()).state, 'complete');
  assert.deepEqual([late.length, late[0]!.slice(0, 16)], [1, '2026-03-31T00:00']);
});

test('a refusal by a clock that is seconds behind, right after the anniversary, does not close the new period', async (t) => {
  const { harness, baseUrl } = await openStillHarness(t, '2026-03-30T23:50:00Z', 10, 20_000);
  harness.writeInput(places(15));
  const run = () => harness.run({ topics: ['wildfire'] }, { baseUrl });
  const first = await run();
  assert.deepEqual(
    [first.stop?.reason, first.summary.resume_after],
    ['quota', '2026-03-31T00:00:00.000Z'],
  );
  // A scheduler starts the run again at the very time that `status` and --json name.
  harness.clock.moveTo('2026-03-31T00:00:01Z');
  const second = await run();
  assert.deepEqual(
    [second.stop?.reason, second.summary.resume_after],
    ['quota', '2026-03-31T00:01:00.000Z'],
  );
  // Ten minutes later both clocks are in the new period.
  harness.clock.moveTo('2026-03-31T00:10:00Z');
  assert.equal((await run()).state, 'complete');
  assert.equal(harness.charged(), 15);
});

const [HOUR, DAY] = [3_600_000, 86_400_000];
const TOPICS = ['ozone', 'wildfire', 'park'];

/** A service whose clock is right, and a buyer whose clock is set. */
async function wrongClock(
  t: TestContext,
  now: string,
  cells: number,
  perMonth = 100_000,
  overages = false,
) {
  const [start, factor] = [Date.parse(now), 20];
  const right = new FastClock(start, factor);
  const clock = new JumpingClock(start, factor, right);
  const subscription = customSubscription(perMonth, 100_000);
  const harness = await openHarness(t, {
    subscription,
    clock,
    service: { clock: right },
    overages,
  });
  harness.writeInput(places(cells));
  return { harness, right, clock, run: harness.run };
}

for (const back of [2 * HOUR, 40 * DAY]) {
  test(`the clock is set back by ${back / HOUR} hours in mid-run, beyond a time to live: nothing is bought again`, async (t) => {
    const { harness, clock, run } = await wrongClock(t, '2026-03-15T12:00:00Z', 30);
    const progress = newProgress();
    const running = run(
      { topics: TOPICS, concurrency: 3, time_to_live: { ozone: '1h' } },
      { progress },
    );
    while (progress.calls < 15) await delay(1);
    clock.jump(-back);
    assert.equal((await running).state, 'complete');
    assert.deepEqual(new Set(column(harness.output(), 'hazard_status')), new Set(['ok']));
    assert.equal(harness.charged(), 90);
    for (const jump of [0, back]) {
      clock.jump(jump);
      assert.equal(
        (await run({ topics: TOPICS, time_to_live: { ozone: '1h' } })).state,
        'complete',
      );
      assert.equal(
        harness.charged(),
        90,
        jump === 0 ? 'while it was back' : 'when it was right again',
      );
    }
  });
}

for (const [what, ahead] of [
  ['27 years behind', -27 * 365 * DAY],
  ['a day ahead', DAY],
] as const) {
  test(`a clock that is ${what}: answers have the service's time, and are not bought again when the clock is right`, async (t) => {
    const { harness, clock, run } = await wrongClock(t, '2026-03-15T12:00:00Z', 10);
    const job = { topics: ['wildfire', 'park'], time_to_live: { wildfire: '90d', park: '90d' } };
    clock.jump(ahead);
    for (const jump of [0, 0, -ahead]) {
      clock.jump(jump);
      assert.equal((await run(job)).state, 'complete');
      assert.equal(harness.charged(), 20);
      for (const asOf of column(harness.output(), 'hazard_as_of'))
        assert.match(asOf, /^2026-03-15T12:/);
    }
    const { credits_available } = await harness.plan(job);
    assert.equal(credits_available, 100_000 - 20, 'the charges are in the period of the service');
  });
}

test('the clock is set forward while the service asks to slow down: the run does not take it for ten minutes', async (t) => {
  const { harness, clock, run } = await wrongClock(t, '2026-03-15T12:00:00Z', 10);
  let asked = 0;
  const baseUrl = await standBetween(t, harness.url, (_, answer) => {
    if (++asked === 3) clock.jump(5 * HOUR);
    return asked > 6 ? answer : { status: 429, body: '{"error":{"code":"RATE_LIMITED"}}' };
  });
  const { state } = await run({ topics: ['wildfire'], concurrency: 2 }, { baseUrl });
  // The first six were refused on the way back from the service.
  assert.deepEqual([state, asked, harness.charged()], ['complete', 16, 16]);
});

test('an hour slow over the anniversary: what is bought counts in the new period, and no more is spent in it than its quota', async (t) => {
  const { harness, right, clock, run } = await wrongClock(t, '2026-03-31T00:05:00Z', 30, 20, true);
  clock.jump(-HOUR);
  const first = await run({ topics: ['wildfire'] });
  assert.deepEqual([first.stop?.reason, harness.charged()], ['quota', 20]);
  assert.match(
    harness.notices.join('\n'),
    /The service's clock says 2026-03-31 00:\d\d UTC, this machine's 2026-03-30 23:\d\d UTC/,
  );
  // The service would go on and bill overage: only the ledger stops.
  clock.jump(HOUR);
  const second = await run({ topics: ['wildfire'] });
  assert.deepEqual([second.stop?.reason, harness.charged()], ['quota', 20]);
  assert.equal(usage(harness.accounts, 'harness', right.now()).creditsCharged, 20);
});

for (const ahead of [DAY, 40 * DAY]) {
  test(`the clock is set forward by ${ahead / DAY} days in mid-run, beyond the anniversary: no more is spent than one quota, in this run or the next`, async (t) => {
    const { harness, clock, run } = await wrongClock(t, '2026-03-30T12:00:00Z', 60, 20, true);
    const progress = newProgress();
    const running = run({ topics: ['wildfire'], concurrency: 2 }, { progress });
    while (progress.calls < 5) await delay(1);
    clock.jump(ahead);
    assert.deepEqual([(await running).stop?.reason, harness.charged()], ['quota', 20]);
    clock.jump(-ahead);
    assert.equal((await run({ topics: ['wildfire'] })).stop?.reason, 'quota');
    assert.equal(harness.charged(), 20);
  });
}

test('a month that a clock a day fast has booked: the message says so, and names what corrects it', async (t) => {
  const { harness, right, clock, run } = await wrongClock(t, '2026-03-30T12:00:00Z', 30, 20);
  clock.jump(DAY);
  assert.equal((await run({ topics: ['wildfire'] })).stop?.reason, 'quota');
  assert.equal(harness.charged(), 20);
  clock.jump(-DAY);
  const { stop: early } = await run({ topics: ['wildfire'] });
  assert.match(
    early!.message,
    /20 credits are counted in later periods: a clock was ahead, or the anniversary day was another/,
  );
  right.moveTo('2026-03-31T12:00:00Z');
  clock.jump(DAY);
  const { stop } = await run({ topics: ['wildfire'] });
  assert.equal(
    stop?.reason,
    'quota',
    'the ledger has the credits in April, the provider had them in March',
  );
  assert.match(
    stop.message,
    /If the provider raised the quota, or its page shows credits left: perilbook quota set --account \S+ --left N\./,
  );
  assert.equal(harness.charged(), 20);
});

for (const ahead of [36 * HOUR, -36 * HOUR, 40 * DAY, 5_000 * 365 * DAY]) {
  test(`a service whose clock is ${ahead / HOUR} hours off: no more is spent than the quota, in this run or the next`, async (t) => {
    const [start, factor] = [Date.UTC(2026, 2, ahead < 0 ? 31 : 30, 12), 20];
    const clock = new FastClock(start, factor);
    const service = { clock: new FastClock(start + ahead, factor, clock) };
    const harness = await openHarness(t, {
      ...{
        subscription: customSubscription(20, 100_000),
        clock,
        overages: true,
        service,
      },
    });
    harness.writeInput(places(60));
    const stops: unknown[] = [];
    for (let nth = 0; nth < 2; nth++)
      stops.push((await harness.run({ topics: ['wildfire'] })).stop?.reason);
    assert.deepEqual([stops, harness.charged()], [['quota', 'quota'], 20]);
    assert.ok(harness.notices.every((text) => text.startsWith("The service's clock says")));
  });
}
