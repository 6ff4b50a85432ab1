import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openDataDatabase } from '../../src/data/tables/data-database.ts';
import { createAccount, listAccounts } from '../../src/service/accounts/sqlite/accounts.ts';
import { accountsFileFor, openAccounts } from '../../src/service/accounts/sqlite/accounts-database.ts';
import { registerInstance } from '../../src/service/accounts/sqlite/instances.ts';
import { listKeys } from '../../src/service/accounts/sqlite/keys.ts';
import { moveAccounts } from '../../src/service/accounts/sqlite/move-accounts.ts';
import { perilbook } from '../cli/command-line.ts';
import { usage } from './account-usage.ts';
import { FORMER_CREDITS, FORMER_KEY, FORMER_PERIOD, writeFormerDatabase } from './former-database.ts';
import {
  databaseFile,
  NOON,
  openAccountsOf,
  openDatabase,
  pathTo,
  request,
  StillClock,
  start,
  subscriptionOf,
} from './small-data.ts';

function formerFile(t: TestContext): string {
  const file = databaseFile(t);
  writeFormerDatabase(file);
  return file;
}

function tablesOf(file: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
  } finally {
    database.close();
  }
}

test('accounts, keys and charges of a former version are moved to the accounts file, once', async (t) => {
  const file = formerFile(t);
  const [data, accounts] = [openDatabase(t, file), openAccountsOf(t, file)];
  moveAccounts(data, accounts);
  const clock = new StillClock();
  const subscription = { name: 'custom', creditsPerMonth: 1_000, creditsPerMinute: 500, overageRate: 0.05 } as const;
  assert.deepEqual(listAccounts(accounts), [{ id: 7, name: 'acme', subscription, overages: true, signedUpAt: NOON }]);
  assert.deepEqual(
    listKeys(accounts, clock).map(({ id, state, replacedBy, scopes }) => ({ id, state, replacedBy, scopes })),
    [
      { id: 4, state: 'retired', replacedBy: 5, scopes: ['hail'] },
      { id: 5, state: 'active', replacedBy: null, scopes: ['bundle', 'hail'] },
    ],
  );
  const charges = accounts.prepare('SELECT id, credits, pending_by FROM charges ORDER BY id').raw().all();
  assert.deepEqual(charges, [
    [1, 1, null],
    [2, 15, null],
  ]);
  assert.deepEqual(accounts.prepare('SELECT * FROM minutes').raw().all(), [[7, NOON - 60_000, FORMER_CREDITS]]);
  assert.deepEqual(accounts.prepare('SELECT * FROM periods').raw().all(), [
    [7, FORMER_PERIOD, FORMER_CREDITS, 1, 1, 0, 900, 0.04],
  ]);
  for (const name of ['accounts', 'keys', 'charges', 'accounts_move']) assert.ok(!tablesOf(file).includes(name), name);
  copyFileSync(file, `${file}-copy`);
  assert.ok(!tablesOf(`${file}-copy`).includes('accounts'), 'the file is whole without its -wal');
  moveAccounts(data, accounts);
  assert.equal(usage(accounts, 'acme', NOON).totalCredits, FORMER_CREDITS);
  // The key works, and is refused for want of data, not of an account.
  const { url } = await start(t, { data, accounts, clock });
  assert.equal((await request(url + pathTo('/v1/hail/risk'), FORMER_KEY)).status, 502);
});

test('a new data file has no tables of accounts, an old one without accounts loses them', (t) => {
  const file = databaseFile(t);
  openDatabase(t, file);
  assert.ok(!tablesOf(file).includes('accounts'));
  const old = formerFile(t);
  const database = new Database(old);
  database.exec(
    'DELETE FROM charges; DELETE FROM minutes; DELETE FROM periods; DELETE FROM keys; DELETE FROM accounts',
  );
  database.close();
  openDatabase(t, old);
  assert.ok(!tablesOf(old).includes('charges'));
});

test('accounts are not moved to a file that has accounts, nor while a service runs on the data file', (t) => {
  const file = formerFile(t);
  const [data, accounts] = [openDatabase(t, file), openAccountsOf(t, file)];
  const former = new Database(file);
  // A former service keeps its lock beside the data file.
  using running = registerInstance(data as never, new StillClock());
  assert.throws(() => moveAccounts(data, accounts), { code: 'SERVICE_DATA', message: /is running on it/ });
  running[Symbol.dispose]();
  createAccount(accounts, { name: 'other', subscription: subscriptionOf(1, 1) }, new StillClock());
  assert.throws(() => moveAccounts(data, accounts), { code: 'SERVICE_DATA', message: /has accounts already/ });
  assert.equal(former.prepare('SELECT sum(credits) FROM charges').pluck().get(), 51);
  former.close();
});

test('an interrupted move is completed in the file where it began, and not repeated in another', (t) => {
  const file = formerFile(t);
  const [data, first] = [openDataDatabase(file), openAccounts(accountsFileFor(file))];
  // The last step, the drop, fails: the copy is there.
  data.exec('CREATE TABLE refers (account INTEGER REFERENCES accounts (id)); INSERT INTO refers VALUES (7)');
  assert.throws(() => moveAccounts(data, first), { code: 'SERVICE_DATA' });
  assert.equal(usage(first, 'acme', NOON).totalCredits, FORMER_CREDITS);
  const second = openAccounts(`${file}-second`);
  assert.throws(() => moveAccounts(data, second), { code: 'SERVICE_DATA', message: /was interrupted/ });
  assert.deepEqual(listAccounts(second), []);
  data.exec('DROP TABLE refers');
  moveAccounts(data, first);
  assert.equal(usage(first, 'acme', NOON).totalCredits, FORMER_CREDITS);
  assert.ok(!tablesOf(file).includes('accounts'));
  for (const database of [data, first, second]) database.close();
});

test('the command line moves accounts to the file that it names, or beside the data file', async (t) => {
  const file = formerFile(t);
  const service = (...args: string[]) => perilbook(['service', ...args, '--json'], { clock: new StillClock() });
  const other = await service('account', 'list', '--accounts', `${file}-other`);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /There is no file .*-other/);
  const listed = await service('account', 'list', '--db', file, '--accounts', `${file}-named`);
  assert.equal(listed.code, 0, listed.stderr);
  const [account] = JSON.parse(listed.stdout);
  assert.deepEqual([account.name, account.periods[0].creditsCharged], ['acme', FORMER_CREDITS]);
  assert.equal(existsSync(accountsFileFor(file)), false);
  assert.equal(JSON.parse((await service('key', 'list', '--accounts', `${file}-named`)).stdout).length, 2);
  const same = await service('account', 'list', '--db', file, '--accounts', file);
  assert.match(same.stderr, /name one file/);
});
