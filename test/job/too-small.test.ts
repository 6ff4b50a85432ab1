import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { newProgress } from '../../src/job/buying/progress.ts';
import { openDesk, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

for (const [name, perMonth, extra] of [
  ['a bundle dearer than a whole period', 14, {}],
  ['a reserve as large as the allowance', 100, { reserve: 100 }],
] as const) {
  test(`a run does not wait for ever where no period can pay: ${name}`, async (t) => {
    const desk = await openDesk(t, { subscription: customSubscription(perMonth, 100_000) });
    desk.book(places(2));
    const keys = [{ ...desk.key('bundle'), scopes: new Set(['bundle']) }];
    const interruption = new AbortController();
    const progress = newProgress();
    let [periods, until] = [0, 0];
    Object.defineProperty(progress, 'waitingUntil', {
      get: () => until,
      set(value: number) {
        until = value;
        if (value > 0 && ++periods === 5) interruption.abort();
      },
    });
    const { stop, state } = await desk.run(
      { topics: natural, on_quota: 'wait', ...extra },
      { keys, interrupt: interruption.signal, progress },
    );
    assert.deepEqual([state, stop?.reason, periods], ['paused', 'quota', 1]);
    assert.match(stop!.message, /^A whole period does not pay/);
    assert.equal(desk.charged(), 0);
  });
}

test('a minute that is smaller than a bundle: the topics are bought one by one', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(1_000, 10), factor: 200 });
  desk.book(places(2));
  const planned = await desk.plan({ topics: natural });
  const ended = await desk.run({ topics: natural });
  assert.deepEqual([ended.state, planned.credits, desk.charged()], ['complete', 34, 34]);
});

test('a minute that is smaller than a bundle, and a key for bundles only: refused before a run begins', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(1_000, 10) });
  desk.book(places(2));
  const keys = [{ ...desk.key('bundle'), scopes: new Set(['bundle']) }];
  await assert.rejects(desk.run({ topics: natural }, { keys }));
  assert.deepEqual(await desk.store.runs(), []);
});

test('a pool with one account of a small minute: another buys the bundles', async (t) => {
  const desk = await openDesk(t, { subscription: customSubscription(1_000, 10) });
  desk.addAccount('other', customSubscription(1_000, 100_000));
  desk.book(places(4));
  const subscription = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  const other = { env: 'B', account: 'other', subscription, anniversary_day: 20 };
  const service = { base_url: desk.url, api_keys: [{ env: 'A' }, other] };
  const keys = [desk.key(), { ...desk.keyOf('other'), account: 'other' }];
  const { state } = await desk.run({ topics: natural, service }, { keys });
  assert.deepEqual([state, desk.charged(), desk.charged('other')], ['complete', 0, 60]);
});
