import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { customSubscription } from '../../src/contract/subscriptions.ts';
import { TOPIC_SLUGS } from '../../src/contract/topics.ts';
import { FastClock } from '../fast-clock.ts';
import { usage } from '../service/account-usage.ts';
import { changeAccount, createAccount, createKey } from '../service/file-accounts.ts';
import { openAccountsOf, openSmallData, pathTo, releaseLater, request, start } from '../service/small-data.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG } from '../tier.ts';
import { perilbook } from './command-line.ts';

/** A service of its own with one account, a book of 60 cells, and the command line between them. */
async function openCounter(t: TestContext, creditsPerMonth: number) {
  const folder = temporaryFolder({ after: (release: () => void) => releaseLater(t, release) });
  const clock = new FastClock('2026-03-15T12:00:00Z', 50);
  const database = openSmallData(t, join(folder, 'data.db'), clock);
  const accounts = openAccountsOf(t, join(folder, 'data.db'));
  const subscription = customSubscription(creditsPerMonth, 100_000);
  createAccount(accounts, { name: 'us', subscription, signedUpAt: Date.UTC(2025, 0, 31) }, clock);
  const key = () => createKey(accounts, 'us', ['bundle', ...TOPIC_SLUGS], clock).key;
  const service = await start(t, { data: database, accounts, clock });
  const ours = key();
  const rows = Array.from({ length: 60 }, (_, row) => `${row},${(40.05 + row / 1000).toFixed(3)},-99.95\n`);
  writeFileSync(join(folder, 'book.csv'), `id,lat,lng\n${rows.join('')}`);
  const jobFile = (name: string, settings: string, serviceWords = `service: {base_url: '${service.url}'}`) =>
    writeFileSync(
      join(folder, `${name}.yaml`),
      `input: book.csv\noutput: ${name}.csv\nname: ${name}\ntopics: [wildfire]\nstore: store.db\nanniversary_day: 31
${serviceWords}\nbudget: 1000\n${settings}\n`,
    );
  const say = (...args: string[]) => perilbook(args, { folder, clock, env: { PERILBOOK_API_KEY: ours } });
  return {
    clock,
    jobFile,
    say,
    async json(...args: string[]) {
      const { stdout, stderr } = await say(...args, '--json');
      return JSON.parse(stdout || JSON.stringify(stderr));
    },
    used: () => usage(accounts, 'us', clock.now()).creditsCharged,
    upgrade: (credits: number) =>
      changeAccount(accounts, 'us', { subscription: customSubscription(credits, 100_000) }, clock),
    /** Another program of the same account. */
    async spendElsewhere(credits: number) {
      const theirs = key();
      for (let spent = 0; spent < credits; spent++) await request(service.url + pathTo('/v1/hail/risk'), theirs);
    },
  };
}

const allowance = (credits: number) => `subscription: {credits_per_month: ${credits}, credits_per_minute: 100000}`;

