import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { assertFits } from '../assert-fits.ts';
import { HERE, NOON, pathTo, request, setUp } from '../service/small-data.ts';
import { perilbook } from './command-line.ts';

const DAY = 86_400_000;

test('overage credits and dollars by period, as they were charged: list and statement', {
  timeout: 300_000,
}, async (t) => {
  const { service, key, file, port, clock } = await setUp(t, {
    subscription: customSubscription(20, 1_000, 0.04),
    overages: true,
    signedUpAt: NOON - 45 * DAY,
  });
  const buy = async (calls: readonly string[]) => {
    for (const path of calls) assert.equal((await request(service.url + pathTo(path, HERE), key)).status, 200);
  };
  await buy(['/v1/bundle/standard', '/v1/drought/risk', '/v1/drought/risk']);
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await perilbook(['service', 'account', ...args, '--db', file], { clock });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const list = async () => JSON.parse(await told('list', '--json'))[0].periods;
  assertFits(await list(), [{ overageCredits: 0 }], 'before');
  await buy(['/v1/bundle/standard', '/v1/bundle/enterprise']);
  const overage = { allowance: 20, overageCredits: 47, overageDollars: 1.88 };
  assertFits(await list(), [{ creditsCharged: 67, creditsWithinAllowance: 20, isClosed: false, ...overage }], 'list');
  // The next period, under other terms: the statement of the last one stays as it was.
  clock.at += 31 * DAY;
  await port.changeAccount('tester', { subscription: customSubscription(30, 1_000, null) });
  await buy(['/v1/bundle/enterprise']);
  const periods = JSON.parse(await told('statement', '--json'));
  const calls = { single: 2, standard: 2, enterprise: 1 };
  const next = { account: 'tester', isClosed: false, allowance: 30, overageCredits: 5, overageDollars: null };
  assertFits(periods, [{ account: 'tester', isClosed: true, calls, ...overage }, next], 'statement');
  const table = await told('statement', '--period', '2026-03-15', '--account', 'tester');
  assert.match(table, /^account +from +until +period +allowance +within it +overage +\$ a credit +dollars\n/);
  assert.match(table, /\ntester +2026-02-28 +2026-03-29 +closed +20 +20 +47 +0\.04 +1\.88\n$/);
  assert.match(await told('list'), /overage credits\n/);
});
