import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import type { Settlement } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { forAnotherPlace, standBetween } from './between.ts';
import { type Harness, openHarness, places } from './harness.ts';

const natural = NATURAL_SLUGS.filter((slug) => slug !== 'avalanche');

/** Calls of a kind at one place are answered for another place: paid, and of no use, each time they are made. */
async function withBadPlace(t: TestContext, { url }: Harness, kind: string, lat: number) {
  const calls = { atBadPlace: 0 };
  const baseUrl = await standBetween(t, url, (address, answer) => {
    if (answer.status !== 200 || !address.includes(`/${kind}`) || !address.includes(`lat=${lat}&`)) return answer;
    calls.atBadPlace++;
    return forAnotherPlace(answer);
  });
  return { calls, baseUrl };
}

/** Bundles are paid by `harness`; `park`, a single, by `other`, which has 3 credits. */
async function withTwoPayers(t: TestContext) {
  const harness = await openHarness(t, { subscription: customSubscription(10_000, 100_000) });
  harness.addAccount('other', customSubscription(3, 100_000));
  const keys = [
    { ...harness.key('bundle'), scopes: new Set(['bundle']) },
    { ...harness.keyOf('other', 'park'), account: 'other', scopes: new Set(['park']) },
  ];
  const subscription = { credits_per_month: 3, credits_per_minute: 100_000 };
  const api_keys = [
    { env: 'A', scopes: ['bundle' as const] },
    { env: 'B', scopes: ['park' as const], account: 'other', subscription, anniversary_day: 20 },
  ];
  const topics = [...natural, 'park' as const];
  return {
    harness,
    keys,
    job: (baseUrl: string) => ({ topics, service: { base_url: baseUrl, api_keys }, concurrency: 1 }),
  };
}

test('no cell is begun by one account when the other that it needs is empty', async (t) => {
  const { harness, keys, job } = await withTwoPayers(t);
  harness.writeInput(places(100));
  const { stop, summary } = await harness.run(job(harness.url), { keys });
  assert.deepEqual([stop?.reason, summary.status.ok, harness.charged('other')], ['quota', 3, 3]);
  // Besides the three there were at most those in work when it was noticed: four a socket.
  assert.ok(harness.charged() <= (3 + 4) * 15, `${harness.charged()} credits for three cells`);
});

test('a bundle that was paid and of no use is not bought again while a single waits for another account', async (t) => {
  const { harness, keys, job } = await withTwoPayers(t);
  const all = places(40);
  harness.writeInput(all);
  const { calls, baseUrl } = await withBadPlace(t, harness, 'bundle/', Number(all[2]![0].toFixed(4)));
  const { stop } = await harness.run(job(baseUrl), { keys, baseUrl });
  assert.equal(stop?.reason, 'quota');
  assert.equal(calls.atBadPlace, 1);
});

test('a bundle that was paid and of no use is not bought again when another run is at the cell in between', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  const [place] = places(1) as [[number, number]];
  harness.writeInput([place]);
  const { calls, baseUrl } = await withBadPlace(t, harness, 'bundle/', place[0]);
  const other = openSqliteStore(join(harness.folder, 'store.db'), harness.clock, {
    name: 'another',
    isAlive: () => true,
  });
  t.after(() => other.close());
  const source = await harness.store.source('harness');
  const words = { job: 'other', input: 'x', output: 'y', account: 'embedded', plannedCredits: 0, budget: 1_000 };
  const run = await other.startRun(words);
  const cell = { lat7: Math.round(place[0] * 1e7), lng7: Math.round(place[1] * 1e7) };
  /** Another run takes its turn at the cell, for some seconds. */
  const takeTurn = async () => {
    const period = billingPeriod(31, harness.clock.now());
    const limits = { periodLimit: 100_000, creditsPerMinute: 100_000, budget: 1_000, leaseMs: 220_000 };
    const wanted = [{ topic: 'radon' as const, freshSince: harness.clock.now() }];
    const request = { cell, call: { kind: 'single', topic: 'radon' }, credits: 1, key: 'k', wanted } as const;
    const [claim] = await other.claim({ run, source, account: 'embedded', period, ...limits }, [request]);
    assert.ok(claim?.outcome === 'granted');
    await harness.clock.sleep(3_000);
    const free = { charge: 'free', credits: 0, period, outcome: 'test', answers: [], failures: [] } as const;
    await other.settle([{ call: claim.call, ...free }]);
  };
  let turns = 0;
  let turn: Promise<void> = Promise.resolve();
  const { settle } = harness.store;
  const withTurns = async (settlements: readonly Settlement[]) => {
    await settle(settlements);
    if (++turns <= 3) turn = takeTurn();
  };
  Object.assign(harness.store, { settle: withTurns });
  const ended = await harness.run({ topics: [...natural, 'park'], budget: 200 }, { baseUrl });
  await turn;
  assert.equal(calls.atBadPlace, 1);
  assert.equal(ended.summary.credits_spent, harness.charged());
});

test('an area that was mismatched before the run is no reason to pay again in it for what was of no use', async (t) => {
  const harness = await openHarness(t);
  // Ten places of one tract, and four of another county that claim to lie in it.
  const others = places(4).map(([lat, lng]): [number, number] => [lat + 0.3, lng + 1.4]);
  const all = [...places(10), ...others];
  const rows = all.map(([lat, lng]) => `${lat},${lng},31001000100\n`);
  writeFileSync(join(harness.folder, 'input.csv'), `lat,lng,TRACT_GEOID\n${rows.join('')}`);
  const { calls, baseUrl } = await withBadPlace(t, harness, 'hail/', Number(all[3]![0].toFixed(4)));
  const job = { areas: { tract: 'TRACT_GEOID', verify: 1 }, counts: false, budget: 100 };
  await harness.run({ topics: ['drought'], ...job }, { baseUrl });
  assert.match(harness.notices.join('\n'), /answered differently/);
  await harness.run({ topics: ['hail'], ...job }, { baseUrl });
  assert.equal(calls.atBadPlace, 1);
});
