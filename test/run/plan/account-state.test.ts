import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SUBSCRIPTIONS } from '../../../src/contract/subscriptions.ts';
import type { JobAccount } from '../../../src/job/account-settings.ts';
import type { JobFile } from '../../../src/job/job-file.ts';
import { makeJob } from '../../../src/job/settings.ts';
import {
  accountState,
  claimLimits,
  differsFrom,
  leftOfAllowance,
  periodLimit,
  withLastTerms,
} from '../../../src/run/frame/account-state.ts';
import type { PeriodSpending } from '../../../src/store/ledger/port.ts';
import type { Store } from '../../../src/store/port.ts';
import type { LedgerAccount } from '../../../src/store/runs/port.ts';

const REMOTE = { base_url: 'https://hazards.example' };
const jobOf = (settings: Partial<JobFile> = {}) =>
  makeJob([{ input: 'in.csv', service: REMOTE, ...settings }], {
    dataFolder: '/',
    workingFolder: '/',
  });
const accountOf = (settings: Partial<JobAccount>): JobAccount => ({
  ...jobOf().account,
  ...settings,
});
const NOTHING_SPENT: PeriodSpending = { charged: 0, unknown: 0, open: 0, exhaustedAt: null };

test('the limit of a period is the allowance and the overage less the reserve; the reserve is taken from the overage first', () => {
  // Starter: 10,000 credits a month.
  for (const [overageCredits, reserve, spent, limit, allowance] of [
    [0, 0, 0, 10_000, 10_000],
    [0, 500, 0, 9_500, 9_500],
    [0, 500, 9_400, 9_500, 100],
    [0, 500, 9_600, 9_500, 0],
    [0, 12_000, 0, 0, 0],
    [700, 500, 0, 10_200, 10_000],
    [700, 500, 9_000, 10_200, 1_000],
    [700, 500, 10_100, 10_200, 0],
    [300, 500, 0, 9_800, 9_800],
  ] as const) {
    const account = accountOf({ overageCredits, reserve });
    const available = Math.max(0, limit - spent);
    const state = {
      account,
      period: { start: 0, end: 1 },
      spending: NOTHING_SPENT,
      isUsedUp: false,
      available,
    };
    const found = [periodLimit(account), leftOfAllowance(state)];
    assert.deepEqual(found, [limit, allowance], `${overageCredits}, ${reserve}`);
  }
});

test('what is available is the limit less all that may be spent; nothing once the service has said that the quota is used up', async () => {
  const account = accountOf({ anniversaryDay: 15, reserve: 1_000 });
  const now = Date.UTC(2026, 2, 15, 12);
  const cases: readonly (readonly [spending: Partial<PeriodSpending>, available: number])[] = [
    [{}, 9_000],
    [
      { charged: 100, unknown: 20, open: 3, later: 1_000, correction: { elsewhere: 500, at: now } },
      7_377,
    ],
    [{ charged: 9_500 }, 0],
    [{ charged: 100, exhaustedAt: 0 }, 0],
  ];
  for (const [spending, available] of cases) {
    const asked: unknown[] = [];
    const store = {
      spending: async (...of: unknown[]) => {
        asked.push(of);
        return { ...NOTHING_SPENT, ...spending };
      },
    };
    const state = await accountState(account, store as unknown as Store, now);
    const period = { start: Date.UTC(2026, 2, 15), end: Date.UTC(2026, 3, 15) };
    assert.deepEqual(
      [state.available, state.period, asked],
      [available, period, [[account.name, period]]],
    );
  }
});

test('a claim has the limits of the run, the account and the period', () => {
  const account = accountOf({ anniversaryDay: 15, overageCredits: 70, reserve: 20 });
  const run = { run: 3, source: 4, budget: 5 };
  const periods = { period: { start: 1, end: 2 }, countedSince: 0 };
  const { leaseMs, ...limits } = claimLimits(account, periods, run);
  const expected = { account: account.name, periodLimit: 10_050, creditsPerMinute: 300 };
  assert.deepEqual(limits, { ...run, ...periods, ...expected });
  assert.ok(leaseMs > 2 * 60_000, 'a call can take two minutes');
});

test('a job takes over the terms of its account’s last run where it names none, and never allows more dollars by it', async () => {
  const last: LedgerAccount = {
    ...{ name: jobOf().account.name, subscription: SUBSCRIPTIONS.professional },
    ...{ anniversaryDay: 20, reserve: 0, overageCredits: 0 },
  };
  const under = async (settings: Partial<JobFile>, ...accounts: LedgerAccount[]) => {
    const { job, last } = await withLastTerms(jobOf(settings), {
      ledgerAccounts: async () => accounts,
    });
    const { subscription, anniversaryDay, overageCredits, isAssumed, isDayAssumed } = job.account;
    return [
      subscription.name,
      anniversaryDay,
      overageCredits,
      isAssumed,
      isDayAssumed,
      last !== null,
    ];
  };
  const other = {
    ...last,
    name: 'another',
    subscription: SUBSCRIPTIONS.starter,
    anniversaryDay: 9,
  };
  const free = { ...last, subscription: { ...SUBSCRIPTIONS.professional, overageRate: null } };
  const dollars = { overages: { ceiling: 12 } };
  assert.deepEqual(await under({}, other, last), ['professional', 20, 0, false, false, true]);
  // $12 are 300 credits at $0.04 and 400 at $0.03.
  assert.deepEqual(await under(dollars, last), ['professional', 20, 400, false, false, true]);
  assert.deepEqual(await under(dollars, free), ['professional', 20, 0, false, false, true]);
  const starter: Partial<JobFile> = { ...dollars, subscription: 'starter', topics: ['hail'] };
  assert.deepEqual(await under(starter, last), ['starter', 20, 300, false, false, true]);
  assert.deepEqual((await under({ anniversary_day: 3 }, last)).slice(0, 2), ['professional', 3]);
  assert.deepEqual(await under({}, other), ['starter', 1, 0, true, true, false]);
  // The subscription and the day are taken over each for itself.
  assert.deepEqual(await under({}, { ...last, isAssumed: true }), [
    'starter',
    20,
    0,
    true,
    false,
    false,
  ]);
  assert.deepEqual(await under({}, { ...last, isDayAssumed: true }), [
    'professional',
    1,
    0,
    false,
    true,
    true,
  ]);
  const named = jobOf({ anniversary_day: 3, subscription: 'professional' });
  const before = await withLastTerms(named, {
    ledgerAccounts: async () => [{ ...last, isDayAssumed: true }],
  });
  assert.equal(differsFrom(named.account, before.last!), false, 'nobody had named the other day');
  // The sample and local data spend no credits of an account.
  const sample = jobOf({ service: 'sample' });
  const kept = await withLastTerms(sample, {
    ledgerAccounts: async () => [{ ...last, name: sample.account.name }],
  });
  assert.deepEqual([kept.job, kept.last], [sample, null]);
});

test('a job differs from its account’s last run by the credits of a month, of a minute, or the anniversary day', () => {
  const terms = { subscription: SUBSCRIPTIONS.starter, anniversaryDay: 1 };
  const { subscription } = terms;
  assert.equal(
    differsFrom(terms, { ...terms, subscription: { ...subscription, overageRate: 0.5 } }),
    false,
  );
  for (const other of [
    { subscription: { ...subscription, creditsPerMonth: 1 } },
    { subscription: { ...subscription, creditsPerMinute: 1 } },
    { anniversaryDay: 2 },
  ]) {
    assert.equal(differsFrom(terms, { ...terms, ...other }), true, JSON.stringify(other));
  }
});
