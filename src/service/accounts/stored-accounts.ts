import { PerilbookError } from '../../base/errors.ts';
import type { Subscription, SubscriptionName } from '../../contract/subscriptions.ts';
import { type EngineDialect, read, type SqlValue, type SqlWork, statement, write } from '../../sql/sql-work.ts';
import { periodStartOf } from './limits.ts';
import { type ChargedPeriod, makeStatements, type PeriodStatement } from './period-statement.ts';
import {
  type AccountChange,
  changedAccount,
  checkNewAccount,
  type NewAccount,
  type ServiceAccount,
} from './service-account.ts';

/** A row with ACCOUNT_COLUMNS. */
export type AccountRow = Omit<ServiceAccount, 'subscription' | 'overages'> &
  Omit<Subscription, 'name'> & { readonly subscription: SubscriptionName; readonly overages: 0 | 1 };

/** The columns of `accounts a` for `parseAccount`. */
export const ACCOUNT_COLUMNS = `a.id, a.name, a.subscription, a.credits_per_month AS "creditsPerMonth",
  a.credits_per_minute AS "creditsPerMinute", a.overage_rate AS "overageRate", CAST(a.overages AS integer) AS overages,
  a.signed_up_at AS "signedUpAt"`;

export function parseAccount(row: AccountRow): ServiceAccount {
  const { id, name, subscription, creditsPerMonth, creditsPerMinute, overageRate, overages, signedUpAt } = row;
  const terms = { name: subscription, creditsPerMonth, creditsPerMinute, overageRate };
  return { id, name, subscription: terms, overages: overages === 1, signedUpAt };
}

/** The time of the database, in milliseconds since the epoch. */
export function instant({ now }: EngineDialect) {
  return statement<{ readonly now: number }>(`SELECT ${now} AS now`);
}

/** @throws PerilbookError SERVICE_ACCOUNT as `checkNewAccount` does, and when the name is in use */
export function* createAccount({ now }: EngineDialect, account: NewAccount): SqlWork<ServiceAccount> {
  checkNewAccount(account);
  const { name, subscription, overages = false, signedUpAt = null } = account;
  const sql = `INSERT INTO accounts (name, subscription, credits_per_month, credits_per_minute, overage_rate, overages, signed_up_at)
    VALUES ($1, $2, $3, $4, $5, $6, coalesce(CAST($7 AS bigint), ${now})) ON CONFLICT (name) DO NOTHING RETURNING id`;
  const [added] = yield* read(statement(sql, [name, ...parseTerms(subscription, overages), signedUpAt]));
  if (added.length === 0) {
    const hint = 'Choose another name.';
    throw new PerilbookError('SERVICE_ACCOUNT', `Cannot make account "${name}": the name is taken`, hint);
  }
  return yield* findAccount(name);
}

/** Changes the terms of an account, and of its open billing period: a period is billed by its last terms.
 * @throws PerilbookError SERVICE_ACCOUNT as `findAccount` and `changedAccount` do */
export function* changeAccount(dialect: EngineDialect, name: string, change: AccountChange): SqlWork<ServiceAccount> {
  const before = yield* findAccount(name, dialect.forUpdate);
  const [[instantRow]] = yield* read(instant(dialect));
  const period = [before.id, periodStartOf(before, instantRow!.now)];
  const sql = 'SELECT credits FROM periods WHERE account = $1 AND period_start = $2';
  const [[charged]] = yield* read(statement<{ readonly credits: number }>(sql, period));
  const after = changedAccount(before, change, charged?.credits ?? 0);
  const { subscription, overages } = after;
  yield* write(
    statement(
      `UPDATE accounts SET subscription = $2, credits_per_month = $3, credits_per_minute = $4, overage_rate = $5, overages = $6
       WHERE id = $1`,
      [after.id, ...parseTerms(subscription, overages)],
    ),
    statement('UPDATE periods SET allowance = $3, overage_rate = $4 WHERE account = $1 AND period_start = $2', [
      ...period,
      subscription.creditsPerMonth,
      subscription.overageRate,
    ]),
  );
  return after;
}

/** The values of subscription, credits_per_month, credits_per_minute, overage_rate and overages. */
function parseTerms(
  { name, creditsPerMonth, creditsPerMinute, overageRate }: Subscription,
  overages: boolean,
): SqlValue[] {
  return [name, creditsPerMonth, creditsPerMinute, overageRate, overages ? 1 : 0];
}

const SELECT_ACCOUNTS = `SELECT ${ACCOUNT_COLUMNS} FROM accounts a`;

/** The account with a name.
 * @param lock `dialect.forUpdate`, if it will be changed
 * @throws PerilbookError SERVICE_ACCOUNT when there is none */
export function* findAccount(name: string, lock = ''): SqlWork<ServiceAccount> {
  const [[row]] = yield* read(statement<AccountRow>(`${SELECT_ACCOUNTS} WHERE a.name = $1 ${lock}`, [name]));
  if (row === undefined) {
    const hint = '`perilbook service account list` shows the accounts.';
    throw new PerilbookError('SERVICE_ACCOUNT', `Cannot find account "${name}"`, hint);
  }
  return parseAccount(row);
}

/** All accounts, by name. */
export function* listAccounts(): SqlWork<ServiceAccount[]> {
  const [rows] = yield* read(statement<AccountRow>(`${SELECT_ACCOUNTS} ORDER BY a.name`));
  return rows.map(parseAccount);
}

/** The amount that an account owes by billing period, the oldest first. */
export function* readStatement(account: ServiceAccount, now: number): SqlWork<PeriodStatement[]> {
  const sql = `SELECT period_start AS "periodStart", credits, single, standard, enterprise, allowance, overage_rate AS "overageRate"
    FROM periods WHERE account = $1 ORDER BY period_start`;
  const [rows] = yield* read(statement<ChargedPeriod>(sql, [account.id]));
  return makeStatements(rows, account, now);
}
