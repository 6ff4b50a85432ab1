import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookup } from '../../src/index.ts';
import { storeBehind } from '../../src/library/answer-store.ts';
import { places } from '../run/harness.ts';
import { openScene, rowsOf } from './library-scene.ts';

test('look-ups of a process are one run, each within its own budget; stored answers need none', async (t) => {
  const { client, store, charged } = await openScene(t);
  const source = client();
  const rows = rowsOf(places(6));
  const bought = [];
  for (const row of rows) bought.push(await lookup(row, ['wildfire', 'hail'], { source, store, budget: 2 }));
  assert.deepEqual([charged(), new Set(bought.map(({ status }) => status))], [12, new Set(['ok'])]);
  const again = [];
  for (const row of rows) again.push(await lookup(row, ['wildfire', 'hail'], { source, store, budget: 0 }));
  assert.deepEqual(again, bought);
  const [other] = rowsOf(places(7).slice(6));
  const small = await lookup(other!, ['wildfire', 'hail'], { source, store, budget: 1 });
  assert.deepEqual([small.status, charged()], ['deferred', 12]);
  const runs = await storeBehind(store).runs();
  assert.deepEqual(
    runs.map(({ job, charged: credits }) => [job, credits]),
    [['library', 12]],
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
