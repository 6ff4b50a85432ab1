import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { billingPeriod, refusalHoldsUntil } from '../../src/contract/billing-period.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { FastClock } from '../fast-clock.ts';
import { standBetween } from './between.ts';
import { openDesk, places } from './desk.ts';

test('a refusal holds until the anniversary behind the moment it was asked for; right behind one, for a minute', () => {
  const at = (time: string) => new Date(refusalHoldsUntil(31, Date.parse(time))).toISOString();
  assert.equal(at('2026-03-30T23:59:59Z'), '2026-03-31T00:00:00.000Z');
  assert.equal(at('2026-03-31T00:00:00Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:00:59.999Z'), '2026-03-31T00:01:00.000Z');
  assert.equal(at('2026-03-31T00:01:00Z'), '2026-04-30T00:00:00.000Z');
  assert.equal(billingPeriod(31, Date.parse('2026-03-31T00:01:00Z')).end, Date.parse('2026-04-30T00:00:00Z'));
});

/** `other` (40 credits, resets on the 20th) is empty within the first seconds; `desk` (60, resets on the 31st) pays on, slowly,
 * over the midnight before the 20th. */
async function overMidnight(t: TestContext, onQuota: 'stop' | 'wait') {
  const desk = await openDesk(t, {
    subscription: customSubscription(60, 15),
    start: '2026-03-19T12:00:00Z',
    factor: 60,
  });
  desk.addAccount('other', customSubscription(40, 100_000));
  desk.book(places(130));
  const subscription = { credits_per_month: 40, credits_per_minute: 100_000 };
  const other = { env: 'B', account: 'other', subscription, anniversary_day: 20 };
  const service = { base_url: desk.url, api_keys: [other, { env: 'A' }] };
  const keys = [{ ...desk.keyOf('other'), account: 'other' }, desk.key()];
  desk.clock.moveTo('2026-03-19T23:57:45Z');
  const { state } = await desk.run({ topics: ['wildfire'], service, on_quota: onQuota, budget: 500 }, { keys });
  const ended = new Date(desk.clock.now()).toISOString();
  assert.ok(ended > '2026-03-20T00:00:10', `it was over before midnight: ${ended}`);
  return { state, ended, charged: [desk.charged('other'), desk.charged()] };
}

test('an account whose quota resets while another still pays is used again', async (t) => {
  const { state, charged } = await overMidnight(t, 'stop');
  const [other, desk] = charged as [number, number];
  assert.deepEqual([state, other + desk], ['complete', 130]);
  // Which of the two pays in the seconds after midnight depends on how fast the machine is.
  assert.ok(other >= 70 && other <= 80, `${other} credits of the account that was reset`);
});

test('a run that waits for the quota does not sleep for days while an account has a whole one', async (t) => {
  const { state, ended } = await overMidnight(t, 'wait');
  assert.equal(state, 'complete');
  assert.ok(ended < '2026-03-21', `it was done on ${ended}`);
});

test('a refusal that was asked for before the anniversary is waited for until then, however late it arrives', async (t) => {
  const desk = await openDesk(t, {
    subscription: customSubscription(5, 100_000),
    start: '2026-03-30T12:00:00Z',
    factor: 20,
  });
  desk.book(places(8));
  const baseUrl = await standBetween(t, desk.url, async (_, answer) => {
    if (answer.status === 429) await desk.clock.sleep(15_000);
    return answer;
  });
  // The ledger does not know that the quota is so small.
  const subscription = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  desk.clock.moveTo('2026-03-30T23:59:45Z');
  const { state } = await desk.run({ topics: ['wildfire'], subscription, on_quota: 'wait', sockets: 1 }, { baseUrl });
  const ended = new Date(desk.clock.now()).toISOString();
  assert.equal(state, 'complete');
  assert.ok(ended < '2026-04-02', `it was done on ${ended}`);
});

test('a refusal by a clock that is seconds behind, right after the anniversary, does not close the new period', async (t) => {
  const [start, factor, origin] = [Date.parse('2026-03-30T23:50:00Z'), 5, Date.now()];
  const provider = new FastClock(start - 20_000, factor, origin);
  const desk = await openDesk(t, {
    subscription: customSubscription(10, 100_000),
    clock: { start, factor, origin },
    service: { clock: provider },
  });
  desk.book(places(15));
  const first = await desk.run({ topics: ['wildfire'] });
  assert.deepEqual([first.stop?.reason, first.summary.resume_after], ['quota', '2026-03-31T00:00:00.000Z']);
  // A scheduler starts the run again at the very time that `status` and --json name.
  desk.clock.moveTo('2026-03-31T00:00:01Z');
  provider.moveTo('2026-03-30T23:59:41Z');
  const second = await desk.run({ topics: ['wildfire'] });
  assert.deepEqual([second.stop?.reason, second.summary.resume_after], ['quota', '2026-03-31T00:01:00.000Z']);
  // Ten minutes later both clocks are in the new period.
  desk.clock.moveTo('2026-03-31T00:10:00Z');
  provider.moveTo('2026-03-31T00:09:40Z');
  assert.equal((await desk.run({ topics: ['wildfire'] })).state, 'complete');
  assert.equal(desk.charged(), 15);
});
