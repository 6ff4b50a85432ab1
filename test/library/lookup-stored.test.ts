import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { lookup, openStore } from '../../src/index.ts';
import { storeBehind } from '../../src/library/answer-store.ts';
import { fakeService, standBetween } from '../fake-service.ts';
import { places } from '../run/harness.ts';
import { openScene, rowsOf, statuses } from './library-scene.ts';

test('look-ups of a process are one run, each within its own budget; stored answers need none', async (t) => {
  const { client, store, charged } = await openScene(t);
  const source = client();
  const rows = rowsOf(places(6));
  const bought = [];
  for (const row of rows)
    bought.push(await lookup(row, ['wildfire', 'hail'], { source, store, budget: 2 }));
  assert.deepEqual([charged(), new Set(bought.map(({ status }) => status))], [12, new Set(['ok'])]);
  const again = [];
  for (const row of rows)
    again.push(await lookup(row, ['wildfire', 'hail'], { source, store, budget: 0 }));
  assert.deepEqual(again, bought);
  const [other] = rowsOf(places(7).slice(6));
  for (const [budget, credits] of [
    [1, '1 credit'],
    [0, '0 credits'],
  ] as const) {
    const { status, note } = await lookup(other!, ['wildfire', 'hail'], { source, store, budget });
    assert.deepEqual([status, charged()], ['deferred', 12]);
    assert.equal(note, `not bought yet. Budget (${credits}) is too small for even one location.`);
  }
  const runs = await storeBehind(store).runs();
  assert.deepEqual(
    runs.map(({ job, state, charged: credits }) => [job, state, credits]),
    [['library', 'running', 12]],
  );
});

test('look-ups with another account are another run', async (t) => {
  const { client, store } = await openScene(t);
  const [first, second] = rowsOf(places(2));
  for (const [row, account] of [
    [first!, 'north'],
    [second!, 'south'],
  ] as const) {
    await lookup(row, 'wildfire', { source: client({ account }), store, budget: 1 });
  }
  const statement = await storeBehind(store).statement({ by: 'run' });
  const accounts = (await storeBehind(store).ledgerAccounts()).map(({ name }) => name);
  assert.deepEqual([statement.length, accounts.sort()], [2, ['north', 'south']]);
});

test("look-ups at one time: none spends another one's budget, and each with enough is answered whole", async (t) => {
  const { client, store, charged } = await openScene(t);
  const source = client();
  const budgets = [20, 0, 20, 1, 20, 2, 20, 3, 20, 0, 4, 4];
  const rows = rowsOf(places(budgets.length));
  const topics = ['wildfire', 'hail', 'park', 'superfund'] as const;
  const found = await Promise.all(
    rows.map((row, index) => lookup(row, topics, { source, store, budget: budgets[index]! })),
  );
  const tooSmall = (budget: number) =>
    `not bought yet. Budget (${budget} ${budget === 1 ? 'credit' : 'credits'}) is too small for even one location.`;
  for (const [index, { status, note: told }] of found.entries()) {
    const note = told?.startsWith("service's data: ") ? null : told;
    const budget = budgets[index]!;
    assert.deepEqual([status, note], budget >= 4 ? ['ok', null] : ['deferred', tooSmall(budget)]);
  }
  assert.equal(charged(), 7 * 4);
  assert.equal((await storeBehind(store).runs()).length, 1);
});

test('a look-up whose answers are lost keeps to its budget beside others, and names it', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const rows = rowsOf(places(3));
  const service = await fakeService(t, harness.url);
  service.script([{ address: [`lat=${rows[2]!.lat}&lng=${rows[2]!.lng}`], isLost: true }]);
  const source = client({ base_url: service.url });
  const found = await Promise.all(
    [50, 50, 1].map((budget, index) => lookup(rows[index]!, 'wildfire', { source, store, budget })),
  );
  assert.deepEqual(statuses(found), ['ok', 'ok', 'deferred']);
  const lost = '1 call without a usable answer may have cost 1 of them.';
  assert.equal(found[2]!.note, `not bought yet. The budget of 1 credit is reached: ${lost}`);
  assert.equal(charged(), 3);
});

test('calls that were refused are not of the budget: those of a scope that no key has', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const source = client({ api_key: harness.key(...NATURAL_SLUGS).secret });
  const [row] = rowsOf(places(1));
  const { status } = await lookup(row!, 'natural', { source, store, budget: NATURAL_SLUGS.length });
  assert.deepEqual([status, charged()], ['ok', NATURAL_SLUGS.length]);
});

test('calls that were refused are not of the budget: those at a place where another process buys', async (t) => {
  const { harness, client, store, charged } = await openScene(t);
  const arrived = Promise.withResolvers<void>();
  const base_url = await standBetween(t, harness.url, async (_, answer) => {
    arrived.resolve();
    await sleep(300);
    return answer;
  });
  await using others = await openStore(store.address);
  const [row] = rowsOf(places(1));
  const elsewhere = lookup(row!, 'hail', {
    source: client({ base_url }),
    store: others,
    budget: 1,
  });
  await arrived.promise;
  const here = lookup(row!, ['hail', 'wildfire'], {
    source: client({ base_url }),
    store,
    budget: 2,
  });
  const found = await Promise.all([elsewhere, here]);
  assert.deepEqual([...found.map(({ status }) => status), charged()], ['ok', 'ok', 2]);
});
