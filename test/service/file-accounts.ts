import type { Clock } from '../../src/base/clock.ts';
import type { AccountsDatabase } from '../../src/service/accounts/open-accounts.ts';
import { readStatement } from '../../src/service/accounts/period-statement.ts';
import { lockPresence } from '../../src/service/accounts/presence.ts';
import * as stored from '../../src/service/accounts/service-account.ts';
import * as keys from '../../src/service/accounts/service-keys.ts';
import { takeBack } from '../../src/service/accounts/settle-charges.ts';
import { type SqliteDriver, sqliteDriver } from '../../src/sql/sqlite-driver.ts';

/* What set-ups do with the accounts of a SQLite file at once, where the port (`sqliteAccounts`) gives a promise. */

const drivers = new WeakMap<AccountsDatabase, SqliteDriver>();

/** The driver of an open file. Its clock is that of the first who asks, as a file has one. */
export function driverOf(accounts: AccountsDatabase, clock: Clock): SqliteDriver {
  const driver = drivers.get(accounts) ?? sqliteDriver(accounts, clock);
  drivers.set(accounts, driver);
  return driver;
}

export function createAccount(
  accounts: AccountsDatabase,
  account: stored.NewAccount,
  clock: Clock,
) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  return transactNow(() => stored.createAccount(dialect, account));
}

export function createKey(
  accounts: AccountsDatabase,
  account: string,
  scopes: readonly string[],
  clock: Clock,
) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  return transactNow(() => keys.createKey(dialect, account, scopes, null));
}

/** What the service has charged an account: in the billing period that holds `now`, and in all (`totalCredits`). */
export function usage(accounts: AccountsDatabase, name: string, now: number) {
  const driver = driverOf(accounts, { now: () => now, sleep: async () => {} });
  const presence = lockPresence(driver, accounts.memory ? null : accounts.name);
  for (const { instance, pending } of driver.readNow(() => presence.crashed())) {
    driver.transactNow(() => takeBack(driver.dialect, instance, pending));
  }
  const periods = driver.readNow(function* () {
    return yield* readStatement(yield* stored.findAccount(name), now);
  });
  const current = periods.find(
    ({ periodStart, periodEnd }) => periodStart <= now && now < periodEnd,
  )!;
  return {
    ...current,
    totalCredits: periods.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0),
  };
}
