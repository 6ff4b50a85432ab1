import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import test from 'node:test';
import { customSubscription, type Subscription } from '../../src/contract/subscriptions.ts';
import type { Caller } from '../../src/service/accounts/calls.ts';
import type { ServiceInstance } from '../../src/service/accounts/service-instance.ts';
import type { AccountsUnderTest } from './accounts-under-test.ts';
import { NOON } from './small-data.ts';

const DAY = 86_400_000;
const BUNDLE = { kind: 'standard' } as const;

const terms = (creditsPerMonth: number, overageRate: number | null = 0.04) =>
  customSubscription(creditsPerMonth, 1_000, overageRate);

/** An account, and an instance that runs since before its terms are changed. */
async function running(accounts: AccountsUnderTest, subscription: Subscription, overages = false) {
  const { port } = accounts;
  await port.createAccount({ name: 'acme', subscription, overages, signedUpAt: NOON - 40 * DAY });
  const { key } = await port.createKey('acme', ['bundle'], null);
  const instance = await port.register(() => {});
  return {
    instance,
    check: async (): Promise<Caller> => {
      const [check] = await instance.check([{ key, call: BUNDLE }]);
      assert.ok(typeof check === 'object');
      return check.caller;
    },
    /** The outcome of a standard bundle, 15 credits: `charged`, or why it is refused. */
    async buy(): Promise<string> {
      const [check] = await instance.check([{ key, call: BUNDLE }]);
      assert.ok(typeof check === 'object');
      const charged = await charge(instance, check.caller);
      assert.equal(charged, check.refusal?.failure ?? 'charged', 'the check said the same');
      return charged;
    },
    /** Allowance, credits, overage credits and dollars of the last period. */
    async billed() {
      const { allowance, creditsCharged, overageCredits, overageDollars } = (
        await port.statement(await port.findAccount('acme'))
      ).at(-1)!;
      return [allowance, creditsCharged, overageCredits, overageDollars];
    },
  };
}

async function charge(instance: ServiceInstance, caller: Caller): Promise<string> {
  const calls = [{ caller, call: BUNDLE, requestId: randomUUID() }];
  const [made] = await instance.charge(calls);
  return 'failure' in made! ? made.failure : 'charged';
}

/** What a change of an account's terms does, on either database. */
export function tryAccountChanges(name: string, open: () => Promise<AccountsUnderTest>): void {
  test(`${name}: an upgrade lifts a used-up quota at once, and the open period is billed by the new terms`, async () => {
    await using accounts = await open();
    const { buy, billed } = await running(accounts, terms(20));
    assert.deepEqual([await buy(), await buy()], ['charged', 'QUOTA_EXCEEDED']);
    const changed = await accounts.port.changeAccount('acme', { subscription: terms(40, 0.03) });
    assert.deepEqual([changed.subscription, changed.overages], [terms(40, 0.03), false]);
    assert.deepEqual([await buy(), await buy()], ['charged', 'QUOTA_EXCEEDED']);
    assert.deepEqual(await billed(), [40, 30, 0, 0]);
  });

  test(`${name}: overages on serve calls beyond the quota at once, overages off refuse them; what was served is billed`, async () => {
    await using accounts = await open();
    const { buy, billed } = await running(accounts, terms(20));
    assert.deepEqual([await buy(), await buy()], ['charged', 'QUOTA_EXCEEDED']);
    await accounts.port.changeAccount('acme', { overages: true });
    assert.deepEqual([await buy(), await buy()], ['charged', 'charged']);
    await accounts.port.changeAccount('acme', { overages: false });
    assert.equal(await buy(), 'QUOTA_EXCEEDED');
    assert.deepEqual(await billed(), [20, 45, 25, 1]);
  });

  test(`${name}: a call that was checked before a change is charged by the new terms`, async () => {
    await using accounts = await open();
    const { check, buy, instance } = await running(accounts, terms(100));
    assert.equal(await buy(), 'charged');
    const caller = await check();
    await accounts.port.changeAccount('acme', { subscription: terms(20) });
    assert.equal(await charge(instance, caller), 'QUOTA_EXCEEDED');
    await accounts.port.changeAccount('acme', { subscription: terms(30) });
    assert.equal(await charge(instance, caller), 'charged');
  });

  test(`${name}: no change turns credits that the subscription included into overage`, async () => {
    await using accounts = await open();
    const { buy, billed } = await running(accounts, terms(50), true);
    assert.deepEqual([await buy(), await buy()], ['charged', 'charged']);
    const lower = (credits: number) =>
      accounts.port.changeAccount('acme', { subscription: terms(credits) });
    await assert.rejects(lower(29), {
      code: 'SERVICE_ACCOUNT',
      message:
        'Cannot lower account "acme" to 29 credits a month: 30 of its 50 are charged in this billing period',
    });
    await lower(30);
    assert.equal(await buy(), 'charged');
    // Beyond the allowance: 15 of these are an overage already, and more of them may be included.
    await assert.rejects(lower(29), /: 30 of its 30 are charged/);
    await lower(40);
    assert.deepEqual(await billed(), [40, 45, 5, 0.2]);
    await accounts.moveClock(31 * DAY);
    await lower(10);
    assert.deepEqual((await billed())[0], 10);
  });

  test(`${name}: a period that has ended is billed by its last terms, also where no call came after the change`, async () => {
    await using accounts = await open();
    const { buy, billed } = await running(accounts, terms(20), true);
    assert.deepEqual([await buy(), await buy()], ['charged', 'charged']);
    assert.deepEqual(await billed(), [20, 30, 10, 0.4]);
    await accounts.port.changeAccount('acme', { subscription: terms(25, 0.02) });
    assert.deepEqual(await billed(), [25, 30, 5, 0.1]);
    await accounts.moveClock(31 * DAY);
    await accounts.port.changeAccount('acme', { subscription: terms(1_000) });
    const account = await accounts.port.findAccount('acme');
    const [closed] = await accounts.port.statement(account);
    const { isClosed, allowance, overageCredits, overageDollars } = closed!;
    assert.deepEqual([isClosed, allowance, overageCredits, overageDollars], [true, 25, 5, 0.1]);
  });

  test(`${name}: a change of an account that is not there, or to figures that are none, changes nothing`, async () => {
    await using accounts = await open();
    await accounts.port.createAccount({ name: 'acme', subscription: terms(20) });
    const change = (who: string, credits: number) =>
      accounts.port.changeAccount(who, { subscription: terms(credits) });
    await assert.rejects(change('nobody', 10), {
      code: 'SERVICE_ACCOUNT',
      message: /Cannot find account "nobody"/,
    });
    await assert.rejects(change('acme', 1.5), {
      code: 'SERVICE_ACCOUNT',
      message: /1\.5 credits a month/,
    });
    assert.deepEqual((await accounts.port.findAccount('acme')).subscription, terms(20));
  });
}
