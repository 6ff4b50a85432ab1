import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { makeJob } from '../../src/run/settings/settings.ts';
import { openHarness, places } from '../run/harness.ts';
import { folderWith, provideSampleData } from '../sample-database.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook } from './command-line.ts';

const AROUND = { dataFolder: '/d', workingFolder: '/w' };

test('--topics on the command line wins over tiers in the job file', async (t) => {
  const folder = folderWith(
    t,
    { 'b.csv': 'lat,lng\n34.0522,-118.2437\n', 'j.yaml': 'input: b.csv\ntiers: [all, natural]\nstore: store.db\n' },
    'store.db',
  );
  const { stdout } = await perilbook(['plan', 'j.yaml', '--topics', 'wildfire', '--json'], { folder });
  assert.equal(JSON.parse(stdout).credits, 1);
});

test('--tract adds to areas: oed', () => {
  const job = makeJob([{ areas: { tract: 'T' } }, { input: 'x', areas: 'oed' }], AROUND);
  assert.deepEqual([job.areas?.tract, job.areas?.oed], ['T', true]);
});

for (const value of ['', ' ']) {
  test(`an empty number is refused, not taken for 0: ${JSON.stringify(value)}`, async (t) => {
    const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n' }, 'store.db');
    for (const flag of ['--reserve', '--precision', '--spent-elsewhere']) {
      const { code } = await perilbook(['plan', 'b.csv', flag, value, '--store', 'store.db'], { folder });
      assert.equal(code, 2, flag);
    }
  });
}

test('a plan with a budget below its price can be approved and run', async (t) => {
  const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n29.7604,-95.3698\n' }, 'store.db');
  const common = ['b.csv', '-t', 'wildfire', '--store', 'store.db'];
  await perilbook(['plan', ...common, '--budget', '1', '--out', 'p.json'], { folder });
  const ended = await perilbook(['run', ...common, '--budget', '1', '--plan', 'p.json', '--json'], { folder });
  assert.equal(ended.code, 4, ended.stderr);
  assert.equal(JSON.parse(ended.stdout).credits_spent, 1);
});

test('a reserve is kept of the allowance: no dollars are said where none are billed', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100, 100_000, 0.5), overages: true });
  harness.writeInput(places(90));
  const said = {
    topics: ['wildfire'],
    reserve: 20,
    overages: { ceiling: 5 },
    subscription: { credits_per_month: 100, credits_per_minute: 100_000, overage_rate: 0.5 },
  };
  const planned = await harness.plan(said);
  assert.deepEqual([planned.credits, planned.fits, planned.overage_dollars], [90, true, 0]);
});

test('several accounts: the plan says the dollars that the run bills', LONG, async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100, 100_000, 0.5), overages: true });
  harness.addAccount('other', customSubscription(100, 100_000));
  const own = { credits_per_month: 100, credits_per_minute: 100_000, overage_rate: 0.5 };
  const service = {
    base_url: harness.url,
    api_keys: [{ env: 'A' }, { env: 'B', account: 'other', anniversary_day: 20 }],
  };
  const keys = [harness.key(), { ...harness.keyOf('other'), account: 'other' }];
  harness.writeInput(places(120));
  const said = { topics: ['wildfire'], service, subscription: own, overages: { ceiling: 10 } };
  const planned = await harness.plan(said, keys);
  const ended = await harness.run(said, { keys });
  assert.equal(ended.state, 'complete');
  const billed = Math.max(0, harness.charged() - 100) * 0.5;
  assert.deepEqual([harness.charged(), harness.charged('other'), planned.overage_dollars], [100, 20, billed]);
});

test('several accounts: no dollars where only the other account is left', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(100, 100_000, 0.5), overages: true });
  harness.addAccount('other', customSubscription(100, 100_000));
  const own = { credits_per_month: 100, credits_per_minute: 100_000, overage_rate: 0.5 };
  const service = {
    base_url: harness.url,
    api_keys: [
      { env: 'A', reserve: 120 },
      { env: 'B', account: 'other', anniversary_day: 20 },
    ],
  };
  const keys = [harness.key(), { ...harness.keyOf('other'), account: 'other' }];
  harness.writeInput(places(100));
  const said = { topics: ['wildfire'], service, subscription: own, overages: { ceiling: 10 } };
  const planned = await harness.plan(said, keys);
  assert.deepEqual([planned.credits_available, planned.fits, planned.overage_dollars], [100, true, 0]);
});

/** A folder with a job `j.yaml` of two accounts: its own, acme, and another. */
function withTwoAccounts(t: TestContext, more: string, ofOwn = ''): string {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'j.yaml'),
    `input: b.csv
store: store.db
account: acme
${more}service:
  base_url: https://h.example
  api_keys:
    - {env: A, subscription: professional${ofOwn}}
    - {env: B, account: second}
`,
  );
  return folder;
}

test('quota JOB --account NAME says of an account what quota JOB says of it', async (t) => {
  const folder = withTwoAccounts(t, 'spent_elsewhere: 500\noverages: {ceiling: 20}\n', ', reserve: 7');
  const { stdout } = await perilbook(['quota', 'j.yaml', '--json'], { folder });
  const { accounts } = JSON.parse(stdout);
  for (const { account } of accounts) {
    const one = JSON.parse((await perilbook(['quota', 'j.yaml', '--account', account, '--json'], { folder })).stdout);
    assert.deepEqual(
      one,
      accounts.find((other: { account: string }) => other.account === account),
      account,
    );
  }
});

