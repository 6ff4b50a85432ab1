import { billingPeriod, CLOCKS_APART_MS, refusalHoldsUntil } from '../../contract/billing-period.ts';
import { type BundleKind, type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { PriceList } from '../../plan/cheapest-calls.ts';
import type { BundleContents } from '../../store/port.ts';
import type { ApiKeys, Key } from '../plan/api-keys.ts';
import { priceListOf } from '../plan/price-list.ts';
import type { RunTimes } from '../run-times.ts';
import type { JobAccount } from '../settings/account-settings.ts';
import type { Job } from '../settings/settings.ts';
import { type Stop, stopFor } from '../stop.ts';

/**
 * The keys and accounts that pay for calls, and the prices that each account can still pay. It learns from refusals which keys and
 * scopes the service refuses, and when an account or the budget lacks credits.
 */
export class Payers {
  readonly probes = new KeyProbes();
  readonly #job: Job;
  readonly #apiKeys: ApiKeys;
  readonly #caps: PriceCaps;
  /** The accounts by name in the order of use: overage comes last, where no account has the credits within its allowance. */
  readonly #tries: readonly ReadonlyMap<string, JobAccount>[];
  #contents: BundleContents;
  #priceList: PriceList;
  #short: 'quota' | 'budget' | null = null;

  constructor(job: Job, apiKeys: ApiKeys, times: RunTimes, contents: BundleContents) {
    this.#job = job;
    this.#apiKeys = apiKeys;
    this.#caps = new PriceCaps(times);
    const all = [job.account, ...job.accounts].map((account) => [account.name, account] as const);
    const within = all.map(([name, account]) => [name, withinAllowance(account)] as const);
    this.#tries = job.accounts.length > 1 ? [new Map(within), new Map(all)] : [new Map(all)];
    this.#contents = contents;
    this.#priceList = priceListOf(job, contents, apiKeys);
  }

  /** The prices of calls with the remaining keys. */
  get priceList(): PriceList {
    return this.#priceList;
  }

  /** An account with a key for the call and enough credits, which then pays for it; null if there is none. */
  accountFor(call: Call): JobAccount | null {
    for (const accounts of this.#tries) {
      const accountOf = (name: string | null) => accounts.get(this.#accountName(name))!;
      const key = this.#apiKeys.keyFor(scopeOf(call), (name) => this.#canPay(accountOf(name), call));
      if (key !== null) return accountOf(key.account ?? null);
    }
    return null;
  }

  /** The key of an account for a call; null if the account has no usable key or can no longer pay. */
  keyOf(account: JobAccount, call: Call): Key | null {
    if (!this.#canPay(account, call)) return null;
    return this.#apiKeys.keyFor(scopeOf(call), (name) => this.#accountName(name) === account.name);
  }

  /** Whether a key of any account may make a call. */
  hasKeyFor(call: Call): boolean {
    return this.#apiKeys.keyFor(scopeOf(call)) !== null;
  }

  /** Whether the service has refused every key. */
  get hasNoKey(): boolean {
    return this.#apiKeys.exhausted;
  }

  /** The service refused a key: altogether (401), or for the scope of this call (403). */
  keyRefused(key: Key, call: Call, what: 'key' | 'scope'): void {
    this.probes.refused();
    if (what === 'key') this.#apiKeys.markInvalid(key);
    else this.#apiKeys.denyScope(key, scopeOf(call));
    this.#reprice();
  }

  /** Records that a call of this price was refused for lack of credits, at that time by the slowest clock. Cheaper calls may
   * still fit. @returns whether no account can pay for any call */
  creditsRefused(account: JobAccount, credits: number, limit: 'quota' | 'budget', at: number): boolean {
    if (limit === 'budget') this.#caps.refusedByBudget(credits);
    else this.#caps.refusedByQuota(account, credits, at);
    this.#short = limit === 'quota' ? 'quota' : (this.#short ?? 'budget');
    return this.#job.accounts.every((each) => this.#caps.of(each) < 1);
  }

  /** The limit that refused calls so far; a quota comes before the budget. */
  get shortage(): 'quota' | 'budget' | null {
    return this.#short;
  }

  /** The stop for a used-up quota, until the first account's renewal. */
  quotaUsedUp(): Stop {
    const resumeAfter = Math.min(...this.#job.accounts.map((account) => this.#caps.resets(account)));
    return stopFor('quota', 'The quota of this billing period is used up.', resumeAfter);
  }

  /** A bundle was seen to return these slugs. */
  learnContents(kind: BundleKind, topics: readonly TopicSlug[]): void {
    const before = this.#contents[kind];
    if (before !== null && before.length === topics.length && before.every((slug) => topics.includes(slug))) return;
    this.#contents = { ...this.#contents, [kind]: topics };
    this.#reprice();
  }

  /** The account of a key: the job's own where it names none. */
  #accountName(name: string | null): string {
    return name !== null && this.#tries[0]!.has(name) ? name : this.#job.account.name;
  }

  #canPay(account: JobAccount, call: Call): boolean {
    return CREDITS[call.kind] <= Math.min(this.#caps.of(account), account.subscription.creditsPerMinute);
  }

  #reprice(): void {
    this.#priceList = priceListOf(this.#job, this.#contents, this.#apiKeys);
  }
}

/** The account without its overage. */
function withinAllowance(account: JobAccount): JobAccount {
  return { ...account, overageCredits: 0 };
}

/** The highest prices that calls may still have, learned from calls that were refused because credits are lacking. */
class PriceCaps {
  readonly #times: RunTimes;
  /** By payer: a run may continue past the anniversary of one account while another pays. */
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

  /** The account's quota was too small for a call at that time, by the slowest clock. */
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

  /** When the quota of an account is renewed, by this machine's clock. After a refusal it is the reset that follows the refusal,
   * even if other accounts paid meanwhile. */
  resets(account: JobAccount): number {
    const until = this.#ofQuota.get(payerId(account))?.until;
    return this.#times.wallAt(until ?? billingPeriod(account.anniversaryDay, this.#times.billing().earliest).end);
  }
}

/** Identifies a payer: an account without its overage is a different payer than the same account with it. */
function payerId({ name, overageCredits }: JobAccount): string {
  return `${name}\n${overageCredits}`;
}

/**
 * Limits the number of calls with a refused key. After the first refusal (401 or 403) in this run, one call probes a
 * key for a scope, and the others wait for its result. Without probes, a service that refused all 38 scopes got 4,840 requests for
 * 200 places; with probes it gets the calls in flight, and then one per scope. A run without refusals never waits.
 */
class KeyProbes {
  #isNeeded = false;
  readonly #accepted = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();

  /** The service refused a key. */
  refused(): void {
    this.#isNeeded = true;
  }

  /** The service answered a call of this key and scope. */
  accepted(key: Key, call: Call): void {
    this.#accepted.add(nameOf(key, call));
  }

  /** Resolves when the running probe of a key and scope is over; null where there is none. */
  running(key: Key, call: Call): Promise<void> | null {
    return this.#running.get(nameOf(key, call)) ?? null;
  }

  /** Begins a call of this key and scope, as a probe where one is needed. Dispose of it when the call is over. */
  begin(key: Key, call: Call): Disposable {
    const name = nameOf(key, call);
    if (!this.#isNeeded || this.#accepted.has(name)) return { [Symbol.dispose]() {} };
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#running.set(name, promise);
    return {
      [Symbol.dispose]: () => {
        this.#running.delete(name);
        resolve();
      },
    };
  }
}

function nameOf({ fingerprint }: Key, call: Call): string {
  return `${fingerprint} ${scopeOf(call)}`;
}
