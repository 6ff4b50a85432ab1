import { counted } from '../../base/format-numbers.ts';
import {
  billingPeriod,
  CLOCKS_APART_MS,
  refusalHoldsUntil,
} from '../../contract/billing-period.ts';
import {
  BUNDLE_KINDS,
  type BundleKind,
  CALL_KINDS,
  type Call,
  type CallKind,
  callName,
  scopeOf,
} from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import type { ChargedPrices } from '../../store/ledger/port.ts';
import type { ApiKeys, Key } from '../frame/api-keys.ts';
import type { RunTimes } from '../frame/run-times.ts';
import { type Stop, stopFor } from '../frame/stop.ts';
import { lastPrices, makePriceList, type PriceList } from '../plan/cheapest-calls.ts';

/** The account and the keys that pay for calls, and the calls that they can still pay for. It learns from refusals which keys and scopes
 * the service refuses, and when the account or the budget lacks credits. */
export class Payer {
  readonly probes: Probes;
  readonly #job: Job;
  readonly #apiKeys: ApiKeys;
  readonly #times: RunTimes;
  #contents: BundleContents;
  #charged: ChargedPrices;
  #priceList: PriceList;
  #dearer: string | null = null;
  #short: 'quota' | 'budget' | null = null;
  /** The highest price that the quota still covers, as far as refusals have shown. A run may continue past the anniversary. */
  #ofQuota: { readonly cap: number; readonly until: number } | null = null;
  /** The same of the budget, which is not renewed. */
  #ofBudget = Number.POSITIVE_INFINITY;

  constructor(
    job: Job,
    apiKeys: ApiKeys,
    times: RunTimes,
    contents: BundleContents,
    charged: ChargedPrices,
  ) {
    this.#job = job;
    this.#apiKeys = apiKeys;
    this.#times = times;
    this.#contents = contents;
    this.#charged = charged;
    this.probes = new Probes(CALL_KINDS.filter((kind) => charged[kind] !== null));
    this.#priceList = makePriceList(job, contents, apiKeys, lastPrices(charged));
  }

  /** The prices of calls with the remaining keys. */
  get priceList(): PriceList {
    return this.#priceList;
  }

  /** The credits that a call is expected to cost. */
  priceOf({ kind }: Call): number {
    return this.#priceList.credits[kind];
  }

  /** What the service last charged for a call of this kind, by the store; null where it has no price. */
  chargedFor({ kind }: Call): number | null {
    return this.#charged[kind]?.credits ?? null;
  }

  /** What made calls, or a way to buy, dearer since the last `acceptPrices`; null for nothing. While it is set, no call begins. */
  get dearer(): string | null {
    return this.#dearer;
  }

  acceptPrices(): void {
    this.#dearer = null;
  }

