import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addCharge,
  type BatchTotal,
  chargeRefusals,
  computeRetryAfter,
  findRefusal,
  freedBy,
  type LastCall,
  lockedUsage,
} from '../../src/service/accounts/limits.ts';
import { periodStartOf, type ServiceAccount } from '../../src/service/accounts/service-account.ts';
import { postgresDialect } from '../../src/sql/sql-work.ts';
import { subscriptionOf } from './small-data.ts';

const NOW = 5 * 60_000 + 10_001;
const SINGLE = { kind: 'single', topic: 'hail' } as const;
const STANDARD = { kind: 'standard' } as const;

const totalOf = (used: Partial<BatchTotal['before']> = {}): BatchTotal => ({
  account: { subscription: subscriptionOf(40, 30), overages: false } as ServiceAccount,
  before: { now: NOW, periodStart: 0, periodCredits: 0, minuteFrom: 0, minuteCredits: 0, ...used },
  ...{ credits: 0, calls: { single: 0, standard: 0, enterprise: 0 } },
});

test('the period begins on the day of the month on which the account was made, in UTC', () => {
  const account = { signedUpAt: Date.UTC(2026, 0, 15, 23) } as ServiceAccount;
  const starts = [Date.UTC(2026, 2, 15) - 1, Date.UTC(2026, 2, 15)].map((now) =>
    periodStartOf(account, now),
  );
  assert.deepEqual(starts, [Date.UTC(2026, 1, 15), Date.UTC(2026, 2, 15)]);
});

test('the calls of a batch count for the minute and the period of the next', () => {
  const total = totalOf({ periodCredits: 10 });
  assert.deepEqual(addCharge(total, STANDARD), { credits: 15, limit: 30, remaining: 15 });
  assert.equal(findRefusal(total, STANDARD, 'refused'), null);
  assert.deepEqual(addCharge(total, SINGLE), { credits: 1, limit: 30, remaining: 14 });
  assert.deepEqual([total.credits, total.calls], [16, { single: 1, standard: 1, enterprise: 0 }]);
  assert.equal(findRefusal(total, STANDARD, 'refused'), 'period');
  const withOverages = { ...total, account: { ...total.account, overages: true } };
  assert.deepEqual(findRefusal(withOverages, STANDARD, 'refused'), { missing: 1 });
  assert.equal(findRefusal(withOverages, SINGLE, 'refused'), null);
  assert.equal(addCharge(totalOf({ minuteCredits: 12 }), SINGLE).remaining, 17);
});

test('the last call of a period is refused, or served while a credit is left', () => {
  const refusal = (periodCredits: number, lastCall: LastCall) =>
    findRefusal(totalOf({ periodCredits }), STANDARD, lastCall);
  assert.deepEqual([refusal(25, 'refused'), refusal(26, 'refused')], [null, 'period']);
  assert.deepEqual([refusal(39, 'served'), refusal(40, 'served')], [null, 'period']);
});

test('a refused call fits when enough credits have left the minute', () => {
  const charges = [1, 15, 1].map((credits, index) => ({
    chargedAt: NOW - 50_000 + index * 1_000,
    credits,
  }));
  const freed = [1, 2, 16, 17, 18].map((missing) => freedBy(charges, missing));
  assert.deepEqual(freed, [NOW - 50_000, NOW - 49_000, NOW - 49_000, NOW - 48_000, null]);
  for (const [freedAt, seconds] of [
    [NOW - 50_000, 10],
    [NOW - 49_999, 11],
    [null, 60],
    // Another instance has charged it, by a clock that is ahead.
    [NOW + 900, 60],
  ] as const) {
    assert.equal(computeRetryAfter(freedAt, NOW), seconds);
  }
});

test('of several refused calls of an account, each is told when the credits that it lacks itself have left', () => {
  const total = totalOf();
  const charges = [50_000, 40_000, 30_000].map((ago) => ({ chargedAt: NOW - ago, credits: 1 }));
  const calls = [3, 1].map((missing) => ({ total, refusal: { missing } }));
  const work = chargeRefusals(calls);
  const { statements } = work.next().value as {
    statements: readonly { readonly values: readonly unknown[] }[];
  };
  // The database gives as many charges as the statement asks for.
  const { value } = work.next(
    statements.map(({ values }) => charges.slice(0, Number(values.at(-1)))),
  );
  assert.deepEqual(value, [
    { failure: 'RATE_LIMITED', retryAfter: 30 },
    { failure: 'RATE_LIMITED', retryAfter: 10 },
  ]);
});

test('the accounts of a batch are locked one after the other in its order, before their usage is read', () => {
  const { statements, take } = lockedUsage(postgresDialect(), [3, 7]);
  const asked = statements.map(({ sql, values }) => [/ FOR NO KEY UPDATE$/.test(sql), values]);
  assert.deepEqual(asked, [
    [true, [3]],
    [true, [7]],
    [false, [3]],
    [false, [7]],
  ]);
  const rows = [[{ id: 3 }], [{ id: 7 }], [{ of: 3 }], [{ of: 7 }]];
  assert.deepEqual(take(rows as never), [{ of: 3 }, { of: 7 }]);
});
