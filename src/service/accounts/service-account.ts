import { PerilbookError } from '../../base/errors.ts';
import { grouped } from '../../base/format-numbers.ts';
import { billingPeriod } from '../../contract/billing-period.ts';
import type { Subscription, SubscriptionName } from '../../contract/subscriptions.ts';
import {
  type EngineDialect,
  read,
  type SqlStatement,
  type SqlWork,
  statement,
  write,
} from '../../sql/sql-work.ts';

/** An account that is charged. All its keys share one quota and one rate limit. */
export interface ServiceAccount {
  /** Its number. */
  readonly id: number;
  /** Its name, which no other account has. */
  readonly name: string;
  /** Its terms. */
  readonly subscription: Subscription;
  /** Whether calls succeed beyond the allowance and are billed per credit. */
  readonly overages: boolean;
  /** When it was made; the day of the month in UTC is the billing anniversary. */
  readonly signedUpAt: number;
}

/** The start of the billing period of an account that contains `now`. */
export function periodStartOf({ signedUpAt }: ServiceAccount, now: number): number {
  return billingPeriod(new Date(signedUpAt).getUTCDate(), now).start;
}

export interface NewAccount {
  readonly name: string;
  readonly subscription: Subscription;
  readonly overages?: boolean;
  /** Milliseconds since the epoch. */
  readonly signedUpAt?: number | undefined;
}

/** New terms of an account; absent ones do not change. */
export interface AccountChange {
  readonly subscription?: Subscription;
  /** Figures of a custom subscription; the others stay as they are. */
  readonly figures?: Partial<Omit<Subscription, 'name'>>;
  readonly overages?: boolean;
}

/** @throws PerilbookError SERVICE_ACCOUNT when a figure is not a whole number of credits above 0 */
function checkSubscription(subscription: Subscription): void {
  const { creditsPerMonth, creditsPerMinute, overageRate } = subscription;
  const whole = (credits: number) => Number.isSafeInteger(credits) && credits > 0;
  const rate = overageRate === null || (Number.isFinite(overageRate) && overageRate >= 0);
  if (whole(creditsPerMonth) && whole(creditsPerMinute) && rate) return;
  const terms = `${creditsPerMonth} credits a month and ${creditsPerMinute} a minute`;
  const hint = 'Give whole numbers of credits above 0, and an overage rate of 0 or more dollars.';
  throw accountError(`Cannot use subscription "${subscription.name}" with ${terms}`, hint);
}

/** The error of a command for accounts or keys. */
export function accountError(message: string, hint: string): PerilbookError {
  return new PerilbookError('SERVICE_ACCOUNT', message, hint);
}

/** An account after a change of its terms, which takes effect at once (docs/developer/service-api.md, 7.6).
 * @param charged credits that the account was charged in the current billing period
 * @throws PerilbookError SERVICE_ACCOUNT when a figure is no whole number of credits above 0, or credits that the old
 *   allowance included would be beyond the new one: they would be billed although the account did not agree to overages */
function changedAccount(
  account: ServiceAccount,
  change: AccountChange,
  charged: number,
): ServiceAccount {
  const { overages = account.overages, figures } = change;
  const agreed = change.subscription ?? account.subscription;
  const subscription: Subscription =
    figures === undefined ? agreed : { ...agreed, name: 'custom', ...figures };
  checkSubscription(subscription);
  const { creditsPerMonth: before } = account.subscription;
  const included = Math.min(charged, before);
  if (subscription.creditsPerMonth >= included) return { ...account, subscription, overages };
  const refused = `Cannot lower account "${account.name}" to ${grouped(subscription.creditsPerMonth)} credits a month`;
  const reason = `${grouped(included)} of its ${grouped(before)} are charged in this billing period`;
  const hint = `Give ${grouped(included)} or more, or change it when the next billing period has begun.`;
  throw accountError(`${refused}: ${reason}`, hint);
}

/** A row with ACCOUNT_COLUMNS. */
export type AccountRow = Omit<ServiceAccount, 'subscription' | 'overages'> &
  Omit<Subscription, 'name'> & {
    readonly subscription: SubscriptionName;
    readonly overages: 0 | 1;
  };

