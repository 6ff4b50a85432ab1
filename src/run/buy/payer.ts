import { billingPeriod, CLOCKS_APART_MS, refusalHoldsUntil } from '../../contract/billing-period.ts';
import { type BundleKind, type Call, CREDITS, scopeOf } from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import type { ApiKeys, Key } from '../plan/api-keys.ts';
import { makePriceList, type PriceList } from '../plan/cheapest-calls.ts';
import type { RunTimes } from '../run-times.ts';
import { type Stop, stopFor } from '../stop.ts';

/** The account and the keys that pay for calls, and the calls that they can still pay for. It learns from refusals which keys and scopes
 * the service refuses, and when the account or the budget lacks credits. */
export class Payer {
  readonly probes = new KeyProbes();
  readonly #job: Job;
  readonly #apiKeys: ApiKeys;
  readonly #times: RunTimes;
  #contents: BundleContents;
  #priceList: PriceList;
  #short: 'quota' | 'budget' | null = null;
  /** The highest price that the quota still covers, as far as refusals have shown. A run may continue past the anniversary. */
  #ofQuota: { readonly cap: number; readonly until: number } | null = null;
  /** The same of the budget, which is not renewed. */
  #ofBudget = Number.POSITIVE_INFINITY;

  constructor(job: Job, apiKeys: ApiKeys, times: RunTimes, contents: BundleContents) {
    this.#job = job;
    this.#apiKeys = apiKeys;
    this.#times = times;
    this.#contents = contents;
    this.#priceList = makePriceList(job, contents, apiKeys);
  }

  /** The prices of calls with the remaining keys. */
  get priceList(): PriceList {
    return this.#priceList;
  }

  /** Whether the account has the credits for a call, as far as refusals have shown. */
  canPay(call: Call): boolean {
    return CREDITS[call.kind] <= Math.min(this.#most, this.#job.account.subscription.creditsPerMinute);
  }

  /** The key for a call; null where the service has refused all that may make it. */
  keyFor(call: Call): Key | null {
    return this.#apiKeys.keyFor(scopeOf(call));
  }

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
   * still fit. @returns whether no call can be paid any more */
  creditsRefused(credits: number, limit: 'quota' | 'budget', at: number): boolean {
    if (limit === 'budget') this.#ofBudget = Math.min(this.#ofBudget, credits - 1);
    else {
      const until = refusalHoldsUntil(this.#job.account.anniversaryDay, at);
      this.#ofQuota = { cap: Math.min(this.#most, credits - 1), until };
    }
    this.#short = limit === 'quota' ? 'quota' : (this.#short ?? 'budget');
    return this.#most < 1;
  }

  /** The limit that refused calls so far; a quota comes before the budget. */
  get shortage(): 'quota' | 'budget' | null {
    return this.#short;
  }

  /** The stop for a used-up quota, until its renewal by this machine's clock: after a refusal, the reset that follows it. */
  quotaUsedUp(): Stop {
    const { anniversaryDay } = this.#job.account;
    const until = this.#ofQuota?.until ?? billingPeriod(anniversaryDay, this.#times.billing().earliest).end;
    return stopFor('quota', 'The quota of this billing period is used up.', this.#times.wallAt(until));
  }

  /** Most credits that a call can still cost. */
  get #most(): number {
    const refused = this.#ofQuota;
    // The provider's clock may be behind ours.
    const holds = refused !== null && this.#times.billing().earliest < refused.until + CLOCKS_APART_MS;
    return holds ? Math.min(this.#ofBudget, refused.cap) : this.#ofBudget;
  }

  /** A bundle was seen to return these slugs. */
  learnContents(kind: BundleKind, topics: readonly TopicSlug[]): void {
    const before = this.#contents[kind];
    if (before !== null && before.length === topics.length && before.every((slug) => topics.includes(slug))) return;
    this.#contents = { ...this.#contents, [kind]: topics };
    this.#reprice();
  }

  #reprice(): void {
    this.#priceList = makePriceList(this.#job, this.#contents, this.#apiKeys);
  }
}

/** Limits the number of calls with a refused key. After the first refusal (401 or 403) in this run, one call probes a
 * key for a scope, and the others wait for its result. Without probes, a service that refused all 38 scopes got 4,840 requests for
 * 200 places; with probes it gets the calls in flight, and then one per scope. A run without refusals never waits. */
class KeyProbes {
  #isNeeded = false;
  readonly #accepted = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();

  refused(): void {
    this.#isNeeded = true;
  }

  /** The service answered a call of this key and scope. */
  accepted(key: Key, call: Call): void {
    this.#accepted.add(formatKeyName(key, call));
  }

  /** Resolves when the running probe of a key and scope is over; null where there is none. */
  running(key: Key, call: Call): Promise<void> | null {
    return this.#running.get(formatKeyName(key, call)) ?? null;
  }

  /** Begins a call of this key and scope, as a probe where one is needed. Dispose of it when the call is over. */
  begin(key: Key, call: Call): Disposable {
    const name = formatKeyName(key, call);
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

function formatKeyName({ fingerprint }: Key, call: Call): string {
  return `${fingerprint} ${scopeOf(call)}`;
}
