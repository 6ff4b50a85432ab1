import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import test, { type TestContext } from 'node:test';
import type { AccountsDatabase } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { createAuthentication } from '../../src/service/accounts/sqlite/authenticate.ts';
import { setUp } from './small-data.ts';

/** The database, and every value that its statements are given. */
function overheard(accounts: AccountsDatabase, given: unknown[]): AccountsDatabase {
  return new Proxy(accounts, {
    get(target, name) {
      if (name !== 'prepare') return Reflect.get(target, name, target);
      return (sql: string) => {
        given.push(sql);
        const statement = target.prepare<unknown[]>(sql);
        return {
          get: (...values: unknown[]) => {
            given.push(...values);
            return statement.get(...values);
          },
        };
      };
    },
  });
}

/** The pairs that are compared in constant time from now on. */
function comparisons(t: TestContext): (readonly [Buffer, Buffer])[] {
  const pairs: (readonly [Buffer, Buffer])[] = [];
  const real = crypto.timingSafeEqual;
  t.mock.method(crypto, 'timingSafeEqual', (a: Buffer, b: Buffer) => {
    pairs.push([Buffer.from(a), Buffer.from(b)]);
    return real(a, b);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return pairs;
}

test('a key is looked up and compared by its SHA-256 only, in constant time', async (t) => {
  const { accounts, key, keyId, clock } = await setUp(t);
  const given: unknown[] = [];
  const pairs = comparisons(t);
  const authenticate = createAuthentication(overheard(accounts, given))();
  const caller = authenticate(key, clock.now());
  assert.ok(typeof caller === 'object' && caller.key === keyId);
  const hash = crypto.createHash('sha256').update(key).digest();
  assert.deepEqual(pairs, [[hash, hash]]);
  const values = given.filter((value) => typeof value !== 'string');
  assert.deepEqual(values, [hash, caller.account.id]);

  const nearly = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  assert.equal(authenticate(nearly, clock.now()), 'unknown');
  assert.deepEqual(given.at(-1), crypto.createHash('sha256').update(nearly).digest());
  for (const text of [undefined, '', 'pb_', `${key} `, key.slice(1)]) {
    assert.equal(authenticate(text, clock.now()), 'invalid');
  }
  assert.equal(given.filter((value) => typeof value !== 'string').length, 3, 'no look-up of what cannot be a key');
  for (const value of given) {
    const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value);
    assert.ok(!text.includes(key.slice(3)) && !text.includes(nearly.slice(3)));
  }
});

test('a key row of another hash is refused', async (t) => {
  const { accounts, key, clock } = await setUp(t);
  const row = accounts.prepare('SELECT * FROM keys').get();
  const lying = new Proxy(accounts, {
    get: (target, name) => (name === 'prepare' ? () => ({ get: () => row }) : Reflect.get(target, name, target)),
  });
  const nearly = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
  assert.equal(createAuthentication(lying)()(nearly, clock.now()), 'unknown');
});
