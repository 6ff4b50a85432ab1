import type { Clock } from '../../src/base/clock.ts';
import type { CallKind } from '../../src/contract/credits.ts';
import type { AccountsDatabase } from '../../src/service/accounts/open-accounts.ts';
import type { PeriodStatement } from '../../src/service/accounts/period-statement.ts';
import { lockPresence } from '../../src/service/accounts/presence.ts';
import type { AccountChange, NewAccount } from '../../src/service/accounts/service-account.ts';
import * as keys from '../../src/service/accounts/service-keys.ts';
import { takeBack } from '../../src/service/accounts/settle-charges.ts';
import * as stored from '../../src/service/accounts/stored-accounts.ts';
import { type SqliteDriver, sqliteDriver } from '../../src/sql/sqlite-driver.ts';

/* What the port does with the accounts of a SQLite file, at once: without a promise. */

const drivers = new WeakMap<AccountsDatabase, SqliteDriver>();

/** The driver of an open file. Its clock is that of the first who asks, as a file has one. */
export function driverOf(accounts: AccountsDatabase, clock: Clock): SqliteDriver {
  const driver = drivers.get(accounts) ?? sqliteDriver(accounts, clock);
  drivers.set(accounts, driver);
  return driver;
}

export function createAccount(accounts: AccountsDatabase, account: NewAccount, clock: Clock) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  return transactNow(() => stored.createAccount(dialect, account));
}

export function changeAccount(accounts: AccountsDatabase, name: string, change: AccountChange, clock: Clock) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  return transactNow(() => stored.changeAccount(dialect, name, change));
}

export function listAccounts(accounts: AccountsDatabase, clock: Clock) {
  return driverOf(accounts, clock).readNow(stored.listAccounts);
}

export function createKey(
  accounts: AccountsDatabase,
  account: string,
  scopes: readonly string[],
  clock: Clock,
  options: { readonly expiresAt?: number } = {},
) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  const lifetimeMs = options.expiresAt === undefined ? null : options.expiresAt - clock.now();
  return transactNow(() => keys.createKey(dialect, account, scopes, lifetimeMs));
}

export function rotateKey(accounts: AccountsDatabase, keyId: number, graceSeconds: number, clock: Clock) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  return transactNow(() => keys.rotateKey(dialect, keyId, graceSeconds));
}

export function revokeKey(accounts: AccountsDatabase, keyId: number, clock: Clock) {
  const { transactNow, dialect } = driverOf(accounts, clock);
  transactNow(() => keys.revokeKey(dialect, keyId));
}

export function listKeys(accounts: AccountsDatabase, clock: Clock, account?: string) {
  const { readNow, dialect } = driverOf(accounts, clock);
  return readNow(() => keys.listKeys(dialect, account ?? null));
}

export function statement(accounts: AccountsDatabase, name: string, now: number): PeriodStatement[] {
  const driver = driverOf(accounts, { now: () => now, sleep: async () => {} });
  const presence = lockPresence(driver, accounts.memory ? null : accounts.name);
  for (const { instance, pending } of driver.readNow(() => presence.crashed())) {
    driver.transactNow(() => takeBack(driver.dialect, instance, pending));
  }
  return driver.readNow(function* () {
    return yield* stored.readStatement(yield* stored.findAccount(name), now);
  });
}

/** What the service has charged an account: in the billing period that holds `now`, and in all. */
interface AccountUsage {
  readonly periodStart: number;
  /** The next anniversary; not part of the period. */
  readonly periodEnd: number;
  readonly creditsCharged: number;
  readonly calls: Readonly<Record<CallKind, number>>;
  readonly overageCredits: number;
  readonly totalCredits: number;
}

export function usage(accounts: AccountsDatabase, name: string, now: number): AccountUsage {
  const periods = statement(accounts, name, now);
  const current = periods.find(({ periodStart, periodEnd }) => periodStart <= now && now < periodEnd)!;
  return { ...current, totalCredits: periods.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0) };
}
