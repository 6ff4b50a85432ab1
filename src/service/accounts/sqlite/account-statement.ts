import { type ChargedPeriod, type PeriodStatement, statementsOf } from '../period-statement.ts';
import type { ServiceAccount } from '../service-account.ts';
import type { AccountsDatabase } from './accounts-database.ts';
import { createSettlements } from './settlements.ts';

/** The statement of an account by billing period, the oldest first. */
export function statement(accounts: AccountsDatabase, account: ServiceAccount, now: number): PeriodStatement[] {
  // What a crashed service left pending was never delivered.
  createSettlements(accounts).releaseCrashed(null);
  const rows = accounts
    .prepare<[number], ChargedPeriod>(
      `SELECT period_start AS periodStart, credits, single, standard, enterprise, allowance, overage_rate AS overageRate
       FROM periods WHERE account = ? ORDER BY period_start`,
    )
    .all(account.id);
  return statementsOf(rows, account, now);
}
