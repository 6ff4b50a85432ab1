import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { billingPeriod, refusalHoldsUntil } from '../../src/contract/billing-period.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { type Fault, openFaultProxy } from '../faults/fault-proxy.ts';
import { LeapingClock } from '../faults/leaping-clock.ts';
import { releaseLater } from '../service/small-data.ts';
import { type HarnessOptions, openHarness, places } from './harness.ts';

test('a refusal holds until the anniversary behind the moment it was asked for; right behind one, for a minute', () => {
  const at = (time: string) => new Date(refusalHoldsUntil(31, Date.parse(time))).toISOString();
  assert.equal(at('2026-03-30T23:59:59Z'), '2026-03-31T00:00:00.000Z');
  assert.equal(at('2026-03-31T00:00:00Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:00:59.999Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:01:00Z'), '2026-04-30T00:00:00.000Z');
  assert.equal(billingPeriod(31, Date.parse('2026-03-31T00:01:00Z')).end, Date.parse('2026-04-30T00:00:00Z'));
});

const QUIET_TURNS = 30;

/** A harness on a clock that stands still while anything happens, so that no machine is too slow for it, and the address of
 * its service behind a proxy that tells the clock of all that passes. */
async function openStillHarness(t: TestContext, start: string, options: HarnessOptions, act: Fault['act']) {
  const clock = new LeapingClock(start, QUIET_TURNS);
  const harness = await openHarness(t, { ...options, clock });
  const proxy = await openFaultProxy({ service: harness.url, clock });
  releaseLater(t, () => proxy.close());
  proxy.disturb(() => ({ name: 'test', act }));
  return { harness, clock, baseUrl: proxy.url };
}

test('a refusal that was asked for before the anniversary holds until then, however late it arrives', async (t) => {
  const late: string[] = [];
  const options = { subscription: customSubscription(5, 100_000) };
  const { harness, baseUrl } = await openStillHarness(t, '2026-03-30T23:59:55Z', options, async (passage) => {
    const said = await passage.ask();
    if (said.status === 429) {
      await passage.clock.sleep(15_000);
      late.push(new Date(passage.clock.now()).toISOString());
    }
    passage.answer(said);
  });
  harness.writeInput(places(8));
  // The ledger does not know that the quota is so small.
  const subscription = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  const run = () => harness.run({ topics: ['wildfire'], subscription, concurrency: 1 }, { baseUrl });
  const { stop, summary } = await run();
  assert.equal(stop?.reason, 'quota');
  assert.ok(summary.resume_after! < '2026-03-31T00:02', `to resume after ${summary.resume_after}`);
  harness.clock.moveTo('2026-03-31T00:02:00Z');
  assert.equal((await run()).state, 'complete');
  assert.deepEqual([late.length, late[0]!.slice(0, 16)], [1, '2026-03-31T00:00']);
});

test('a refusal by a clock that is seconds behind, right after the anniversary, does not close the new period', async (t) => {
  const clock = new LeapingClock('2026-03-30T23:50:00Z', QUIET_TURNS);
  const provider = { now: () => clock.now() - 20_000, sleep: (ms: number) => clock.sleep(ms) };
  const harness = await openHarness(t, {
    subscription: customSubscription(10, 100_000),
    clock,
    service: { clock: provider },
  });
  harness.writeInput(places(15));
  const proxy = await openFaultProxy({ service: harness.url, clock });
  releaseLater(t, () => proxy.close());
  const run = () => harness.run({ topics: ['wildfire'] }, { baseUrl: proxy.url });
  const first = await run();
  assert.deepEqual([first.stop?.reason, first.summary.resume_after], ['quota', '2026-03-31T00:00:00.000Z']);
  // A scheduler starts the run again at the very time that `status` and --json name.
  harness.clock.moveTo('2026-03-31T00:00:01Z');
  const second = await run();
  assert.deepEqual([second.stop?.reason, second.summary.resume_after], ['quota', '2026-03-31T00:01:00.000Z']);
  // Ten minutes later both clocks are in the new period.
  harness.clock.moveTo('2026-03-31T00:10:00Z');
  assert.equal((await run()).state, 'complete');
  assert.equal(harness.charged(), 15);
});