test(
  'quota and its statements say what the service charged, by run, job, key and day, as JSON, CSV and words',
  LONG,
  async (t) => {
    const { jobFile, json, say, used, clock } = await openCounter(t, 1_000);
    jobFile('nightly', allowance(1_000));
    jobFile('listings', allowance(1_000));
    await say('run', 'nightly.yaml', '--budget', '20', '--quiet');
    clock.moveTo('2026-03-17T12:00:00Z');
    await say('run', 'listings.yaml', '--topics', 'wildfire,hail', '--quiet');
    assert.equal(used(), 120);

    const quota = await json('quota', 'nightly.yaml', '--by', 'job');
    assert.deepEqual(
      [quota.allowance, quota.charged, quota.free_calls, quota.unknown, quota.in_flight, quota.left, quota.overage],
      [1_000, 120, 0, 0, 0, 880, 0],
    );
    assert.deepEqual([quota.spent_elsewhere, quota.correction, quota.resets_on], [0, null, '2026-03-31T00:00:00.000Z']);
    const figures = (credits: number) => ({
      calls: { charged: credits, free: 0, unknown: 0, in_flight: 0 },
      credits: { charged: credits, unknown: 0, in_flight: 0 },
    });
    assert.deepEqual(quota.statement, [
      { job: 'listings', ...figures(100) },
      { job: 'nightly', ...figures(20) },
    ]);
    assert.deepEqual((await json('quota', 'nightly.yaml', '--by', 'day')).statement, [
      { day: '2026-03-15', ...figures(20) },
      { day: '2026-03-17', ...figures(100) },
    ]);
    const [byKey] = (await json('quota', 'nightly.yaml', '--by', 'key')).statement;
    assert.deepEqual(byKey, { key: byKey.key, ...figures(120) });
    assert.equal(
      (await say('quota', 'nightly.yaml', '--csv')).stdout,
      `run,job,calls_charged,calls_free,calls_unknown,calls_in_flight,credits_charged,credits_unknown,credits_in_flight
1,nightly,20,0,0,0,20,0,0\n2,listings,100,0,0,0,100,0,0\n`,
    );
    const words = (await say('quota', 'nightly.yaml', '--by', 'run')).stdout;
    assert.match(words, /charged +120\n +free +0 calls\n/);
    assert.match(words, /\nrun +job +charged .*\n +1 +nightly +20 .*\n +2 +listings +100 .*\n +all +120 /);

    const runs = await json('status', '--store', 'store.db');
    assert.deepEqual(
      runs.map((run: Record<string, unknown>) => [run.job, run.charged, run.calls]),
      [
        ['listings', 100, figures(100).calls],
        ['nightly', 20, figures(20).calls],
      ],
    );
    const csv = (await say('status', 'nightly.yaml', '--csv')).stdout.split('\n');
    assert.equal(csv.length, 3);
    assert.match(csv[1]!, /^1,nightly,127\.0\.0\.1:\d+,paused,2026-03-15T12:.*,20,0,0,20,0,0,0$/);
    assert.match(
      (await say('status', 'nightly.yaml')).stdout,
      /nightly is paused: The budget of 20 credits is reached\. Run it again to resume\.\n$/,
    );
  },
);

test('a quota that ends early is believed, explained and recorded; quota set goes on after an upgrade', async (t) => {
  const { jobFile, json, say, used, upgrade, spendElsewhere } = await openCounter(t, 50);
  jobFile('early', allowance(50));
  await spendElsewhere(30);
  const ended = await say('run', 'early.yaml', '--quiet');
  assert.equal(ended.code, 4);
  assert.equal(used(), 50);
  const quota = await json('quota', 'early.yaml');
  assert.deepEqual([quota.charged, quota.left], [20, 0]);
  assert.ok(quota.free_calls >= 1, 'the refused calls are in the ledger, free');
  assert.ok(quota.exhausted_left >= 1 && quota.exhausted_left <= 30, String(quota.exhausted_left));
  const words = (await say('quota', 'early.yaml')).stdout;
  assert.match(
    words,
    new RegExp(`while this ledger had ${quota.exhausted_left} credits? left\\. Other programs spend them too`),
  );
  assert.match(words, /until 2026-03-31 00:00 UTC\. If .*perilbook quota set JOB --left N\.\n.*spent_elsewhere/);
  assert.match(
    (await say('status', '--store', 'store.db')).stdout,
    /early is paused\. Run it again after 2026-03-31 00:00 UTC\.\n$/,
  );

  const again = await say('run', 'early.yaml', '--quiet');
  assert.deepEqual([again.code, used()], [4, 50], 'believed: not asked again before the anniversary');
  assert.equal((await json('quota', 'early.yaml')).free_calls, quota.free_calls);

  upgrade(200);
  jobFile('early', allowance(200));
  const set = await json('quota', 'set', 'early.yaml', '--left', '150');
  assert.deepEqual([set.left, set.spent_elsewhere, set.correction.spent_elsewhere], [150, 30, 30]);
  assert.equal(set.exhausted_at, null);
  assert.equal((await say('run', 'early.yaml', '--quiet')).code, 0);
  assert.equal(used(), 90);
  assert.equal((await json('quota', 'early.yaml')).left, 110, 'exactly what the service has left');
});

