import { billingPeriod } from '../../contract/billing-period.ts';
import type { CallKind } from '../../contract/credits.ts';
import { findAccount } from './accounts.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { createSettlements } from './settlements.ts';

/** What an account used in a billing period. Times are milliseconds since the epoch. */
export interface AccountUsage {
  readonly periodStart: number;
  /** The next anniversary; not part of the period. */
  readonly periodEnd: number;
  readonly creditsCharged: number;
  readonly calls: Readonly<Record<CallKind, number>>;
  /** Credits beyond the allowance of the subscription that the account has now. */
  readonly overageCredits: number;
  /** Credits of all periods. */
  readonly totalCredits: number;
}

type UsageRow = { readonly credits: number } & Readonly<Record<CallKind, number>>;

/**
 * What an account used in the period that holds `now`. A call whose answer is being handed over at this moment is
 * counted; what a crashed service left pending is taken back first.
 *
 * @param account the account's name
 * @throws PerilbookError SERVICE_ACCOUNT when there is no such account
 */
export function usage(accounts: AccountsDatabase, account: string, now: number): AccountUsage {
  const { id, signedUpAt, subscription } = findAccount(accounts, account);
  createSettlements(accounts).releaseCrashed(null);
  const { start, end } = billingPeriod(new Date(signedUpAt).getUTCDate(), now);
  const row = accounts
    .prepare<[number, number], UsageRow>(
      'SELECT credits, single, standard, enterprise FROM periods WHERE account = ? AND period_start = ?',
    )
    .get(id, start);
  const total = accounts.prepare<[number], number>('SELECT sum(credits) FROM periods WHERE account = ?').pluck();
  const creditsCharged = row?.credits ?? 0;
  return {
    periodStart: start,
    periodEnd: end,
    creditsCharged,
    calls: { single: row?.single ?? 0, standard: row?.standard ?? 0, enterprise: row?.enterprise ?? 0 },
    overageCredits: Math.max(0, creditsCharged - subscription.creditsPerMonth),
    totalCredits: total.get(id) ?? 0,
  };
}
