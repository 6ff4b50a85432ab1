import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { assertFits } from '../assert-fits.ts';
import { changeAccount, createAccount, createKey } from '../service/file-accounts.ts';
import { HERE, NOON, pathTo, request, setUp } from '../service/small-data.ts';
import { perilbook } from './command-line.ts';

const DAY = 86_400_000;

test('overage credits and dollars by period, as they were charged: list and statement', {
  timeout: 300_000,
}, async (t) => {
  const { service, key, file, accounts, clock } = await setUp(t, {
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
  changeAccount(accounts, 'tester', { subscription: customSubscription(30, 1_000, null) }, clock);
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

test('key list says until when a key works: to the end of its grace, or of its life', async (t) => {
  const { file, clock, accounts, keyId } = await setUp(t);
  createKey(accounts, 'tester', ['hail'], clock, { expiresAt: NOON + DAY });
  const service = (...args: string[]) => perilbook(['service', 'key', ...args, '--db', file], { clock });
  await service('rotate', '--key', String(keyId), '--grace', '3600');
  const { stdout } = await service('list');
  assert.match(stdout, /^key +account +state +works until +scopes\n/);
  assert.match(stdout, /\n +1 +tester +rotating +2026-03-15 13:00 UTC +bundle/);
  assert.match(stdout, /\n +2 +tester +active +2026-03-16 12:00 UTC +hail\n/);
  assert.match(stdout, /\n +3 +tester +active +bundle/);
  createAccount(accounts, { name: 'other', subscription: customSubscription(1, 1), signedUpAt: NOON }, clock);
  createKey(accounts, 'other', ['hail'], clock);
  const ofOther = await service('list', '--account', 'other', '--json');
  assert.deepEqual(
    JSON.parse(ofOther.stdout).map(({ id }: { id: number }) => id),
    [4],
  );
});

test('account change: an upgrade and overages work from the next call of a running service on', async (t) => {
  const { file, clock, single } = await setUp(t, { subscription: customSubscription(1, 1_000, 0.04) });
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await perilbook(['service', 'account', ...args, '--db', file], { clock });
    return { code, words: stderr, json: () => JSON.parse(stdout) };
  };
  const change = (...args: string[]) => told('change', '--account', 'tester', ...args);
  assert.deepEqual([(await single()).status, (await single()).status], [200, 429]);
  const upgraded = await change('--credits-per-month', '2', '--credits-per-minute', '1000', '--overage-rate', '0.5');
  assert.deepEqual(
    [upgraded.code, upgraded.words],
    [
      0,
      'Changed the account tester (custom): 2 credits a month, 1,000 a minute; calls beyond them are refused. This works from the next call on.\n',
    ],
  );
  assert.deepEqual([(await single()).status, (await single()).status], [200, 429]);
  assert.match((await change('--overages')).words, /2 credits a month, .* are served and billed/);
  assert.equal((await single()).status, 200);
  assert.match((await change('--no-overages')).words, /2 credits a month, .* are refused/);
  assert.equal((await single()).status, 429);
  const [period] = (await told('statement', '--json')).json();
  assert.deepEqual([period.allowance, period.overageCredits, period.overageDollars], [2, 1, 0.5]);
  assert.match(
    (await change('--subscription', 'starter')).words,
    /tester \(starter\): 10,000 credits a month, 300 a minute/,
  );
  assert.equal((await single()).status, 200);
});
