import { billingPeriod, CLOCKS_APART_MS, refusalHoldsUntil } from '../../contract/billing-period.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { RunTimes } from './run-times.ts';

/** What calls may still cost, as far as refusals for want of credits told. */
export class Affordable {
  readonly #times: RunTimes;
  /** By purse: a run may go on over one account's anniversary while another pays. */
  readonly #ofQuota = new Map<string, { readonly most: number; readonly until: number }>();
  /** No anniversary renews a budget. */
  #ofBudget = Number.POSITIVE_INFINITY;

  constructor(times: RunTimes) {
    this.#times = times;
  }

  /** The run's budget had no room for a call of so many credits. */
  refusedByBudget(credits: number): void {
    this.#ofBudget = Math.min(this.#ofBudget, credits - 1);
  }

  /** The account's quota had none for a call of so many credits, asked for at that time, by the slowest clock. */
  refusedByQuota(account: JobAccount, credits: number, at: number): void {
    const most = Math.min(this.by(account), credits - 1);
    this.#ofQuota.set(purseOf(account), { most, until: refusalHoldsUntil(account.anniversaryDay, at) });
  }

  /** Most credits that a call of an account can still cost. */
  by(account: JobAccount): number {
    const refused = this.#ofQuota.get(purseOf(account));
    // The provider's clock may be behind ours.
    const holds = refused !== undefined && this.#times.billing().earliest < refused.until + CLOCKS_APART_MS;
    return holds ? Math.min(this.#ofBudget, refused.most) : this.#ofBudget;
  }

  /** When the quota of an account is whole again, by this machine's clock; where it was refused, the reset that the refusal waits for, which may have
   * come while others still paid. */
  resets(account: JobAccount): number {
    const until = this.#ofQuota.get(purseOf(account))?.until;
    return this.#times.wallAt(until ?? billingPeriod(account.anniversaryDay, this.#times.billing().earliest).end);
  }
}

/** Names what pays: an account within its allowance is another purse than the same account with what it may overdraw. */
export function purseOf({ name, overageCredits }: JobAccount): string {
  return `${name}\n${overageCredits}`;
}