/** The columns of `accounts a` for `parseAccount`. */
export const ACCOUNT_COLUMNS = `a.id, a.name, a.subscription, a.credits_per_month AS "creditsPerMonth",
  a.credits_per_minute AS "creditsPerMinute", a.overage_rate AS "overageRate", CAST(a.overages AS integer) AS overages,
  a.signed_up_at AS "signedUpAt"`;

/** Reads the row of an account. */
export function parseAccount(row: AccountRow): ServiceAccount {
  const {
    id,
    name,
    subscription,
    creditsPerMonth,
    creditsPerMinute,
    overageRate,
    overages,
    signedUpAt,
  } = row;
  const terms = { name: subscription, creditsPerMonth, creditsPerMinute, overageRate };
  return { id, name, subscription: terms, overages: overages === 1, signedUpAt };
}

/** The time of the database, in milliseconds since the epoch. */
export function instant({ now }: EngineDialect): SqlStatement<{ readonly now: number }> {
  return statement<{ readonly now: number }>(`SELECT ${now} AS now`);
}

/** @throws PerilbookError SERVICE_ACCOUNT when the name is empty or in use, and as `checkSubscription` does */
export function* createAccount(
  { now }: EngineDialect,
  account: NewAccount,
): SqlWork<ServiceAccount> {
  const { name, subscription, overages = false, signedUpAt = null } = account;
  if (name.trim() === '') {
    throw accountError('Cannot make an account without a name', 'Give the account a name.');
  }
  checkSubscription(subscription);
  const sql = `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
    VALUES ($1, $2, $3, $4, $5, $6, coalesce(CAST($7 AS bigint), ${now})) ON CONFLICT (name) DO NOTHING RETURNING id`;
  const [added] = yield* read(
    statement(sql, [name, ...parseTerms(subscription, overages), signedUpAt]),
  );
  if (added.length === 0) {
    throw accountError(`Cannot make account "${name}": the name is taken`, 'Choose another name.');
  }
  return yield* findAccount(name);
}

/** Changes the terms of an account, and of its open billing period: a period is billed by its last terms.
 * @throws PerilbookError SERVICE_ACCOUNT as `findAccount` and `changedAccount` do */
export function* changeAccount(
  dialect: EngineDialect,
  name: string,
  change: AccountChange,
): SqlWork<ServiceAccount> {
  const before = yield* findAccount(name, dialect.forUpdate);
  const [[instantRow]] = yield* read(instant(dialect));
  const period = [before.id, periodStartOf(before, instantRow!.now)];
  const sql = 'SELECT credits FROM periods WHERE account = $1 AND period_start = $2';
  const [[charged]] = yield* read(statement<{ readonly credits: number }>(sql, period));
  const after = changedAccount(before, change, charged?.credits ?? 0);
  const { subscription, overages } = after;
  const ofAccount = `UPDATE accounts SET subscription = $2, credits_per_month = $3, credits_per_minute = $4, overage_rate = $5,
    overages = $6 WHERE id = $1`;
  const ofPeriod =
    'UPDATE periods SET allowance = $3, overage_rate = $4 WHERE account = $1 AND period_start = $2';
  yield* write(
    statement(ofAccount, [after.id, ...parseTerms(subscription, overages)]),
    statement(ofPeriod, [...period, subscription.creditsPerMonth, subscription.overageRate]),
  );
  return after;
}

/** The values of subscription, credits_per_month, credits_per_minute, overage_rate and overages. */
function parseTerms(
  { name, creditsPerMonth, creditsPerMinute, overageRate }: Subscription,
  overages: boolean,
) {
  return [name, creditsPerMonth, creditsPerMinute, overageRate, overages ? 1 : 0];
}

const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;

/** The account with a name.
 * @param lock `dialect.forUpdate`, if it will be changed
 * @throws PerilbookError SERVICE_ACCOUNT when there is none */
export function* findAccount(name: string, lock = ''): SqlWork<ServiceAccount> {
  const [[row]] = yield* read(
    statement<AccountRow>(`${SELECT_ACCOUNTS} WHERE a.name = $1 ${lock}`, [name]),
  );
  if (row === undefined) {
    throw accountError(
      `Cannot find account "${name}"`,
      'perilbook service account list shows the accounts.',
    );
  }
  return parseAccount(row);
}

/** All accounts, by name. */
export function* listAccounts(): SqlWork<ServiceAccount[]> {
  const [rows] = yield* read(statement<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY a.name`));
  return rows.map(parseAccount);
}
