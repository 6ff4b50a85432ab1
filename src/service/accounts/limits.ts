import { billingPeriod } from '../../contract/billing-period.ts';
import { type Call, type CallKind, CREDITS } from '../../contract/credits.ts';
import { RATE_WINDOW_MS } from '../../contract/subscriptions.ts';
import type { ServiceAccount } from './service-account.ts';

/** The rule for a call that costs more than the rest of the period, with overages off: it is refused or, in another reading of
 * the contract (docs/developer/service-api.md, 7.9), served while any credit is left. */
export type LastCall = 'refused' | 'served';

/** Charges less than this ahead of the clock, in milliseconds, do not mean that the clock was set back: another instance
 * may have charged after this one read the clock and before it got the lock. */
export const CLOCK_DIFFERENCE_MS = 1_000;

/** The usage of an account that limits the next call. */
export interface LimitUsage {
  /** The time of reading, which is the time of new charges. */
  readonly now: number;
  readonly periodStart: number;
  readonly periodCredits: number;
  /** Charges after this instant count in the minute: those of the last 60 s. */
  readonly minuteFrom: number;
  readonly minuteCredits: number;
}

/** The usage of an account before a batch of calls, and the batch's additions. */
export interface BatchTotal {
  readonly account: ServiceAccount;
  readonly before: LimitUsage;
  credits: number;
  readonly calls: Record<CallKind, number>;
}

/** Why a call may not be charged: the period lacks credits, or the minute lacks this many. */
export type LimitRefusal = 'period' | { readonly missing: number };

/** An allowed charge, and the state of the minute after it. */
export interface AllowedCharge {
  readonly credits: number;
  /** Credits a minute. */
  readonly limit: number;
  readonly remaining: number;
}

/** The start of the billing period of an account that contains `now`. */
export function periodStartOf({ signedUpAt }: ServiceAccount, now: number): number {
  return billingPeriod(new Date(signedUpAt).getUTCDate(), now).start;
}

/** The total of an account before the first call of a batch. */
export function newTotal(account: ServiceAccount, before: LimitUsage): BatchTotal {
  return { account, before, credits: 0, calls: { single: 0, standard: 0, enterprise: 0 } };
}

/** Why a call would be refused after the calls of a total, or null. */
export function findRefusal(
  { account, before, credits: added }: BatchTotal,
  { kind }: Call,
  lastCall: LastCall,
): LimitRefusal | null {
  const credits = CREDITS[kind];
  const { creditsPerMonth, creditsPerMinute } = account.subscription;
  const left = creditsPerMonth - before.periodCredits - added;
  if (!account.overages && left < (lastCall === 'refused' ? credits : 1)) return 'period';
  const missing = before.minuteCredits + added + credits - creditsPerMinute;
  return missing > 0 ? { missing } : null;
}

/** Adds an allowed call to the total of its account. */
export function addCharge(total: BatchTotal, { kind }: Call): AllowedCharge {
  const credits = CREDITS[kind];
  total.credits += credits;
  total.calls[kind] += 1;
  const { creditsPerMinute } = total.account.subscription;
  return {
    credits,
    limit: creditsPerMinute,
    remaining: creditsPerMinute - total.before.minuteCredits - total.credits,
  };
}

export interface LeavingCharge {
  readonly chargedAt: number;
  readonly credits: number;
}

/** The time of the charge with which this many credits will have left the minute, or null.
 * @param charges of the minute, the oldest first */
export function freedBy(charges: readonly LeavingCharge[], missing: number): number | null {
  let freed = 0;
  for (const { chargedAt, credits } of charges) {
    freed += credits;
    if (freed >= missing) return chargedAt;
  }
  return null;
}

/** Seconds until a call fits that the minute refused.
 * @param freedAt the result of `freedBy`; null if the call costs more than the limit and never fits: then a whole minute */
export function computeRetryAfter(freedAt: number | null, now: number): number {
  return Math.ceil(Math.min((freedAt ?? now) + RATE_WINDOW_MS - now, RATE_WINDOW_MS) / 1_000);
}
