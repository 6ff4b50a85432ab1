import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { type ConnectionContext, connect } from '../../src/host/connection.ts';
import type { JobFile } from '../../src/job/job-file.ts';
import { makeJob } from '../../src/job/settings.ts';
import { assertFits } from '../assert-fits.ts';
import { FastClock } from '../fast-clock.ts';
import { openHarness } from '../run/harness.ts';
import { provideSampleData } from '../sample-database.ts';
import { HERE, NOON, pathTo, request, setUp } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook, wordsIn } from './command-line.ts';

const LOS_ANGELES = { lat: 34.0522, lng: -118.2437 };
const small: JobFile = { subscription: { credits_per_month: 5, credits_per_minute: 1_000 } };
const large: JobFile = { subscription: { credits_per_month: 50, credits_per_minute: 1_000 } };

/** Opens the embedded service as a run does, and counts which of some calls it answers. */
async function openEmbedded(t: TestContext) {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  const setup: ConnectionContext = {
    ...{
      env: {},
      workingFolder: folder,
      dataFolder: folder,
      clock: new FastClock('2026-03-15T12:00:00Z', 1),
    },
    ...{ random: Math.random, notice: () => {} },
  };
  return async (said: JobFile) => {
    const settings: JobFile = { input: 'x.csv', store: 'store.db', service: 'sample' };
    const job = makeJob([said, settings], { dataFolder: folder, workingFolder: folder });
    const opened = await connect(setup, job, () => {});
    const { connection } = opened;
    if (connection.kind !== 'service') throw new Error('not the sample service');
    const close = () => opened[Symbol.asyncDispose]();
    const path = pathTo('/v1/hail/risk', LOS_ANGELES);
    const call = async () =>
      (await request(connection.baseUrl + path, connection.keys[0]!.secret)).status;
    return { job, call, close };
  };
}

for (const [what, first, second] of [
  ['a smaller subscription', large, small],
  ['another anniversary', { ...large, anniversary_day: 3 }, { ...small, anniversary_day: 3 }],
  ['another account of its own', { ...large, account: 'north' }, { ...large, account: 'south' }],
] as const) {
  test(`a run with ${what} takes nothing from one that is at work`, async (t) => {
    const open = await openEmbedded(t);
    const atWork = await open(first);
    const other = await open(second);
    try {
      assert.notEqual(
        atWork.job.account.name,
        other.job.account.name,
        'the ledger tells them apart too',
      );
      for (let call = 0; call < 10; call++) await other.call();
      for (let call = 0; call < 10; call++) assert.equal(await atWork.call(), 200);
    } finally {
      await other.close();
      await atWork.close();
    }
  });
}

test('sample data and its accounts of another version are made again', LONG, async (t) => {
  const open = await openEmbedded(t);
  for (const version of [1, 99]) {
    const first = await open(large);
    await first.close();
    for (const name of ['sample-data.db', 'sample-data-accounts.db']) {
      const database = new Database(join(dirname(first.job.store), name));
      database.pragma(`user_version = ${version}`);
      database.close();
    }
    const { call, close } = await open(large);
    assert.equal(await call(), 200);
    await close();
  }
});

