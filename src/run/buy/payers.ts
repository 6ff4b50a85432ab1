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
 * Who pays for calls: the keys, their accounts, and the prices that each account can still pay. Learned from refusals: which keys and
 * scopes the service refuses, and which credits account and budget lack.
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

  /** What calls cost with the keys that are left. */
  get priceList(): PriceList {
    return this.#priceList;
  }

  /** The account that pays for a call: of those with a key for it, one that has the credits. Null where none has. */
  accountFor(call: Call): JobAccount | null {
    for (const accounts of this.#tries) {
      const accountOf = (name: string | null) => accounts.get(this.#accountName(name))!;
      const key = this.#apiKeys.keyFor(scopeOf(call), (name) => this.#canPay(accountOf(name), call));
      if (key !== null) return accountOf(key.account ?? null);
    }
    return null;
  }

  /** The key of an account for a call; null where it has none any more, or can no longer pay. */
  keyOf(account: JobAccount, call: Call): Key | null {
    if (!this.#canPay(account, call)) return null;
    return this.#apiKeys.keyFor(scopeOf(call), (name) => this.#accountName(name) === account.name);
  }

  /** Whether some key may make a call, from whatever account. */
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

  /** A call of this price, asked for at that time by the slowest clock, was refused because credits are lacking. Cheaper calls may
   * still fit. @returns whether no account can pay for anything any more */
  creditsRefused(account: JobAccount, credits: number, limit: 'quota' | 'budget', at: number): boolean {
    if (limit === 'budget') this.#caps.refusedByBudget(credits);
    else this.#caps.refusedByQuota(account, credits, at);
    this.#short = limit === 'quota' ? 'quota' : (this.#short ?? 'budget');
    return this.#job.accounts.every((each) => this.#caps.of(each) < 1);
  }

  /** The limit that refused calls so far; a quota before the budget. */
  get shortage(): 'quota' | 'budget' | null {
    return this.#short;
  }

  /** The stop for a quota that is used up, until the first account's is renewed. */
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

/** The account as one that must not be billed for overage. */
function withinAllowance(account: JobAccount): JobAccount {
  return { ...account, overageCredits: 0 };
}

/** The highest prices that calls may still have, learned from calls that were refused because credits are lacking. */
class PriceCaps {
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
function payerId({ name, overageCredits }: JobAccount): string {
  return `${name}\n${overageCredits}`;
}

/**
 * Limits the calls that a refused key can cost. Once the service has refused a key (401 or 403) in this run, one call probes a
 * key for a scope, and the others wait for its result. A service that refused all 38 scopes was asked 4,840 times for 200
 * places; with probes it is asked by the calls in flight, and then once for each scope. A run without refusals never waits.
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
