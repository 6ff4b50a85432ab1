import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChargedPeriod, makeStatements } from '../../src/service/accounts/period-statement.ts';
import type { ServiceAccount } from '../../src/service/accounts/service-account.ts';
import { subscriptionOf } from './small-data.ts';

const [JUNE, JULY, AUGUST] = [5, 6, 7].map((month) => Date.UTC(2026, month, 15)) as [
  number,
  number,
  number,
];
const accountOf = (allowance: number, overageRate: number | null) =>
  ({
    signedUpAt: JUNE + 1,
    subscription: { ...subscriptionOf(allowance, 30), overageRate },
  }) as ServiceAccount;
const charged = (
  periodStart: number,
  credits: number,
  overageRate: number | null = 0.04,
): ChargedPeriod => ({
  ...{
    periodStart,
    credits,
    overageRate,
    allowance: 100,
    single: credits - 15,
    standard: 1,
    enterprise: 0,
  },
});

/** Of each statement: start, end, final or not, calls, allowance, credits within it and above it, rate, dollars. */
const told = (rows: readonly ChargedPeriod[], now: number, account = accountOf(50, 0.02)) =>
  makeStatements(rows, account, now).map((of) => [
    ...[of.periodStart, of.periodEnd, of.isClosed, Object.values(of.calls), of.allowance],
    ...[
      of.creditsCharged,
      of.creditsWithinAllowance,
      of.overageCredits,
      of.overageRate,
      of.overageDollars,
    ],
  ]);

test('a past period keeps the allowance and rate of its last call, the current one has those of the account', () => {
  const june = [JUNE, JULY, true, [88, 1, 0], 100, 103, 100, 3, 0.04, 0.12];
  const july = [JULY, AUGUST, false, [45, 1, 0], 50, 60, 50, 10, 0.02, 0.2];
  assert.deepEqual(told([charged(JUNE, 103), charged(JULY, 60)], AUGUST - 1), [june, july]);
});

test('a period is final at its end, and a current one without charges is told in the order of time', () => {
  const unused = [JULY, AUGUST, false, [0, 0, 0], 50, 0, 0, 0, 0.02, 0];
  const within = [JUNE, JULY, true, [85, 1, 0], 100, 100, 100, 0, 0.04, 0];
  assert.deepEqual(told([charged(JUNE, 100)], JULY), [within, unused]);
  const later = [AUGUST, Date.UTC(2026, 8, 15), false, [0, 1, 0], 50, 15, 15, 0, 0.02, 0];
  assert.deepEqual(told([charged(AUGUST, 15)], JULY), [unused, later], 'the clock was set back');
});

test('without an agreed rate overage credits have no price, and none cost nothing', () => {
  const dollars = (credits: number) =>
    told([charged(JUNE, credits)], JUNE + 2, accountOf(50, null)).map((of) => of.slice(-3));
  assert.deepEqual([dollars(51), dollars(50)], [[[1, null, null]], [[0, null, 0]]]);
  const [cheap] = told([charged(JUNE, 53)], JUNE + 2, accountOf(50, 0.00333));
  assert.deepEqual(cheap!.at(-1), 0.01, 'hundredths of a cent');
});
