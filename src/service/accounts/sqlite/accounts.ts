import type { Clock } from '../../../clock.ts';
import type { Subscription, SubscriptionName } from '../../../contract/subscriptions.ts';
import {
  accountNotFound,
  checkNewAccount,
  checkSubscription,
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
 * Changes what an account may use, at once: an upgrade lifts a quota that is used up (docs/developer/service-api.md, 7.6).
 *
 * @throws PerilbookError SERVICE_ACCOUNT as `createAccount` and `findAccount` do
 */
export function changeAccount(
  accounts: AccountsDatabase,
  name: string,
  change: { readonly subscription?: Subscription; readonly overages?: boolean },
): ServiceAccount {
  const before = findAccount(accounts, name);
  const subscription = change.subscription ?? before.subscription;
  checkSubscription(subscription);
  const overages = (change.overages ?? before.overages) ? 1 : 0;
  const update = accounts.prepare(
    `UPDATE accounts SET subscription = ?, credits_per_month = ?, credits_per_minute = ?, overage_rate = ?, overages = ?
     WHERE id = ?`,
  );
  const { creditsPerMonth, creditsPerMinute, overageRate } = subscription;
  update.run(subscription.name, creditsPerMonth, creditsPerMinute, overageRate, overages, before.id);
  return findAccount(accounts, name);
}
