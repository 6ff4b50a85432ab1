import assert from 'node:assert/strict';
import test from 'node:test';
import { usage } from './file-accounts.ts';
import {
  openAccountsOf,
  pathTo,
  request,
  StillClock,
  setUp,
  start,
  subscriptionOf,
} from './small-data.ts';

const PLENTY = 1_000_000;

test('charges survive a restart', async (t) => {
  const { single, service, key, file, clock, database, accounts } = await setUp(t, {
    subscription: subscriptionOf(10, 5),
  });
  for (let i = 0; i < 5; i++) assert.equal((await single()).status, 200);
  await service.close();
  accounts.close();
  const again = openAccountsOf(t, file);
  const { url } = await start(t, { data: database, accounts: again, clock });
  const limited = await request(url + pathTo('/v1/drought/risk'), key);
  assert.equal(limited.body.error.code, 'RATE_LIMITED');
  clock.at += 60_000;
  for (let i = 0; i < 5; i++)
    assert.equal((await request(url + pathTo('/v1/drought/risk'), key)).status, 200);
  clock.at += 60_000;
  assert.equal(
    (await request(url + pathTo('/v1/drought/risk'), key)).body.error.code,
    'QUOTA_EXCEEDED',
  );
  assert.equal(usage(again, 'tester', clock.now()).creditsCharged, 10);
});

test('the allowance resets on the anniversary at 00:00 UTC, for the 31st on the last day of a shorter month', async (t) => {
  const clock = new StillClock(Date.UTC(2026, 0, 31, 12));
  const { single, accounts } = await setUp(t, {
    clock,
    signedUpAt: Date.UTC(2025, 11, 31, 18),
    subscription: subscriptionOf(1, PLENTY),
  });
  for (const [at, status] of [
    ['2026-01-31T12:00Z', 200],
    ['2026-02-27T23:59:59.999Z', 429],
    ['2026-02-28T00:00Z', 200],
    ['2026-03-30T23:59:59.999Z', 429],
    ['2026-03-31T00:00Z', 200],
    ['2026-04-30T00:00Z', 200],
  ] as const) {
    clock.at = Date.parse(at);
    assert.equal((await single()).status, status, at);
  }
  const used = usage(accounts, 'tester', Date.UTC(2026, 1, 28));
  assert.equal(used.periodStart, Date.UTC(2026, 1, 28));
  assert.equal(used.periodEnd, Date.UTC(2026, 2, 31));
  assert.equal(used.creditsCharged, 1);
  assert.equal(used.totalCredits, 4);
});

test('a sliding minute: no 60 seconds hold more than the limit, and Retry-After is when the call fits', async (t) => {
  const { single, get, clock } = await setUp(t, { subscription: subscriptionOf(PLENTY, 20) });
  assert.equal((await get(pathTo('/v1/bundle/standard'))).status, 200);
  clock.at += 10_500;
  for (let i = 0; i < 5; i++) assert.equal((await single()).status, 200);
  const refused = await single();
  assert.equal(refused.body.error.code, 'RATE_LIMITED');
  // The bundle leaves the minute 49.5 s from now.
  assert.equal(refused.headers.get('retry-after'), '50');
  assert.equal((await get(pathTo('/v1/bundle/standard'))).headers.get('retry-after'), '50');
  clock.at += 49_499;
  assert.equal((await single()).status, 429);
  clock.at += 1;
  const answered = await single();
  assert.equal(answered.status, 200);
  assert.equal(answered.headers.get('x-ratelimit-remaining'), '14');
  assert.equal(answered.headers.get('x-ratelimit-reset'), '60');
  const never = await get(pathTo('/v1/bundle/enterprise'));
  assert.equal(never.headers.get('retry-after'), '60');
});

test('simultaneous calls of several accounts and keys are each limited by their own account', async (t) => {
  const { get, accounts, port, clock, key } = await setUp(t, {
    subscription: subscriptionOf(9, PLENTY),
  });
  await port.createAccount({ name: 'other', subscription: subscriptionOf(PLENTY, 7) });
  const second = await port.createKey('tester', ['drought'], null);
  const other = await port.createKey('other', ['drought'], null);
  const keys = [key, second.key, other.key, 'pb_unknown'];
  const replies = await Promise.all(
    Array.from({ length: 80 }, (_, index) =>
      get(pathTo('/v1/drought/risk'), keys[index % keys.length]!),
    ),
  );
  const count = (which: number, wanted: number) =>
    replies.filter(({ status }, index) => index % 4 === which && status === wanted).length;
  assert.equal(count(0, 200) + count(1, 200), 9);
  assert.deepEqual([count(2, 200), count(2, 429), count(3, 401)], [7, 13, 20]);
  const used = (account: string) => usage(accounts, account, clock.now());
  assert.deepEqual([used('tester').creditsCharged, used('other').creditsCharged], [9, 7]);
  // Each row stands under the key that asked, and no two calls have the same row.
  const rows = accounts
    .prepare<[], [number, number]>('SELECT key, count(*) FROM charges GROUP BY key')
    .raw()
    .all();
  assert.equal(new Map(rows).get(other.id), 7);
  assert.equal(new Map(rows).get(second.id) ?? 0, count(1, 200));
  const left = replies.filter(({ status }, index) => status === 200 && index % 4 === 2);
  const remaining = left.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
  assert.deepEqual(remaining.sort(), [0, 1, 2, 3, 4, 5, 6]);
});

test("the clock is set back: nobody gets a second minute's credits, or waits for more than a minute", async (t) => {
  const { single, clock } = await setUp(t, { subscription: subscriptionOf(PLENTY, 5) });
  for (const back of [500, 60_000, 3_600_000, 40 * 86_400_000]) {
    for (let nth = 0; nth < 5; nth++) assert.equal((await single()).status, 200);
    clock.at -= back;
    let waited = 0;
    for (let reply = await single(); reply.status !== 200; reply = await single()) {
      const wait = Number(reply.headers.get('retry-after'));
      waited += wait;
      assert.ok(
        wait >= 1 && wait <= 60 && waited <= 61,
        `Retry-After: ${wait} after ${back} ms, ${waited} s in all`,
      );
      clock.at += wait * 1_000;
    }
    assert.ok(waited > 0, 'a second minute in the same minute');
    clock.at += 60_000;
  }
});