test('quota set JOB --account NAME corrects by the subscription of that account', async (t) => {
  const folder = withTwoAccounts(t, '');
  const set = await perilbook(['quota', 'set', 'j.yaml', '--account', 'second', '--left', '9000'], { folder });
  assert.equal(set.code, 0, set.stderr);
  const { accounts } = JSON.parse((await perilbook(['quota', 'j.yaml', '--json'], { folder })).stdout);
  const { left } = accounts.find(({ account }: { account: string }) => account === 'second');
  assert.equal(left, 9000, set.stderr);
});

test('a plan without keys at hand prices as with them, also of several accounts', async (t) => {
  const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n' });
  writeFileSync(
    join(folder, 'j.yaml'),
    `input: b.csv
store: store.db
topics: natural
service:
  base_url: https://h.example
  api_keys:
    - {env: A, account: one}
    - {env: B, account: two}
`,
  );
  const without = JSON.parse((await perilbook(['plan', 'j.yaml', '--json'], { folder })).stdout);
  const withKeys = JSON.parse(
    (await perilbook(['plan', 'j.yaml', '--json'], { folder, env: { A: 'a', B: 'b' } })).stdout,
  );
  assert.deepEqual(
    [without.credits, without.fits, without.periods],
    [withKeys.credits, withKeys.fits, withKeys.periods],
  );
});

test('a report does not replace the store', async (t) => {
  const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n' }, 'store.db');
  const common = ['b.csv', '-t', 'wildfire', '--store', 'store.db', '--report', 'store.db'];
  await perilbook(['run', 'b.csv', '-t', 'wildfire', '--store', 'store.db', '--yes'], { folder });
  for (const command of [['report'], ['run', '--yes']]) {
    const ended = await perilbook([command[0]!, ...common, ...command.slice(1)], { folder });
    const head = readFileSync(join(folder, 'store.db')).subarray(0, 6).toString();
    assert.deepEqual([ended.code, head], [2, 'SQLite'], command[0]);
  }
});

test('the command that goes on can be copied', async (t) => {
  const folder = temporaryFolder(t);
  provideSampleData(join(folder, 'store.db'));
  writeFileSync(join(folder, "O'Neil.csv"), 'lat,lng\n34.0522,-118.2437\n29.7604,-95.3698\n');
  const ended = await perilbook(
    ['run', "O'Neil.csv", '-t', 'wildfire', '--store', 'store.db', '--budget', '1', '--prefix', ''],
    { folder },
  );
  assert.match(ended.stderr, /run 'O'\\''Neil\.csv' -t wildfire --store store\.db --budget 1 --prefix ''$/m);
});

test('a plan that does not fit into its window does not say that it fits', async (t) => {
  const harness = await openHarness(t, { subscription: customSubscription(10_000, 100) });
  harness.writeInput(places(1000));
  const planned = await harness.plan({ topics: ['wildfire'], max_minutes: 2 });
  assert.deepEqual([planned.minutes, planned.fits], [9, false]);
});

test('a time limit is printed as it was given, below a minute too', async (t) => {
  const folder = folderWith(t, { 'b.csv': `lat,lng\n${places(700).map(String).join('\n')}\n` }, 'store.db');
  const plan = ['plan', 'b.csv', '--topics', 'hail', '--store', 'store.db', '--service', 'sample', '--max-minutes'];
  for (const [given, printed] of [
    ['0.05', '0.05 minutes'],
    ['1', '1 minute'],
    ['1.5', '1.5 minutes'],
  ] as const) {
    const { stdout } = await perilbook([...plan, given], { folder });
    assert.match(stdout, new RegExp(`needed\\. The time limit of ${printed} allows \\d+ credits, which will complete`));
    assert.match(stdout, new RegExp(`^ {2}time limit +${printed}$`, 'm'));
  }
});

test('a run with nothing to buy prints one line and the result; what is wrong with rows is still told', async (t) => {
  const folder = folderWith(t, { 'b.csv': 'lat,lng\n34.0522,-118.2437\n34.0522,-118.2437\n' }, 'store.db');
  const run = ['run', 'b.csv', '--topics', 'hail', '--store', 'store.db', '--service', 'sample', '--yes'];
  assert.match((await perilbook(run, { folder })).stderr, /\n\n {2}credits +calls .*way to buy\n/);
  const { stderr } = await perilbook(run, { folder });
  assert.match(stderr, /^b\.csv: 2 rows, 2 located\. 0 credits: all answers are in the store\.\n.*writing/m);
  assert.match(stderr, /^wrote +b\.hazards\.csv: 2 rows \(2 ok\)$/m);
  assert.doesNotMatch(stderr, /way to buy|under a minute|quota|Defaults used/);
  writeFileSync(join(folder, 'b.csv'), 'lat,lng\n34.0522,-118.2437\nx,y\n');
  const invalid = await perilbook(run, { folder });
  assert.match(
    invalid.stderr,
    /^b\.csv: 2 rows, 1 located, 1 invalid\. 0 credits: [^\n]*\n[\s\S]*cannot be looked up/m,
  );
});
