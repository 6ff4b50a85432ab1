import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Scope } from '../../src/contract/credits.ts';
import { forecastPool, type PoolAccount, spread } from '../../src/plan/pool.ts';
import { fc } from '../properties.ts';

const SCOPES: readonly Scope[] = ['bundle', 'park', 'ozone'];

function account(scopes: readonly Scope[], available: number, more: Partial<PoolAccount> = {}): PoolAccount {
  return {
    available,
    perPeriod: 100,
    creditsPerMinute: 1_000,
    anniversaryDay: 1,
    may: (scope) => scopes.includes(scope),
    ...more,
  };
}

test('an account that may buy everything is not used up on what another can pay', () => {
  const accounts = [account(['bundle', 'park'], 30), account(['park'], 20)];
  const demand = new Map<Scope, number>([
    ['park', 20],
    ['bundle', 30],
  ]);
  assert.deepEqual(spread(demand, accounts, [30, 20]), { served: 50, byAccount: [30, 20] });
});

test('accounts share the connections: calls take the time of all together', () => {
  const accounts = [
    account(['park'], 600, { creditsPerMinute: 600 }),
    account(['park'], 600, { creditsPerMinute: 600 }),
  ];
  const demand = new Map<Scope, number>([['park', 1_200]]);
  assert.equal(forecastPool(demand, accounts, 0).minutes, 0);
  assert.equal(forecastPool(demand, accounts, 0, 100).minutes, 2);
});

test('no distribution pays more (exhaustive, by the cuts of the network)', () => {
  const anyAccount = fc.tuple(fc.subarray([...SCOPES]), fc.nat({ max: 9 }));
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 3 }),
      fc.array(anyAccount, { minLength: 1, maxLength: 4 }),
      (wanted, pool) => {
        const demand = new Map(SCOPES.map((scope, index) => [scope, wanted[index]!]));
        const accounts = pool.map(([scopes, available]) => account(scopes, available));
        const { served, byAccount } = spread(
          demand,
          accounts,
          pool.map(([, available]) => available),
        );
        // Max-flow is min-cut: for every set of scopes, what lies outside it plus the accounts that the set reaches.
        let least = Number.POSITIVE_INFINITY;
        for (let set = 0; set < 8; set++) {
          const inside = SCOPES.filter((_, index) => Math.floor(set / 2 ** index) % 2 === 1);
          const outside = SCOPES.filter((scope) => !inside.includes(scope)).reduce(
            (sum, scope) => sum + demand.get(scope)!,
            0,
          );
          const reached = pool.filter(([scopes]) => scopes.some((scope) => inside.includes(scope)));
          least = Math.min(least, outside + reached.reduce((sum, [, available]) => sum + available, 0));
        }
        assert.equal(served, least);
        assert.equal(
          byAccount.reduce((a, b) => a + b, 0),
          served,
        );
        assert.ok(byAccount.every((paid, index) => paid <= pool[index]![1]));
      },
    ),
    { numRuns: 500 },
  );
});

test('accounts reset on their own days', () => {
  const now = Date.UTC(2026, 2, 10);
  const accounts = [account(['park'], 10, { anniversaryDay: 20 }), account(['park'], 5, { anniversaryDay: 15 })];
  const of = (credits: number) => forecastPool(new Map([['park', credits]]), accounts, now);
  assert.deepEqual(of(15), { fits: true, minutes: 0, periods: 1, finishBy: now });
  assert.equal(of(16).finishBy, Date.UTC(2026, 2, 15));
  assert.equal(of(116).finishBy, Date.UTC(2026, 2, 20));
});

test('each account takes its own minutes in its own periods; what none may buy is never done', () => {
  const now = Date.UTC(2026, 2, 10);
  const accounts = [
    account(['park'], 10, { anniversaryDay: 20, creditsPerMinute: 5 }),
    account(['park'], 5, { anniversaryDay: 15 }),
  ];
  const of = (credits: number) => forecastPool(new Map([['park', credits]]), accounts, now);
  assert.deepEqual(of(0), { fits: true, minutes: 0, periods: 0, finishBy: now });
  assert.deepEqual(of(15), { fits: true, minutes: 1, periods: 1, finishBy: now + 60_000 });
  // The first pays 10 now and 100 from the 20th on, at 5 a minute; the second what is left.
  const reset = Date.UTC(2026, 2, 20);
  assert.deepEqual(of(120), { fits: false, minutes: 21, periods: 2, finishBy: reset + 19 * 60_000 });
  const demand = new Map<Scope, number>([
    ['park', 15],
    ['ozone', 1],
  ]);
  // In time the first could pay all 15 for parks.
  assert.deepEqual(forecastPool(demand, accounts, now), { fits: false, minutes: 2, periods: null, finishBy: null });
});

test('the day on which a pool is done is that of a naive clock that goes day by day', () => {
  const day = 86_400_000;
  const anyAccount = fc.record({
    available: fc.nat({ max: 300 }),
    perPeriod: fc.integer({ min: 20, max: 200 }),
    anniversaryDay: fc.integer({ min: 1, max: 31 }),
  });
  fc.assert(
    fc.property(
      fc.nat({ max: 2_000 }),
      fc.array(anyAccount, { minLength: 2, maxLength: 3 }),
      fc.integer({ min: 0, max: 3_650 }),
      (credits, pool, today) => {
        const start = Date.UTC(2024, 0, 1) + today * day;
        let left = credits - pool.reduce((sum, { available }) => sum + available, 0);
        let at = start;
        while (left > 0) {
          at += day;
          const date = new Date(at);
          const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
          for (const { anniversaryDay, perPeriod } of pool) {
            if (date.getUTCDate() === Math.min(anniversaryDay, last)) left -= perPeriod;
          }
        }
        const accounts = pool.map((one) => account(['park'], one.available, { ...one, creditsPerMinute: 1e9 }));
        const said = forecastPool(new Map([['park', credits]]), accounts, start);
        assert.deepEqual([said.fits, said.finishBy], [at === start, at]);
      },
    ),
  );
});
