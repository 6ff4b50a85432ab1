import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { payCall } from '../../src/run/buy/pay-call.ts';
import { BEGIN_WITHIN_MS, LEASE_MS } from '../../src/run/frame/account-state.ts';
import type { ClaimLimits, Settlement } from '../../src/store/ledger/port.ts';
import type { Store } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite-store.ts';
import { openHarness, places } from './harness.ts';

test('a call whose claim was granted long ago is not sent: another process may have bought it since', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  const { clock, folder } = harness;
  harness.writeInput(places(1));
  const own = openSqliteStore(join(folder, 'store.db'), clock, {
    name: 'stopped',
    isAlive: () => true,
  });
  t.after(() => own.close());
  let others = 0;
  // The process was stopped, or its database did not tell for minutes that it had granted the claim.
  const late: Store = {
    ...own,
    async claim(limits, requests) {
      const claims = await own.claim(limits, requests);
      if (others++ === 0) {
        clock.moveTo(new Date(clock.now() + LEASE_MS + 1_000).toISOString());
        await harness.run({ topics: 'hail', output: 'others.csv' });
      }
      return claims;
    },
  };
  const { summary } = await harness.run({ topics: 'hail' }, { store: late });
  assert.deepEqual(summary.status.ok, 1);
  assert.equal(harness.charged(), 1);
  const { charged, unknown, open } = await harness.ledger();
  assert.deepEqual([charged, unknown, open], [1, 0, 0]);
});

for (const [what, isLong] of [
  ['for a while', false],
  ['for more than ten minutes', true],
] as const) {
  test(`a store that cannot be written ${what}: what was bought ${isLong ? 'is told as lost' : 'is kept, and not bought again'}`, async (t) => {
    const harness = await openHarness(t, { factor: 20 });
    const { clock, store, notices } = harness;
    harness.writeInput(places(1));
    let tries = 0;
    // Each try takes four minutes.
    const held: Store = {
      ...store,
      async settle(settled) {
        if (++tries > 2 && !isLong) return await store.settle(settled);
        clock.moveTo(new Date(clock.now() + 4 * 60_000).toISOString());
        throw new PerilbookError('STORE_UNREACHABLE', 'The store is held', 'Wait.');
      },
    };
    const run = harness.run({ topics: 'hail' }, { store: held });
    if (isLong) await assert.rejects(run, { code: 'STORE_UNREACHABLE' });
    else assert.equal((await run).summary.status.ok, 1);
    assert.deepEqual(notices, [
      'The store is held. What was bought waits up to ten minutes to be written.',
    ]);
    assert.equal(tries, 3);
    await harness.run({ topics: 'hail' });
    assert.equal(harness.charged(), isLong ? 2 : 1);
  });
}

test('a settlement that fails for another reason ends the run at once', async (t) => {
  const harness = await openHarness(t, { factor: 1 });
  harness.writeInput(places(1));
  let tries = 0;
  const full: Store = {
    ...harness.store,
    async settle() {
      tries++;
      throw new PerilbookError('STORE_UNUSABLE', 'The disk is full', 'Make room.');
    },
  };
  await assert.rejects(harness.run({ topics: 'hail' }, { store: full }), {
    code: 'STORE_UNUSABLE',
  });
  assert.equal(tries, 1);
});

for (const [what, wall, steady, mayBegin] of [
  ['at once', 0, 0, true],
  ['as late as it may', BEGIN_WITHIN_MS, BEGIN_WITHIN_MS, true],
  ['later', BEGIN_WITHIN_MS + 1, BEGIN_WITHIN_MS + 1, false],
  ['after the machine was suspended', BEGIN_WITHIN_MS + 1, 0, false],
  ['later, and the clock was set back', -BEGIN_WITHIN_MS, BEGIN_WITHIN_MS + 1, false],
] as const) {
  test(`a claim that is granted ${what}: the call may begin: ${mayBegin}`, async () => {
    let [wallNow, steadyNow] = [1_000_000, 1_000];
    const clock = { now: () => wallNow, steady: () => steadyNow, sleep: async () => {} };
    const seen: boolean[] = [];
    const store = {
      async claim() {
        [wallNow, steadyNow] = [wallNow + wall, steadyNow + steady];
        return [{ outcome: 'granted', call: 1, byOthers: 0 } as const];
      },
      settle: async () => {},
    };
    const call = { kind: 'standard' } as const;
    const request = { cell: { lat7: 0, lng7: 0 }, call, credits: 15, key: 'k', wanted: [] };
    const limits = { periodLimit: 1 } as ClaimLimits;
    await payCall(
      { store, clock },
      { limits, request, expected: 15, toFields: () => [] },
      {
        async send(may) {
          seen.push(may());
          const message = 'held up';
          const unsent = { reached: 'never', code: 'CONNECT_TIMEOUT', message } as const;
          return { kind: 'failure', ...unsent, headers: {}, elapsedMs: 0 };
        },
        conclude: () => ({ settlement: {} as Settlement }),
      },
    );
    assert.deepEqual(seen, [mayBegin]);
  });
}
