import type { Clock } from '../../../clock.ts';
import type { Subscription, SubscriptionName } from '../../../contract/subscriptions.ts';
import { periodStartOf } from '../limits.ts';
import {
  type AccountChange,
  accountNotFound,
  changedAccount,
  checkNewAccount,
  type NewAccount,
  nameTaken,
  type ServiceAccount,
} from '../service-account.ts';
import type { AccountsDatabase } from './accounts-database.ts';

/** The columns of `accounts` as `accountOf` takes them. */
export const SELECT_ACCOUNTS = `SELECT id, name, subscription, credits_per_month AS creditsPerMonth,
  credits_per_minute AS creditsPerMinute, overage_rate AS overageRate, overages, signed_up_at AS signedUpAt FROM accounts`;

/** A row of SELECT_ACCOUNTS. */
export type AccountRow = Omit<ServiceAccount, 'subscription' | 'overages'> &
  Omit<Subscription, 'name'> & { readonly subscription: SubscriptionName; readonly overages: 0 | 1 };

export function accountOf({ id, name, subscription, overages, signedUpAt, ...terms }: AccountRow): ServiceAccount {
  return { id, name, subscription: { name: subscription, ...terms }, overages: overages === 1, signedUpAt };
}

/**
 * Makes an account.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when the name is empty or taken, or a figure of the subscription is not a whole
 *   number of credits above 0
 */
export function createAccount(accounts: AccountsDatabase, account: NewAccount, clock: Clock): ServiceAccount {
  checkNewAccount(account);
  const { name, creditsPerMonth, creditsPerMinute, overageRate } = account.subscription;
  const insert = accounts.prepare(
    `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
  );
  const overages = account.overages ? 1 : 0;
  const signedUpAt = account.signedUpAt ?? clock.now();
  const values = [account.name, name, creditsPerMonth, creditsPerMinute, overageRate, overages, signedUpAt];
  const added = insert.run(values);
  if (added.changes === 0) throw nameTaken(account.name);
  return findAccount(accounts, account.name);
}

/**
 * The account of a name.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when there is none
 */
export function findAccount(accounts: AccountsDatabase, name: string): ServiceAccount {
  const row = accounts.prepare<[string], AccountRow>(`${SELECT_ACCOUNTS} WHERE name = ?`).get(name);
  if (row !== undefined) return accountOf(row);
  throw accountNotFound(name);
}

/** All accounts, by name. */
export function listAccounts(accounts: AccountsDatabase): ServiceAccount[] {
  return accounts.prepare<[], AccountRow>(`${SELECT_ACCOUNTS} ORDER BY name`).all().map(accountOf);
}

/**
 * Changes what an account may use, at once: an upgrade lifts a quota that is used up. The open billing period is billed by the
 * new terms.
 *
 * @throws PerilbookError SERVICE_ACCOUNT as `findAccount` and `changedAccount` do
 */
export function changeAccount(
  accounts: AccountsDatabase,
  name: string,
  change: AccountChange,
  clock: Clock,
): ServiceAccount {
  const changed = accounts.transaction(() => {
    const before = findAccount(accounts, name);
    const periodStart = periodStartOf(before, clock.now());
    const ofPeriod = accounts
      .prepare<[number, number], number>('SELECT credits FROM periods WHERE account = ? AND period_start = ?')
      .pluck();
    const after = changedAccount(before, change, ofPeriod.get(before.id, periodStart) ?? 0);
    const { name: subscription, creditsPerMonth, creditsPerMinute, overageRate } = after.subscription;
    const update = accounts.prepare(
      `UPDATE accounts SET subscription = ?, credits_per_month = ?, credits_per_minute = ?, overage_rate = ?, overages = ?
       WHERE id = ?`,
    );
    update.run(subscription, creditsPerMonth, creditsPerMinute, overageRate, after.overages ? 1 : 0, after.id);
    const updatePeriod = accounts.prepare(
      'UPDATE periods SET allowance = ?, overage_rate = ? WHERE account = ? AND period_start = ?',
    );
    updatePeriod.run(creditsPerMonth, overageRate, after.id, periodStart);
    return after;
  });
  return changed.immediate();
}
