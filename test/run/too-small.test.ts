import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { newProgress } from '../../src/run/buy/progress.ts';
import { openHarness, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

for (const [name, perMonth, extra] of [
  ['a bundle dearer than a whole period', 14, {}],
  ['a reserve as large as the allowance', 100, { reserve: 100 }],
] as const) {
  test(`a run does not wait for ever where no period can pay: ${name}`, async (t) => {
    const harness = await openHarness(t, { subscription: customSubscription(perMonth, 100_000) });
    harness.writeInput(places(2));
    const keys = [{ ...harness.key('bundle'), scopes: new Set(['bundle']) }];
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
    const { stop, state } = await harness.run(
      { topics: natural, on_quota: 'wait', ...extra },
      { keys, interrupt: interruption.signal, progress },
    );
    assert.deepEqual([state, stop?.reason, periods], ['paused', 'quota', 1]);
    assert.match(stop!.message, /^A whole period does not pay/);
    assert.equal(harness.charged(), 0);
  });
}

test('a minute that is smaller than a bundle: the topics are bought one by one', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 10), factor: 50 });
  harness.writeInput(places(2));
  const planned = await harness.plan({ topics: natural });
  const ended = await harness.run({ topics: natural });
  assert.deepEqual([ended.state, planned.credits, harness.charged()], ['complete', 34, 34]);
});

test('a minute that is smaller than a bundle, and a key for bundles only: refused before a run begins', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 10) });
  harness.writeInput(places(2));
  const keys = [{ ...harness.key('bundle'), scopes: new Set(['bundle']) }];
  await assert.rejects(harness.run({ topics: natural }, { keys }));
  assert.deepEqual(await harness.store.runs(), []);
});

test('a pool with one account of a small minute: another buys the bundles', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(1_000, 10) });
  harness.addAccount('other', customSubscription(1_000, 100_000));
  harness.writeInput(places(4));
  const subscription = { credits_per_month: 1_000, credits_per_minute: 100_000 };
  const other = { env: 'B', account: 'other', subscription, anniversary_day: 20 };
  const service = { base_url: harness.url, api_keys: [{ env: 'A' }, other] };
  const keys = [harness.key(), { ...harness.keyOf('other'), account: 'other' }];
  const { state } = await harness.run({ topics: natural, service }, { keys });
  assert.deepEqual([state, harness.charged(), harness.charged('other')], ['complete', 0, 60]);
});
