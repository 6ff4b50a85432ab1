import type { CallKind } from '../../src/contract/credits.ts';
import type { AccountsDatabase } from '../../src/service/accounts/open-accounts.ts';
import { statement } from './file-accounts.ts';

/** What the service has charged an account: in the billing period that holds `now`, and in all. */
export interface AccountUsage {
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