  /** Whether the account has the credits for a call, as far as refusals have shown. */
  canPay(call: Call): boolean {
    return (
      this.priceOf(call) <= Math.min(this.#most, this.#job.account.subscription.creditsPerMinute)
    );
  }

  /** The key for a call; null where the service has refused all that may make it. */
  keyFor(call: Call): Key | null {
    return this.#apiKeys.keyFor(scopeOf(call));
  }

  get hasNoKey(): boolean {
    return this.#apiKeys.exhausted;
  }

  /** The service refused a key: altogether (401), or for the scope of this call (403). @param why one sentence, without its full stop */
  keyRefused(key: Key, call: Call, what: 'key' | 'scope', why: string): void {
    this.probes.refused();
    if (what === 'key') this.#apiKeys.markInvalid(key);
    else this.#apiKeys.denyScope(key, scopeOf(call));
    this.#reprice(why);
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
    const until =
      this.#ofQuota?.until ?? billingPeriod(anniversaryDay, this.#times.billing().earliest).end;
    return stopFor(
      'quota',
      'The quota of this billing period is used up.',
      this.#times.wallAt(until),
    );
  }

  /** Most credits that a call can still cost. */
  get #most(): number {
    const refused = this.#ofQuota;
    // The provider's clock may be behind ours.
    const holds =
      refused !== null && this.#times.billing().earliest < refused.until + CLOCKS_APART_MS;
    return holds ? Math.min(this.#ofBudget, refused.cap) : this.#ofBudget;
  }

  /** A bundle was seen to return these slugs. */
  learnContents(kind: BundleKind, topics: readonly TopicSlug[]): void {
    const before = this.#contents[kind];
    if (
      before !== null &&
      before.length === topics.length &&
      before.every((slug) => topics.includes(slug))
    )
      return;
    this.#contents = { ...this.#contents, [kind]: topics };
    this.#reprice(`The ${kind} bundle returns other topics than before`);
  }

  /** The service charged this for a call. */
  learnPrice(kind: CallKind, credits: number): void {
    const before = this.#priceList.credits[kind];
    if (this.#charged[kind]?.credits === credits) return;
    this.#charged = { ...this.#charged, [kind]: { credits, at: this.#times.now() } };
    this.#reprice(
      `The service charges ${counted(credits, 'credit')} for a ${callName(kind)} instead of ${before}`,
    );
  }

  #reprice(why: string): void {
    const before = this.#priceList;
    this.#priceList = makePriceList(
      this.#job,
      this.#contents,
      this.#apiKeys,
      lastPrices(this.#charged),
    );
    if (mayCostMore(before, this.#priceList, this.#job.topics)) this.#dearer ??= why;
  }
}

/** Whether some topics may cost more by the second price list: a call costs more, or an endpoint answers fewer of them. */
function mayCostMore(before: PriceList, now: PriceList, topics: readonly TopicSlug[]): boolean {
  const isLost = (of: (list: PriceList) => boolean) => of(before) && !of(now);
  return (
    CALL_KINDS.some((kind) => now.credits[kind] > before.credits[kind]) ||
    isLost(({ bundles }) => bundles) ||
    topics.some(
      (topic) =>
        isLost(({ singles }) => singles(topic)) ||
        BUNDLE_KINDS.some((kind) => isLost((list) => list[kind].has(topic))),
    )
  );
}

/** Lets one call go first where its result decides about the others, which wait for it:
 * - The first call of a kind that the store has no price of: the service may charge another price than the contract's.
 * - After the first refusal (401 or 403) in this run, the first call of a key and scope. Without it, a service that refused all 38 scopes
 *   got 4,840 requests for 200 places; with it the calls in flight, and then one per scope. A run without refusals never waits for it. */
class Probes {
  #isNeeded = false;
  readonly #accepted: Set<string>;
  readonly #running = new Map<string, Promise<void>>();

  /** @param priced the kinds of call whose price is known */
  constructor(priced: readonly CallKind[]) {
    this.#accepted = new Set(priced);
  }

  refused(): void {
    this.#isNeeded = true;
  }

  /** The service answered a call of this key and scope. */
  accepted(key: Key, call: Call): void {
    this.#accepted.add(formatKeyName(key, call));
  }

  /** A call of this kind was settled as answered: its price is known, or it was free. */
  answered({ kind }: Call): void {
    this.#accepted.add(kind);
  }

  /** Resolves when the running probe that a call waits for is over; null where there is none. */
  running(key: Key, call: Call): Promise<void> | null {
    return this.#running.get(call.kind) ?? this.#running.get(formatKeyName(key, call)) ?? null;
  }

  /** Begins a call of this key and scope, as a probe where one is needed. Dispose of it when the call is over. */
  begin(key: Key, call: Call): Disposable {
    const names = [call.kind, ...(this.#isNeeded ? [formatKeyName(key, call)] : [])];
    const probed = names.filter((name) => !this.#accepted.has(name));
    const { promise, resolve } = Promise.withResolvers<void>();
    for (const name of probed) this.#running.set(name, promise);
    return {
      [Symbol.dispose]: () => {
        for (const name of probed) this.#running.delete(name);
        resolve();
      },
    };
  }
}

function formatKeyName({ fingerprint }: Key, call: Call): string {
  return `${fingerprint} ${scopeOf(call)}`;
}
