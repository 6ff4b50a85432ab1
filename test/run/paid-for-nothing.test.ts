import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { billingPeriod } from '../../src/contract/billing-period.ts';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { newProgress } from '../../src/run/progress.ts';
import type { Settlement } from '../../src/store/ledger/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { forAnotherPlace, standBetween } from '../fake-service.ts';
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

test('a bundle that was paid and of no use is not bought again when another run is at the cell in between', async (t) => {
  const harness = await openHarness(t, { factor: 50 });
  const [place] = places(1) as [[number, number]];
  harness.writeInput([place]);
  const { calls, baseUrl } = await withBadPlace(t, harness, 'bundle/', place[0]);
  const owner = { name: 'another', isAlive: () => true };
  const other = openSqliteStore(join(harness.folder, 'store.db'), harness.clock, owner);
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

test('what calls cost is told, also where their answers cannot be stored', async (t) => {
  const harness = await openHarness(t);
  harness.writeInput(places(1));
  Object.assign(harness.store, { settle: () => Promise.reject(new Error('the disk is full')) });
  const progress = newProgress();
  await assert.rejects(harness.run({ topics: 'radon' }, { progress }), /the disk is full/);
  assert.deepEqual([progress.creditsSpent, harness.charged()], [1, 1]);
});
