import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { makeJob } from '../../src/job/settings/settings.ts';
import { revokeKey } from '../../src/service/accounts/keys.ts';
import { openDesk, places } from './harness.ts';

const fifteen = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche').slice(0, 15);

/** A service with two accounts: `desk` with 100 credits a month, and `other` with 40. */
async function twoAccounts(t: TestContext) {
  const desk = await openDesk(t, { subscription: customSubscription(100, 100_000) });
  desk.addAccount('other', customSubscription(40, 100_000));
  const service = {
    base_url: desk.url,
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
  return { desk, service };
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
  const { desk, service } = await twoAccounts(t);
  desk.book(places(10));
  const keys = [desk.key(), { ...desk.keyOf('other'), account: 'other' }];
  const planned = await desk.plan({ topics: [...fifteen], service }, keys);
  assert.deepEqual([planned.credits, planned.credits_available, planned.periods], [150, 140, 2]);
  const ended = await desk.run({ topics: [...fifteen], service }, { keys });
  // 100 credits are six bundles of one account, 40 two of the other; a bundle is not paid by two.
  assert.deepEqual([ended.stop?.reason, ended.summary.status.ok], ['quota', 8]);
  assert.deepEqual([desk.charged(), desk.charged('other')], [90, 30]);
  assert.equal(ended.summary.resume_after, '2026-03-20T00:00:00.000Z');
  desk.clock.moveTo('2026-03-20T00:00:01Z');
  const again = await desk.run({ topics: [...fifteen], service }, { keys });
  assert.deepEqual([again.state, desk.charged() + desk.charged('other')], ['complete', 150]);
});

test('an account that may buy everything is kept for what only it may buy', async (t) => {
  const { desk, service } = await twoAccounts(t);
  desk.book(places(10));
  const scopes = new Set(['wildfire']);
  const keys = [desk.key(), { ...desk.keyOf('other', 'wildfire'), account: 'other', scopes }];
  const ended = await desk.run({ topics: ['wildfire', 'hail'], service }, { keys });
  assert.deepEqual([ended.state, desk.charged(), desk.charged('other')], ['complete', 10, 10]);
});

test('a key that is rotated away in mid-run gives way to the next without losing a call', async (t) => {
  const desk = await openDesk(t, { factor: 20 });
  desk.book(places(300));
  const [old, next] = [desk.key(), desk.key()];
  let calls = 0;
  const watch = setInterval(() => {
    calls = desk.charged();
    if (calls >= 50) revokeKey(desk.accounts, old.id, desk.clock);
  }, 1);
  const ended = await desk.run({ topics: ['wildfire'] }, { keys: [old, next] }).finally(() => clearInterval(watch));
  assert.deepEqual([ended.state, ended.summary.status.ok, desk.charged()], ['complete', 300, 300]);
  assert.match(desk.notices.join('\n'), /is refused \(401\)/);
  assert.deepEqual(await desk.ledger(), { charged: 300, unknown: 0, open: 0 });
});
