import type { SubscriptionName } from '../../../contract/subscriptions.ts';
import { type LimitRules, type LimitUsage, periodStartOf } from '../limits.ts';
import type { ServiceAccount } from '../service-account.ts';

/** A row with ACCOUNT_COLUMNS. */
export interface PostgresAccountRow {
  readonly account: number;
  readonly name: string;
  readonly subscription: SubscriptionName;
  readonly credits_per_month: number;
  readonly credits_per_minute: number;
  readonly overage_rate: number | null;
  readonly overages: boolean;
  readonly signed_up_at: number;
}

export const ACCOUNT_COLUMNS =
  'a.id AS account, a.name, a.subscription, a.credits_per_month, a.credits_per_minute, a.overage_rate, a.overages, a.signed_up_at';

export function accountOfRow(row: PostgresAccountRow): ServiceAccount {
  return {
    id: row.account,
    name: row.name,
    subscription: {
      name: row.subscription,
      creditsPerMonth: row.credits_per_month,
      creditsPerMinute: row.credits_per_minute,
      overageRate: row.overage_rate,
    },
    overages: row.overages,
    signedUpAt: row.signed_up_at,
  };
}

/** A row with USAGE_COLUMNS; a null where the account was never charged. */
export interface UsageRow extends PostgresAccountRow {
  readonly now: number;
  readonly minute_start: number;
  readonly minute_from: number | null;
  readonly minute_credits: number | null;
  readonly left_minute: number;
  readonly period_start: number | null;
  readonly period_credits: number | null;
}

export const USAGE_COLUMNS = `t.now, t.minute_start, ${ACCOUNT_COLUMNS}, m.minute_from, m.minute_credits, l.left_minute, p.period_start, p.period_credits`;

/** The instant of a statement, and the one after which charges count in the minute. */
export function instantSql({ rateWindow }: LimitRules): string {
  const start = rateWindow === 'sliding' ? 'c.now - 60000' : 'c.now - c.now % 60000 - 1';
  return `t AS MATERIALIZED (SELECT c.now, ${start} AS minute_start FROM (SELECT clock_ms() AS now OFFSET 0) c)`;
}

/** What accounts `a` have used at the instant `t`: the running sum of the minute and what has left it since, and the newest
 * period. A period begins where the account's last one that was charged does, or later. */
export const USAGE_JOINS = `
  LEFT JOIN minutes m ON m.account = a.id
  LEFT JOIN LATERAL (SELECT coalesce(sum(credits), 0) AS left_minute FROM charges
    WHERE account = a.id AND charged_at > m.minute_from AND charged_at <= t.minute_start) l ON true
  LEFT JOIN LATERAL (SELECT period_start, credits AS period_credits FROM periods
    WHERE account = a.id AND period_start <= t.now ORDER BY period_start DESC LIMIT 1) p ON true`;

/** Whether the clock was set back: then the running sum of the minute says nothing. */
export function isSetBack({ minute_from, minute_start }: UsageRow): boolean {
  return minute_from !== null && minute_start < minute_from;
}

/** @param minuteCredits the credits of the minute, where the clock was set back */
export function usageOfRow(row: UsageRow, account: ServiceAccount, minuteCredits: number | null = null): LimitUsage {
  const periodStart = periodStartOf(account, row.now);
  return {
    now: row.now,
    periodStart,
    periodCredits: row.period_start === periodStart ? row.period_credits! : 0,
    minuteFrom: row.minute_start,
    minuteCredits: minuteCredits ?? (row.minute_credits ?? 0) - row.left_minute,
  };
}
