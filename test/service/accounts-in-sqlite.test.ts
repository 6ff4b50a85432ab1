import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccounts, sqliteAccounts } from '../../src/service/accounts/open-accounts.ts';
import { tryAccountChanges } from './account-change-trials.ts';
import { sqliteUnderTest } from './accounts-under-test.ts';
import { tryCharges } from './charge-trials.ts';
import { StillClock } from './small-data.ts';

tryCharges('SQLite', sqliteUnderTest, 60);
tryAccountChanges('SQLite', sqliteUnderTest);

test('SQLite: an instance that ends is listed no more, and others are', async (t) => {
  const database = openAccounts(':memory:');
  t.after(() => database.close());
  const port = sqliteAccounts(database, new StillClock());
  const listed = () =>
    database.prepare('SELECT id FROM instances ORDER BY id').pluck().all().length;
  const first = await port.register(() => {});
  await using _ = await port.register(() => {});
  assert.equal(listed(), 2);
  await first[Symbol.asyncDispose]();
  assert.equal(listed(), 1);
});