test('an account whose subscription nobody said has no allowance and no overage', async (t) => {
  const { folder, clock, store, job } = await openHarness(t);
  const own = job({ account: 'embedded' });
  const words = {
    job: 'j',
    input: 'i',
    output: 'o',
    account: 'embedded',
    plannedCredits: 0,
    budget: 1_000_000,
  };
  const source = await store.source('an earlier version');
  const run = await store.startRun(words);
  const period = { start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 3, 1) };
  const limits = { periodLimit: 1e6, creditsPerMinute: 1e6, budget: 1e6, leaseMs: 1e6 };
  const [claim] = await store.claim({ run, source, account: own.account.name, period, ...limits }, [
    {
      cell: { lat7: 1, lng7: 1 },
      call: { kind: 'enterprise' },
      credits: 65_766,
      key: 'k',
      wanted: [],
    },
  ]);
  assert.equal(claim?.outcome, 'granted');
  const quota = (...args: string[]) =>
    perilbook(['quota', '--store', 'store.db', '--account', 'embedded', ...args], {
      folder,
      clock,
    });
  const unknown = JSON.parse((await quota('--json')).stdout);
  assertFits(
    unknown,
    { in_flight: 65_766, subscription: null, allowance: null, left: null, overage: null },
    'quota',
  );
  const { stdout } = await quota();
  assert.match(stdout, /allowance +unknown: .*--subscription/);
  assert.doesNotMatch(stdout, /overage|\$|starter/);
  const set = wordsIn('quota set --store store.db --account embedded --left 5');
  assert.equal((await perilbook(set, { folder, clock })).code, 2);

  // Where overages are off, a call in flight is not expected to be billed beyond the allowance.
  const starter = await quota('--subscription', 'starter');
  assert.match(starter.stdout, /allowance +10,000 credits[\s\S]+left +0 credits/);
  assert.doesNotMatch(starter.stdout, /overage|\$/);
  const billed = await quota('--subscription', 'starter', '--overage-ceiling', '3000');
  const overage = /overage +55,766 credits beyond the allowance, \$2230\.64/;
  assert.match(billed.stdout, overage);
  const charged = {
    charge: 'charged',
    credits: 65_766,
    period,
    outcome: '200',
    answers: [],
    failures: [],
  } as const;
  await store.settle([{ call: claim.call, ...charged }]);
  assert.match(
    (await quota('--subscription', 'starter')).stdout,
    overage,
    'what was billed is not hidden',
  );
  const database = new Database(join(folder, 'store.db'));
  assert.equal(
    database.prepare('SELECT count(*) FROM periods WHERE elsewhere IS NOT NULL').pluck().get(),
    0,
  );
  database.close();
});

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
    for (const path of calls)
      assert.equal((await request(service.url + pathTo(path, HERE), key)).status, 200);
  };
  await buy(['/v1/bundle/standard', '/v1/drought/risk', '/v1/drought/risk']);
  const told = async (...args: string[]) => {
    const { code, stdout, stderr } = await perilbook(
      ['service', 'account', ...args, '--db', file],
      { clock },
    );
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const list = async () => JSON.parse(await told('list', '--json'))[0].periods;
  assertFits(await list(), [{ overageCredits: 0 }], 'before');
  await buy(['/v1/bundle/standard', '/v1/bundle/enterprise']);
  const overage = { allowance: 20, overageCredits: 47, overageDollars: 1.88 };
  assertFits(
    await list(),
    [{ creditsCharged: 67, creditsWithinAllowance: 20, isClosed: false, ...overage }],
    'list',
  );
  // The next period, under other terms: the statement of the last one stays as it was.
  clock.at += 31 * DAY;
  await port.changeAccount('tester', { subscription: customSubscription(30, 1_000, null) });
  await buy(['/v1/bundle/enterprise']);
  const periods = JSON.parse(await told('statement', '--json'));
  const calls = { single: 2, standard: 2, enterprise: 1 };
  const next = {
    account: 'tester',
    isClosed: false,
    allowance: 30,
    overageCredits: 5,
    overageDollars: null,
  };
  assertFits(
    periods,
    [{ account: 'tester', isClosed: true, calls, ...overage }, next],
    'statement',
  );
  const table = await told('statement', '--period', '2026-03-15', '--account', 'tester');
  assert.match(
    table,
    /^account +from +until +period +allowance +within it +overage +\$ a credit +dollars\n/,
  );
  assert.match(table, /\ntester +2026-02-28 +2026-03-29 +closed +20 +20 +47 +0\.04 +1\.88\n$/);
  assert.match(await told('list'), /overage credits\n/);
});
