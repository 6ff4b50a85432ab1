import type { Clock } from '../../clock.ts';
import type { Subscription, SubscriptionName } from '../../contract/subscriptions.ts';
import type { ServiceDatabase } from '../../data/tables/data-database.ts';
import { PerilbookError } from '../../errors.ts';

/** Who is charged: one quota and one minute limit, whatever the number of keys. */
export interface ServiceAccount {
  readonly id: number;
  /** Unique; how the operator names it. */
  readonly name: string;
  readonly subscription: Subscription;
  /** Whether calls succeed beyond the allowance and are billed per credit. */
  readonly overages: boolean;
  /** Milliseconds since the epoch; its UTC day of the month is the billing anniversary. */
  readonly signedUpAt: number;
}

/** An account as its row holds it. */
export interface AccountRow {
  readonly id: number;
  readonly name: string;
  readonly subscription: 'starter' | 'professional' | 'enterprise';
  readonly credits_per_month: number;
  readonly credits_per_minute: number;
  readonly overage_rate: number | null;
  readonly overages: 0 | 1;
  readonly signed_up_at: number;
}

/** The account of a row. */
export function accountOfRow(row: AccountRow): ServiceAccount {
  return {
    id: row.id,
    name: row.name,
    subscription: {
      name: row.subscription === 'enterprise' ? 'custom' : row.subscription,
      creditsPerMonth: row.credits_per_month,
      creditsPerMinute: row.credits_per_minute,
      overageRate: row.overage_rate,
    },
    overages: row.overages === 1,
    signedUpAt: row.signed_up_at,
  };
}

/** The table was made when a custom subscription was called enterprise, which is a bundle's name. */
function nameKept(name: SubscriptionName): AccountRow['subscription'] {
  return name === 'custom' ? 'enterprise' : name;
}

/** What a new account needs; overages are off and sign-up is now unless said otherwise. */
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
 * @throws PerilbookError SERVICE_ACCOUNT when the name is empty or taken, or a figure of the subscription is no whole
 *   number of credits above 0
 */
export function createAccount(database: ServiceDatabase, account: NewAccount, clock: Clock): ServiceAccount {
  if (account.name.trim() === '') {
    throw new PerilbookError('SERVICE_ACCOUNT', 'Cannot make an account without a name', 'Give the account a name.');
  }
  const { name, creditsPerMonth, creditsPerMinute, overageRate } = checkedSubscription(account.subscription);
  const added = database
    .prepare(
      `INSERT INTO accounts
         (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
    )
    .run(
      account.name,
      nameKept(name),
      creditsPerMonth,
      creditsPerMinute,
      overageRate,
      account.overages ? 1 : 0,
      account.signedUpAt ?? clock.now(),
    );
  if (added.changes === 0) {
    throw new PerilbookError(
      'SERVICE_ACCOUNT',
      `Cannot make account "${account.name}": there is one of this name`,
      'Choose another name, or change the account that is there.',
    );
  }
  return findAccount(database, account.name);
}

/**
 * The account of a name.
 *
 * @throws PerilbookError SERVICE_ACCOUNT when there is none
 */
export function findAccount(database: ServiceDatabase, name: string): ServiceAccount {
  const row = database.prepare<[string], AccountRow>('SELECT * FROM accounts WHERE name = ?').get(name);
  if (row !== undefined) return accountOfRow(row);
  throw new PerilbookError(
    'SERVICE_ACCOUNT',
    `Cannot find account "${name}"`,
    'Look at the list of accounts, or make this one.',
  );
}

/** All accounts, by name. */
export function listAccounts(database: ServiceDatabase): ServiceAccount[] {
  return database.prepare<[], AccountRow>('SELECT * FROM accounts ORDER BY name').all().map(accountOfRow);
}

/**
 * Changes what an account may use, at once: an upgrade lifts a quota that is used up (contract, Quota state).
 *
 * @throws PerilbookError SERVICE_ACCOUNT as `createAccount` and `findAccount` do
 */
export function changeAccount(
  database: ServiceDatabase,
  name: string,
  change: { readonly subscription?: Subscription; readonly overages?: boolean },
): ServiceAccount {
  const before = findAccount(database, name);
  const subscription = checkedSubscription(change.subscription ?? before.subscription);
  database
    .prepare(
      `UPDATE accounts SET subscription = ?, credits_per_month = ?, credits_per_minute = ?, overage_rate = ?, overages = ?
       WHERE id = ?`,
    )
    .run(
      nameKept(subscription.name),
      subscription.creditsPerMonth,
      subscription.creditsPerMinute,
      subscription.overageRate,
      (change.overages ?? before.overages) ? 1 : 0,
      before.id,
    );
  return findAccount(database, name);
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
