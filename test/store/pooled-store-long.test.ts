import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import type { Claim } from '../../src/store/ledger/port.ts';
import { openPostgresStore } from '../../src/store/postgres-store.ts';
import { launchPooler, startPooler, WITH_POOLER } from '../pooler.ts';
import { sharedPostgres } from '../postgres-server.ts';
import { type CommitFault, startTcpProxy } from '../tcp-proxy.ts';
import { ANSWER, callAt, chargedFor, termsOf } from './claims.ts';
import { testStore } from './contract/store-contract.ts';

const server = await sharedPostgres();
const OWNER = { name: 'me', isAlive: () => true };
const open = (address: string) => openPostgresStore(address, systemClock, OWNER);
const settled = (claim: Claim) => chargedFor(claim, 15, { answers: [ANSWER] });
const isHere = WITH_POOLER.skip === false;
const pooled = isHere ? await startPooler(server.port) : 0;
const inSessions = isHere ? await startPooler(server.port, 'session') : 0;

if (isHere) {
  testStore('PostgreSQL behind PgBouncer', async () => {
    const address = server.storeAddress({ port: pooled });
    return {
      open: (clock, owner) =>
        openPostgresStore(address, systemClock, owner, {
          serverTime: () => `${clock.now()}::bigint`,
        }),
    };
  });
}

for (const mode of ['transaction', 'session'] as const) {
  test(
    `a store behind PgBouncer in ${mode} mode is the store of a direct connection`,
    WITH_POOLER,
    async () => {
      const port = mode === 'transaction' ? pooled : inSessions;
      const schema = `modes_${mode}`;
      const stores = await Promise.all(
        [1, 2, 3].map(() => open(server.storeAddress({ schema, port }))),
      );
      for (const [index, store] of stores.entries()) {
        const limits = await termsOf(store);
        const claims = await Promise.all(
          [1, 2, 3].map((call) => store.claim(limits, [callAt(10 * index + call)])),
        );
        await store.settle(claims.flat().map(settled));
        assert.deepEqual(await store.runSpending(limits.run), { charged: 45, unknown: 0, open: 0 });
      }
      for (const store of stores) await store.close();
      await using direct = await open(server.storeAddress({ schema }));
      assert.deepEqual((await direct.stats()).calls, { sent: 0, charged: 9, free: 0, unknown: 0 });
      const places = "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'";
      assert.deepEqual(await server.query(places), [{ tables: 0 }], 'nothing lies elsewhere');
    },
  );
}

const FAULTS: readonly (readonly CommitFault[])[] = [
  ['answer lost'],
  ['request lost', 'cut at once'],
];

for (const faults of FAULTS) {
  test(
    `behind PgBouncer a COMMIT that is not answered is looked up: ${faults.join(', then ')}`,
    WITH_POOLER,
    async () => {
      // Between the worker and the pooler.
      await using proxy = await startTcpProxy(pooled);
      await using store = await open(server.storeAddress({ port: proxy.port }));
      const limits = await termsOf(store, { budget: 30, periodLimit: 30 });
      proxy.commitFaults.push(...faults);
      const claims = await store.claim(limits, [callAt(1), callAt(2), callAt(3)]);
      assert.deepEqual(
        claims.map(({ outcome }) => outcome),
        ['granted', 'granted', 'budget'],
      );
      proxy.commitFaults.push(...faults);
      await store.settle(claims.slice(0, 2).map(settled));
      assert.deepEqual(await store.runSpending(limits.run), { charged: 30, unknown: 0, open: 0 });
      assert.equal(proxy.commitFaults.length, 0);
    },
  );
}

test(
  'a pooler in statement mode is named at once: it has no transactions',
  WITH_POOLER,
  async () => {
    await using pooler = await launchPooler(server.port, 'statement');
    let tries = 0;
    const clock = {
      ...systemClock,
      now: () => systemClock.now(),
      // The pooler closes right after its refusal: a statement behind it may only meet the closed connection.
      sleep: async () => assert.ok(++tries < 10, 'it was tried for long'),
    };
    await assert.rejects(
      openPostgresStore(server.storeAddress({ port: pooler.port }), clock, OWNER),
      {
        code: 'STORE_UNUSABLE',
        message: /is behind a pooler in statement mode, which has no transactions/,
        hint: /^Set pool_mode = transaction/,
      },
    );
  },
);

test('a store whose tables lie in another schema is told as that, with its remedy', async () => {
  const schema = 'half';
  await (await open(server.storeAddress({ schema }))).close();
  const tables = await server.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'schema_version'`,
  );
  await server.query('CREATE SCHEMA elsewhere');
  for (const { name } of tables)
    await server.query(`ALTER TABLE ${schema}.${name} SET SCHEMA elsewhere`);
  await assert.rejects(open(server.storeAddress({ schema })), {
    code: 'STORE_UNUSABLE',
    message: /lacks a table: relation "\w+" does not exist/,
    hint: /^It may lie in another schema: docs\/operator\/many-machines\.md has the command that moves it/,
  });
  for (const { name } of tables)
    await server.query(`ALTER TABLE elsewhere.${name} SET SCHEMA ${schema}`);
  await (await open(server.storeAddress({ schema }))).close();
});

for (const [name, change, message] of [
  [
    'a database that is not there',
    (url: string) => url.replace('/postgres?', '/no_such?'),
    /no_such/,
  ],
  [
    'a role that is not there',
    (url: string) => url.replace('postgres@', 'nobody_here@'),
    /nobody_here|refused the login/,
  ],
] as const) {
  test(`${name} is said at once, in the words of the server`, async () => {
    // It is not waited for, as for a server that is away.
    let tries = 0;
    const clock = {
      ...systemClock,
      now: () => systemClock.now(),
      // The pooler closes right after its refusal: a statement behind it may only meet the closed connection.
      sleep: async () => assert.ok(++tries < 10, 'it was tried for long'),
    };
    const opening = openPostgresStore(change(server.storeAddress()), clock, OWNER);
    await assert.rejects(opening, { code: 'STORE_UNUSABLE', message });
  });
}
