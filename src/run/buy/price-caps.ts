import { billingPeriod, CLOCKS_APART_MS, refusalHoldsUntil } from '../../contract/billing-period.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { RunTimes } from './run-times.ts';

/** The highest prices that calls may still have, learned from calls that were refused for want of credits. */
export class PriceCaps {
  readonly #times: RunTimes;
  /** By payer: a run may go on past the anniversary of one account while another pays. */
  readonly #ofQuota = new Map<string, { readonly cap: number; readonly until: number }>();
  /** A budget is not renewed. */
  #ofBudget = Number.POSITIVE_INFINITY;

  constructor(times: RunTimes) {
    this.#times = times;
  }

  /** The run's budget was too small for a call of so many credits. */
  refusedByBudget(credits: number): void {
    this.#ofBudget = Math.min(this.#ofBudget, credits - 1);
  }

  /** The account's quota was too small for one that was asked for at that time, by the slowest clock. */
  refusedByQuota(account: JobAccount, credits: number, at: number): void {
    const cap = Math.min(this.of(account), credits - 1);
    this.#ofQuota.set(payerId(account), { cap, until: refusalHoldsUntil(account.anniversaryDay, at) });
  }

  /** Most credits that a call of an account can still cost. */
  of(account: JobAccount): number {
    const refused = this.#ofQuota.get(payerId(account));
    // The provider's clock may be behind ours.
    const holds = refused !== undefined && this.#times.billing().earliest < refused.until + CLOCKS_APART_MS;
    return holds ? Math.min(this.#ofBudget, refused.cap) : this.#ofBudget;
  }

  /** When the quota of an account is renewed, by this machine's clock. After a refusal that is the reset that the refusal waits
   * for, even where it came while others still paid. */
  resets(account: JobAccount): number {
    const until = this.#ofQuota.get(payerId(account))?.until;
    return this.#times.wallAt(until ?? billingPeriod(account.anniversaryDay, this.#times.billing().earliest).end);
  }
}

/** Identifies a payer: an account limited to its allowance is another one than the same account with its overage. */
export function payerId({ name, overageCredits }: JobAccount): string {
  return `${name}\n${overageCredits}`;
}
