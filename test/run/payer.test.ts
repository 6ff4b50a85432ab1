import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billingPeriod, CLOCKS_APART_MS } from '../../src/contract/billing-period.ts';
import type { Scope } from '../../src/contract/credits.ts';
import { makeJob } from '../../src/job/settings.ts';
import { Payer } from '../../src/run/buy/payer.ts';
import { ApiKeys, hashSecret, type Key } from '../../src/run/plan/api-keys.ts';
import { RunTimes } from '../../src/run/run-times.ts';
import type { Store } from '../../src/store/port.ts';
import { MovedClock } from '../moved-clock.ts';

const SINGLE = { kind: 'single', topic: 'hail' } as const;
const STANDARD = { kind: 'standard' } as const;
const ENTERPRISE = { kind: 'enterprise' } as const;

const keyOf = (secret: string, ...scopes: Scope[]): Key => ({
  ...{ secret, fingerprint: hashSecret(secret) },
  scopes: scopes.length > 0 ? new Set(scopes) : null,
});
const FIRST = keyOf('first', 'hail', 'bundle');
const SECOND = keyOf('second');

async function payerOf(creditsPerMinute = 300, clock = new MovedClock('2026-03-15T12:00:00Z')): Promise<Payer> {
  const nothingRefused = { refusedScopes: async () => [] } as unknown as Store;
  const subscription = { credits_per_month: 10_000, credits_per_minute: creditsPerMinute };
  const settings = { input: 'in.csv', subscription, anniversary_day: 5 };
  const job = makeJob([settings], { dataFolder: '/', workingFolder: '/' });
  const keys = await ApiKeys.open([FIRST, SECOND], nothingRefused, 1);
  return new Payer(job, keys, new RunTimes(clock, clock.now(), 5, () => {}), { standard: null, enterprise: null });
}

const payable = (payer: Payer) => [SINGLE, STANDARD, ENTERPRISE].filter((call) => payer.canPay(call));

test('a call that costs more than the whole minute is never paid', async () => {
  assert.deepEqual(payable(await payerOf(35)), [SINGLE, STANDARD, ENTERPRISE]);
  assert.deepEqual(payable(await payerOf(34)), [SINGLE, STANDARD]);
});

test('what the budget refused stays too dear; cheaper calls go on until none is left', async () => {
  const payer = await payerOf();
  assert.equal(payer.shortage, null);
  assert.equal(payer.creditsRefused(35, 'budget', 0), false);
  assert.deepEqual([payable(payer), payer.shortage], [[SINGLE, STANDARD], 'budget']);
  assert.equal(payer.creditsRefused(15, 'budget', 0), false);
  assert.equal(payer.creditsRefused(35, 'budget', 0), false);
  assert.deepEqual(payable(payer), [SINGLE]);
  assert.equal(payer.creditsRefused(1, 'budget', 0), true);
  assert.deepEqual(payable(payer), []);
});

test('what the quota refused stays too dear until the anniversary is over by any clock, and is what a stop names', async () => {
  const clock = new MovedClock('2026-03-15T12:00:00Z');
  const payer = await payerOf(300, clock);
  const { end } = billingPeriod(5, clock.now());
  assert.equal(payer.quotaUsedUp().resumeAfter, end);
  payer.creditsRefused(35, 'quota', clock.now());
  payer.creditsRefused(15, 'budget', clock.now());
  assert.deepEqual([payable(payer), payer.shortage], [[SINGLE], 'quota']);
  assert.equal(payer.creditsRefused(1, 'quota', clock.now()), true);
  // A dearer call that was under way is refused later: it makes nothing payable.
  assert.equal(payer.creditsRefused(15, 'quota', clock.now()), true);
  clock.moveTo(new Date(end + CLOCKS_APART_MS - 1).toISOString());
  assert.deepEqual(payable(payer), []);
  clock.move(1);
  assert.deepEqual(payable(payer), [SINGLE]);
  assert.equal(payer.quotaUsedUp().resumeAfter, end);
});

test('a refused key or scope makes room for the next key, and changes the prices', async () => {
  const payer = await payerOf();
  assert.equal(payer.keyFor(SINGLE), FIRST);
  payer.keyRefused(FIRST, SINGLE, 'scope');
  payer.probes.begin(SECOND, SINGLE);
  assert.ok(payer.probes.running(SECOND, SINGLE), 'from now on one call tries a key');
  assert.deepEqual([payer.keyFor(SINGLE), payer.keyFor(STANDARD)], [SECOND, FIRST]);
  payer.keyRefused(FIRST, STANDARD, 'key');
  assert.deepEqual([payer.keyFor(STANDARD), payer.priceList.bundles, payer.hasNoKey], [SECOND, true, false]);
  payer.keyRefused(SECOND, STANDARD, 'scope');
  assert.deepEqual([payer.keyFor(STANDARD), payer.priceList.bundles, payer.hasNoKey], [null, false, false]);
  payer.keyRefused(SECOND, SINGLE, 'key');
  assert.equal(payer.hasNoKey, true);
});

test('what a bundle was seen to return changes the prices once', async () => {
  const payer = await payerOf();
  payer.learnContents('standard', ['hail', 'drought']);
  const { priceList } = payer;
  assert.deepEqual(priceList.standard, new Set(['hail', 'drought']));
  payer.learnContents('standard', ['drought', 'hail']);
  assert.equal(payer.priceList, priceList);
  for (const topics of [['hail', 'park'], ['hail'], ['hail', 'radon']] as const) {
    payer.learnContents('standard', topics);
    assert.deepEqual(payer.priceList.standard, new Set(topics));
  }
});

test('after a refusal one call of a key and a scope is made alone, until it is answered', async () => {
  const { probes } = await payerOf();
  probes.begin(FIRST, SINGLE);
  assert.equal(probes.running(FIRST, SINGLE), null);
  probes.refused();
  const probe = probes.begin(FIRST, SINGLE);
  const running = probes.running(FIRST, SINGLE);
  assert.ok(running);
  assert.deepEqual([probes.running(FIRST, STANDARD), probes.running(SECOND, SINGLE)], [null, null]);
  probe[Symbol.dispose]();
  await running;
  assert.equal(probes.running(FIRST, SINGLE), null);
  probes.accepted(FIRST, SINGLE);
  probes.begin(FIRST, SINGLE);
  assert.equal(probes.running(FIRST, SINGLE), null);
});
