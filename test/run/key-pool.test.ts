import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { makeJob } from '../../src/run/settings/settings.ts';
import { revokeKey } from '../service/file-accounts.ts';
import { LONG } from '../tier.ts';
import { openHarness, places } from './harness.ts';

const fifteen = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche').slice(0, 15);

/** A service with two accounts: `harness` with 100 credits a month, and `other` with 40. */
async function twoAccounts(t: TestContext) {
  const harness = await openHarness(t, { subscription: customSubscription(100, 100_000) });
  harness.addAccount('other', customSubscription(40, 100_000));
  const service = {
    base_url: harness.url,
    api_keys: [
      { env: 'A' },
      {
        env: 'B',
        account: 'other',
        subscription: { credits_per_month: 40, credits_per_minute: 100_000 },
        anniversary_day: 20,
      },
    ],
  };
  return { harness, service };
}

test('the accounts of a job are those that its keys name', () => {
  const job = makeJob(
    [
      {
        input: 'x',
        account: 'one',
        service: {
          base_url: 'https://h.example',
          api_keys: [{ env: 'A' }, { env: 'B', account: 'two', subscription: 'professional', anniversary_day: 7 }],
        },
      },
    ],
    { dataFolder: '/d', workingFolder: '/w' },
  );
  assert.deepEqual(
    job.accounts.map(({ name, subscription, anniversaryDay }) => [name, subscription.name, anniversaryDay]),
    [
      ['one', 'starter', 1],
      ['two', 'professional', 7],
    ],
  );
});

test('calls are spread over what each account may pay, to the last credit of both', async (t) => {
  const { harness, service } = await twoAccounts(t);
  harness.writeInput(places(10));
  const keys = [harness.key(), { ...harness.keyOf('other'), account: 'other' }];
  const planned = await harness.plan({ topics: [...fifteen], service }, keys);
  assert.deepEqual([planned.credits, planned.credits_available, planned.periods], [150, 140, 2]);
  const ended = await harness.run({ topics: [...fifteen], service }, { keys });
  // 100 credits are six bundles of one account, 40 two of the other; a bundle is not paid by two.
  assert.deepEqual([ended.stop?.reason, ended.summary.status.ok], ['quota', 8]);
  assert.deepEqual([harness.charged(), harness.charged('other')], [90, 30]);
  assert.equal(ended.summary.resume_after, '2026-03-20T00:00:00.000Z');
  harness.clock.moveTo('2026-03-20T00:00:01Z');
  const again = await harness.run({ topics: [...fifteen], service }, { keys });
  assert.deepEqual([again.state, harness.charged() + harness.charged('other')], ['complete', 150]);
});

test('an account that may buy everything is kept for what only it may buy', async (t) => {
  const { harness, service } = await twoAccounts(t);
  harness.writeInput(places(10));
  const scopes = new Set(['wildfire']);
  const keys = [harness.key(), { ...harness.keyOf('other', 'wildfire'), account: 'other', scopes }];
  const ended = await harness.run({ topics: ['wildfire', 'hail'], service }, { keys });
  assert.deepEqual([ended.state, harness.charged(), harness.charged('other')], ['complete', 10, 10]);
});

test('a key that is rotated away in mid-run gives way to the next without losing a call', LONG, async (t) => {
  const harness = await openHarness(t, { factor: 20 });
  harness.writeInput(places(300));
  const [old, next] = [harness.key(), harness.key()];
  let calls = 0;
  const watch = setInterval(() => {
    calls = harness.charged();
    if (calls >= 50) revokeKey(harness.accounts, old.id, harness.clock);
  }, 1);
  const ended = await harness.run({ topics: ['wildfire'] }, { keys: [old, next] }).finally(() => clearInterval(watch));
  assert.deepEqual([ended.state, ended.summary.status.ok, harness.charged()], ['complete', 300, 300]);
  assert.match(harness.notices.join('\n'), /is refused \(401\)/);
  assert.deepEqual(await harness.ledger(), { charged: 300, unknown: 0, open: 0 });
});
