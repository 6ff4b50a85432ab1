import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NATURAL_SLUGS } from '../../src/contract/topics.ts';
import { enrich, local, lookup, openStore } from '../../src/index.ts';
import { storeBehind } from '../../src/library/answer-store.ts';
import { fakeService, standBetween } from '../fake-service.ts';
import { places } from '../run/harness.ts';
import { all, localFile, openScene, rowsOf, statuses } from './library-scene.ts';

test('a look-up that buys is a run of one row, within its own budget; stored answers need none', async (t) => {
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
  const bounds = runs.map(({ job, state, budget, charged: credits }) => [
    job,
    state,
    budget,
    credits,
  ]);
  const whole = rows.map(() => ['library', 'complete', 2, 2]);
  const short = [0, 1].map((budget) => ['library', 'paused', budget, 0]);
  assert.deepEqual(bounds, [...short, ...whole]);
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
  assert.equal((await storeBehind(store).runs()).length, budgets.length);
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
  const lost = '1 call without a usable answer may have cost 1.';
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

/** Places in the US of which the small setup has no data: its service would be asked again and again. */
const WITHOUT_DATA = [
  { lat: 45, lng: -99.95 },
  { lat: 41.5, lng: -99.9 },
];

test('a look-up gives what an enrichment gives for its row: bought, stored, local', async (t) => {
  const { harness, client, store } = await openScene(t);
  const outside = [
    [51.5, -0.1],
    ['', ''],
    ['here', 'there'],
  ] as const;
  const rows = [...places(5), ...outside].map(([lat, lng]) => ({ lat, lng }));
  const topics = ['hail', 'park', 'wildfire'] as const;
  using here = local({ file: localFile(harness) });
  for (const [source, budget] of [
    [client(), 100],
    [client(), 0],
    [here, 0],
  ] as const) {
    await using other = await openStore(`${harness.folder}/${source.kind}-${budget}.db`);
    const kept = budget === 0 ? store : other;
    const asked = source === here ? [...rows, ...WITHOUT_DATA] : rows;
    // Other answers in the store would be of another time.
    const enriched = await all(enrich(asked, { topics, source, store: kept, budget }));
    for (const [index, row] of asked.entries()) {
      const found = await lookup(row, topics, { source, store: kept, budget });
      const times = { asOf: null, row: null };
      assert.deepEqual({ ...found, ...times }, { ...enriched[index], ...times });
    }
  }
  for (const row of rows) await lookup(row, topics, { source: client(), store, budget: 3 });
  const looked = [];
  for (const row of rows)
    looked.push(await lookup(row, topics, { source: client(), store, budget: 0 }));
  assert.deepEqual(looked, await all(enrich(rows, { topics, source: client(), store, budget: 0 })));
});