test('spent_elsewhere keeps credits for others, who then get them', async (t) => {
  const { jobFile, json, say, used, spendElsewhere } = await openCounter(t, 50);
  jobFile('careful', `${allowance(50)}\nspent_elsewhere: 30`);
  assert.equal((await json('plan', 'careful.yaml')).credits_available, 20);
  assert.equal((await say('run', 'careful.yaml', '--quiet')).code, 4);
  assert.equal(used(), 20);
  await spendElsewhere(30);
  assert.equal(used(), 50, 'none of theirs was refused');
  const { left, free_calls, exhausted_at } = await json('quota', 'careful.yaml');
  assert.deepEqual([left, free_calls, exhausted_at], [0, 0, null]);
  assert.equal((await json('quota', 'careful.yaml', '--spent-elsewhere', '25')).left, 5, 'a flag wins');
});

test('a correction by what the page says is spent keeps the run below it', async (t) => {
  const { jobFile, json, say, used, spendElsewhere } = await openCounter(t, 50);
  jobFile('told', allowance(50));
  await spendElsewhere(35);
  const recorded = await say('quota', 'set', 'told.yaml', '--spent', String(used()));
  assert.match(
    recorded.stdout,
    /correction +on 2026-03-15 12:\d\d UTC the provider had counted 35 more than this ledger/,
  );
  assert.match(recorded.stderr, /35 credits spent, 15 left\./);
  assert.equal((await say('run', 'told.yaml', '--quiet')).code, 4);
  assert.equal(used(), 50);
  const { left, free_calls, charged, correction } = await json('quota', 'told.yaml');
  assert.deepEqual([left, free_calls, charged, correction.spent_elsewhere], [0, 0, 15, 35], 'no call was refused');
});

test('a job whose keys spend several accounts: each has its own period, and a correction names one', async (t) => {
  const { jobFile, json, say } = await openCounter(t, 50);
  const pool = (url: string) =>
    `service: {base_url: '${url}', api_keys: [{env: A, account: north, anniversary_day: 5}, {env: B, account: south}]}`;
  jobFile('pool', pool('http://127.0.0.1:9'), '');
  const { accounts } = await json('quota', 'pool.yaml');
  assert.deepEqual(
    accounts.map((one: Record<string, unknown>) => [one.account, one.resets_on, one.left]),
    [
      ['north', '2026-04-05T00:00:00.000Z', 10_000],
      ['south', '2026-03-31T00:00:00.000Z', 10_000],
    ],
  );
  const refused = await say('quota', 'set', 'pool.yaml', '--left', '70');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /this job has north, south\n +Choose one: --account NAME/);
  assert.equal((await json('quota', 'set', 'pool.yaml', '--left', '70', '--account', 'north')).left, 70);
  const after = (await json('quota', 'pool.yaml')).accounts;
  assert.deepEqual([after[0].left, after[1].left], [70, 10_000]);
  assert.match(
    (await say('quota', 'pool.yaml')).stdout,
    /north \(starter\)[\s\S]+correction[\s\S]+\n\n +account +south/,
  );
});

const mistakes: readonly [args: string[], says: RegExp][] = [
  [['quota', 'set'], /needs either --left or --spent/],
  [['quota', 'set', '--left', '1', '--spent', '1'], /needs either --left or --spent/],
  [['quota', '--left', '1'], /--left; it is an option of quota set/],
  [['quota', 'set', '--left', 'much'], /--left expects a number/],
  [['quota', 'set', '--spent', '-1'], /--spent -1 is out of range/],
  [['quota', 'set', '--left', '10001'], /more than the starter subscription's 10,000 credits/],
  [['quota', 'a.csv', 'b.csv'], /Unexpected argument: b\.csv/],
  [['quota', '--by', 'week'], /Unknown value of --by: "week"/],
  [['quota', '--csv', '--json'], /--csv cannot be combined with --json/],
  [['status', '--csv', '--json'], /--csv cannot be combined with --json/],
];

for (const [args, says] of mistakes) {
  test(`${args.join(' ')}: refused, nothing recorded`, async (t) => {
    const folder = temporaryFolder(t);
    const { code, stderr } = await perilbook([...args, '--store', 'store.db'], { folder });
    assert.equal(code, 2);
    assert.match(stderr, says);
    const { stdout } = await perilbook(['quota', '--json', '--store', 'store.db'], { folder });
    assert.equal(JSON.parse(stdout).correction, null);
  });
}
