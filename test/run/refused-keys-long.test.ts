import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { revokeKey } from '../service/file-accounts.ts';
import { standBetween } from './between.ts';
import { type Harness, openHarness, places } from './harness.ts';

const SOCKETS = 8;
/** More than are at work at once, and than 300 credits buy bundles for. */
const CELLS = 34;
const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** Counts what the service answers, by status. */
async function counted(t: TestContext, harness: Harness, alter: (address: string) => number | null = () => null) {
  const statuses: Record<number, number> = {};
  const baseUrl = await standBetween(t, harness.url, (address, answer) => {
    const status = alter(address) ?? answer.status;
    statuses[status] = (statuses[status] ?? 0) + 1;
    return status === answer.status ? answer : { status, body: '{"error":{"code":"NO","message":"no"}}' };
  });
  return { baseUrl, statuses };
}

for (const perMinute of [300, 100_000]) {
  test(`the first of two keys is revoked, ${perMinute} credits a minute: refused for the calls in flight at most`, async (t) => {
    const harness = await openHarness(t, { subscription: customSubscription(100_000, perMinute), factor: 60 });
    harness.writeInput(places(CELLS));
    const [dead, good] = [harness.key(), harness.key()];
    revokeKey(harness.accounts, dead.id, harness.clock);
    const { baseUrl, statuses } = await counted(t, harness);
    const ended = await harness.run({ topics: [...natural], concurrency: SOCKETS }, { keys: [dead, good], baseUrl });
    assert.deepEqual([ended.state, harness.charged()], ['complete', CELLS * 15]);
    assert.ok(statuses[401]! >= 1 && statuses[401]! <= SOCKETS, `${statuses[401]} requests with the dead key`);
    assert.deepEqual([statuses[200], statuses[429] ?? 0], [CELLS, 0]);
  });
}

test('three dead keys before a good one: only the first is refused for the calls in flight, each other once', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(30));
  const dead = [harness.key(), harness.key(), harness.key()];
  for (const { id } of dead) revokeKey(harness.accounts, id, harness.clock);
  const { baseUrl, statuses } = await counted(t, harness);
  const settings = { topics: ['wildfire'], concurrency: SOCKETS };
  const ended = await harness.run(settings, { keys: [...dead, harness.key()], baseUrl });
  assert.deepEqual([ended.state, harness.charged()], ['complete', 30]);
  assert.ok(statuses[401]! <= SOCKETS + 2, `${statuses[401]} requests with dead keys`);
});

test('a service that refuses every scope (403) is asked for the calls in flight, then once for each scope', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(12));
  const { baseUrl, statuses } = await counted(t, harness, () => 403);
  const ended = await harness.run({ topics: ['all'], concurrency: SOCKETS, budget: 10_000 }, { baseUrl });
  assert.deepEqual([ended.state, ended.stop?.reason], ['stopped', 'keys']);
  assert.ok(statuses[403]! <= SOCKETS + 37, `${statuses[403]} requests`);
  assert.deepEqual(await harness.ledger(), { charged: 0, unknown: 0, open: 0 });
});

test('a key that lost the bundle in the middle of a run: the rest is bought as singles, and refused little', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(20));
  let bundles = 0;
  const { baseUrl, statuses } = await counted(t, harness, (address) =>
    address.includes('/bundle/') && ++bundles > 10 ? 403 : null,
  );
  const settings = { topics: natural.slice(0, 16), concurrency: SOCKETS };
  const ended = await harness.run(settings, { baseUrl });
  assert.equal(ended.state, 'complete');
  assert.ok(statuses[403]! <= SOCKETS, `${statuses[403]} requests`);
});

test('the calls that wait for an account whose key is dead go to the other account, within its minute', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100_000, 20), factor: 60 });
  harness.addAccount('other', customSubscription(100_000, 20));
  harness.writeInput(places(CELLS));
  const dead = harness.keyOf('other');
  revokeKey(harness.accounts, dead.id, harness.clock);
  const subscription = { credits_per_month: 100_000, credits_per_minute: 20 };
  const other = { env: 'B', account: 'other', subscription, anniversary_day: 20 };
  const { baseUrl, statuses } = await counted(t, harness);
  const service = { base_url: harness.url, api_keys: [other, { env: 'A' }] };
  const keys = [{ ...dead, account: 'other', scopes: new Set(['wildfire']) }, harness.key()];
  const ended = await harness.run({ topics: ['wildfire'], service, concurrency: SOCKETS }, { keys, baseUrl });
  assert.deepEqual([ended.state, harness.charged('other'), harness.charged()], ['complete', 0, CELLS]);
  assert.ok(statuses[401]! <= SOCKETS, `${statuses[401]} requests with the dead key`);
  assert.deepEqual([statuses[200], statuses[429] ?? 0], [CELLS, 0]);
});
