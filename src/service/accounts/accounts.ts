import type { Clock } from '../../clock.ts';
import type { Subscription, SubscriptionName } from '../../contract/subscriptions.ts';
import { PerilbookError } from '../../errors.ts';
import type { AccountsDatabase } from './accounts-database.ts';

/** Who is charged. All keys of an account share one quota and one rate limit. */
export interface ServiceAccount {
  readonly id: number;
  /** Unique; given by the operator. */
  readonly name: string;
  readonly subscription: Subscription;
  /** Whether calls succeed beyond the allowance and are billed per credit. */
  readonly overages: boolean;
  /** Milliseconds since the epoch; its UTC day of the month is the billing anniversary. */
  readonly signedUpAt: number;
}

/** A row of `accounts`. */
export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly subscription: SubscriptionName;
  readonly credits_per_month: number;
  readonly credits_per_minute: number;
  readonly overage_rate: number | null;
  readonly overages: 0 | 1;
  readonly signed_up_at: number;
}

export function accountOfRow(row: AccountRow): ServiceAccount {
  return {
    id: row.id,
    name: row.name,
    subscription: {
      name: row.subscription,
      creditsPerMonth: row.credits_per_month,
      creditsPerMinute: row.credits_per_minute,
      overageRate: row.overage_rate,
    },
    overages: row.overages === 1,
    signedUpAt: row.signed_up_at,
  };
}

/** A new account. Defaults: overages are off, and sign-up is now. */
export interface NewAccount {
  readonly name: string;
  readonly subscription: Subscription;
  readonly overages?: boolean;
  /** Milliseconds since the epoch. */
  readonly signedUpAt?: number;
}

/**
 * Makes an account.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when the name is empty or taken, or a figure of the subscription is not a whole
 *   number of credits above 0
 */
export function createAccount(accounts: AccountsDatabase, account: NewAccount, clock: Clock): ServiceAccount {
  if (account.name.trim() === '') {
    throw new PerilbookError('SERVICE_ACCOUNT', 'Cannot make an account without a name', 'Give the account a name.');
  }
  const { name, creditsPerMonth, creditsPerMinute, overageRate } = checkedSubscription(account.subscription);
  const insert = accounts.prepare(
    `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
  );
  const overages = account.overages ? 1 : 0;
  const signedUpAt = account.signedUpAt ?? clock.now();
  const values = [account.name, name, creditsPerMonth, creditsPerMinute, overageRate, overages, signedUpAt];
  const added = insert.run(values);
  if (added.changes === 0) {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      `Cannot make account "${account.name}": the name is taken`,
      'Choose another name.',
    );
  }
  return findAccount(accounts, account.name);
}

/**
 * The account of a name.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when there is none
 */
export function findAccount(accounts: AccountsDatabase, name: string): ServiceAccount {
  const row = accounts.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE name = ?').get(name);
  if (row !== undefined) return accountOfRow(row);
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot find account "${name}"`,
    '`perilbook service account list` shows the accounts.',
  );
}

/** All accounts, by name. */
export function listAccounts(accounts: AccountsDatabase): ServiceAccount[] {
  return accounts.prepare<[], AccountRow>('SELECT * FROM accounts ORDER BY name').all().map(accountOfRow);
}

/**
 * Changes what an account may use, at once: an upgrade lifts a quota that is used up (docs/service-api.md, 7.6).
 *
 * @throws PerilbookError SERVICE_ACCOUNT as `createAccount` and `findAccount` do
 */
export function changeAccount(
  accounts: AccountsDatabase,
  name: string,
  change: { readonly subscription?: Subscription; readonly overages?: boolean },
): ServiceAccount {
  const before = findAccount(accounts, name);
  const subscription = checkedSubscription(change.subscription ?? before.subscription);
  const overages = (change.overages ?? before.overages) ? 1 : 0;
  const update = accounts.prepare(
    `UPDATE accounts SET subscription = ?, credits_per_month = ?, credits_per_minute = ?, overage_rate = ?, overages = ?
     WHERE id = ?`,
  );
  const { creditsPerMonth, creditsPerMinute, overageRate } = subscription;
  update.run(subscription.name, creditsPerMonth, creditsPerMinute, overageRate, overages, before.id);
  return findAccount(accounts, name);
}

function checkedSubscription(subscription: Subscription): Subscription {
  const { creditsPerMonth, creditsPerMinute, overageRate } = subscription;
  const whole = (credits: number) => Number.isSafeInteger(credits) && credits > 0;
  const rate = overageRate === null || (Number.isFinite(overageRate) && overageRate >= 0);
  if (whole(creditsPerMonth) && whole(creditsPerMinute) && rate) return subscription;
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot use subscription "${subscription.name}" with ${creditsPerMonth} credits a month and ${creditsPerMinute} a minute`,
    'Give whole numbers of credits above 0, and an overage rate of 0 or more dollars.',
  );
}
