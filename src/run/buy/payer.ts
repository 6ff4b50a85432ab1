import { counted, isoDay } from '../../base/format-numbers.ts';
import {
  billingPeriod,
  CLOCKS_APART_MS,
  refusalHoldsUntil,
} from '../../contract/billing-period.ts';
import {
  BUNDLE_KINDS,
  type BundleKind,
  type Call,
  callName,
  type PriceItem,
  priceItemName,
  priceItemOf,
  scopeOf,
} from '../../contract/credits.ts';
import type { TopicSlug } from '../../contract/topics.ts';
import type { Job } from '../../job/settings.ts';
import type { BundleContents } from '../../store/answers/port.ts';
import { type ChargedPrices, PRICE_HOLDS_MS } from '../../store/ledger/port.ts';
import type { ApiKeys, Key } from '../frame/api-keys.ts';
import type { RunTimes } from '../frame/run-times.ts';
import { type Stop, stopFor } from '../frame/stop.ts';
import {
  expectedPrices,
  makePriceList,
  type PriceList,
  payableFor,
} from '../plan/cheapest-calls.ts';

/** The account and the keys that pay for calls, and the calls that they can still pay for. It learns from refusals which keys and scopes
 * the service refuses, and when the account or the budget lacks credits. */
export class Payer {
  readonly #job: Job;
  readonly #apiKeys: ApiKeys;
  readonly #times: RunTimes;
  #contents: BundleContents;
  #charged: ChargedPrices;
  /** Until when each price of these holds. */
  readonly #holdsUntil = new Map<PriceItem, number>();
  /** The calls whose price and key a call of this run has shown (`unproven`). */
  readonly #proven = new Set<string>();
  #isKeyRefused = false;
  /** The service called the quota used up under other terms: one call asks again. */
  readonly #isQuotaDoubted: boolean;
  #priceList: PriceList;
  #dearer: string | null = null;
  #isDearerForNow = false;
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
    isQuotaDoubted = false,
  ) {
    this.#isQuotaDoubted = isQuotaDoubted;
    this.#job = job;
    this.#apiKeys = apiKeys;
    this.#times = times;
    this.#contents = contents;
    this.#charged = charged;
    for (const [item, { holdsMs }] of charged) this.#holdsUntil.set(item, times.now() + holdsMs);
    this.#priceList = this.#makePriceList();
  }

  /** The prices of calls with the remaining keys. */
  get priceList(): PriceList {
    return this.#priceList;
  }

  /** The credits that a call is expected to cost. */
  priceOf(call: Call): number {
    return this.#priceList.credits(call);
  }

  /** The credits that a call is claimed for. */
  mostFor(call: Call): number {
    return this.#priceList.most(call);
  }

  /** What the service last charged for such a call; null where no price holds. */
  chargedFor(call: Call): number | null {
    const item = priceItemOf(call);
    const until = this.#holdsUntil.get(item);
    return until === undefined || this.#times.now() >= until
      ? null
      : this.#charged.get(item)!.credits;
  }

  /** What a call of this key must show before others go on (`Turns`): the price of its kind, if none of it holds; after the first refusal
   * (401 or 403) of this run, whether the key and scope are accepted. Without that, a service that refused all 38 scopes got 4,840
   * requests for 200 places; with it the calls in flight, and then one a scope. A run without refusals never waits for it. And after a used-up
   * quota whose terms have changed, whether the service grants calls again. */
  unproven(key: Key, call: Call): readonly string[] {
    const isPriced = this.chargedFor(call) !== null || this.#proven.has(priceItemOf(call));
    const isAccepted = !this.#isKeyRefused || this.#proven.has(nameOfKey(key, call));
    return [
      ...(isPriced ? [] : [`price of a ${callName(call.kind)}`]),
      ...(isAccepted ? [] : [nameOfKey(key, call)]),
      ...(this.#isQuotaDoubted && !this.#proven.has('quota') ? ['quota'] : []),
    ];
  }

  /** A call was settled as answered: its price is known, or it was free. */
  answered(call: Call): void {
    this.#proven.add(priceItemOf(call)).add('quota');
  }

  /** The service answered a call of this key and scope. */
  accepted(key: Key, call: Call): void {
    this.#proven.add(nameOfKey(key, call));
  }

  /** What made calls, or a way to buy, dearer since the last `acceptPrices`; null for nothing. While it is set, no call begins. */
  get dearer(): string | null {
    return this.#dearer;
  }

  /** The refusal that made it dearer names no scope: it is not noted, and the next run asks again. */
  get isDearerForNow(): boolean {
    return this.#isDearerForNow;
  }

  acceptPrices(): void {
    this.#dearer = null;
    this.#isDearerForNow = false;
  }

  /** Whether the account has the credits for a call, as far as refusals have shown. */
  canPay(call: Call): boolean {
    return (
      this.mostFor(call) <= Math.min(this.#most, this.#job.account.subscription.creditsPerMinute)
    );
  }

  /** The key for a call; null where the service has refused all that may make it. */
  keyFor(call: Call): Key | null {
    return this.#apiKeys.keyFor(scopeOf(call));
  }

  get hasNoKey(): boolean {
    return this.#apiKeys.exhausted;
  }

  /** The service refused a key: altogether (401), for the scope of this call (403), or this call without naming its scope.
   * @param why one sentence, without its full stop */
  keyRefused(key: Key, call: Call, what: 'key' | 'scope' | 'call', why: string): void {
    this.#isKeyRefused = true;
    if (what === 'key') this.#apiKeys.markInvalid(key);
    else this.#apiKeys.denyScope(key, scopeOf(call));
    this.#reprice(why, what === 'call');
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
  learnPrice(call: Call, credits: number): void {
    if (this.chargedFor(call) === credits) return;
    const before = this.priceOf(call);
    this.#charge(call, credits, this.#times.now());
    this.#reprice(
      `The service charges ${counted(credits, 'credit')} for a ${priceItemName(call)} instead of ${before}`,
    );
  }

  /** Credits were refused to a call that would have shown a higher price of before anew: that price is expected on.
   * @returns false where there is no such price */
  expectDearer(call: Call): boolean {
    const most = this.mostFor(call);
    if (most <= this.priceOf(call)) return false;
    const { at } = this.#charged.get(priceItemOf(call))!;
    this.#charge(call, most, at);
    this.#reprice(
      `The service charged ${counted(most, 'credit')} for a ${priceItemName(call)} on ${isoDay(at)}, and the credits left pay for no call that would show it anew`,
    );
    return true;
  }

  #charge(call: Call, credits: number, at: number): void {
    const item = priceItemOf(call);
    this.#charged = new Map(this.#charged).set(item, { credits, at, holdsMs: PRICE_HOLDS_MS });
    this.#holdsUntil.set(item, this.#times.now() + PRICE_HOLDS_MS);
  }

  #makePriceList(): PriceList {
    const prices = expectedPrices(this.#charged, payableFor(this.#job));
    return makePriceList(this.#job, this.#contents, this.#apiKeys, prices);
  }

  #reprice(why: string, isForNow = false): void {
    const before = this.#priceList;
    this.#priceList = this.#makePriceList();
    if (this.#dearer !== null || !mayCostMore(before, this.#priceList, this.#job.topics)) return;
    this.#dearer = why;
    this.#isDearerForNow = isForNow;
  }
}

/** Whether some topics may cost more by the second price list: a call costs more, or an endpoint answers fewer of them. */
function mayCostMore(before: PriceList, now: PriceList, topics: readonly TopicSlug[]): boolean {
  const isDearer = (call: Call) => now.credits(call) > before.credits(call);
  const isLost = (of: (list: PriceList) => boolean) => of(before) && !of(now);
  return (
    BUNDLE_KINDS.some((kind) => isDearer({ kind })) ||
    topics.some((topic) => isDearer({ kind: 'single', topic })) ||
    isLost(({ bundles }) => bundles) ||
    topics.some(
      (topic) =>
        isLost(({ singles }) => singles(topic)) ||
        BUNDLE_KINDS.some((kind) => isLost((list) => list[kind].has(topic))),
    )
  );
}

function nameOfKey({ fingerprint }: Key, call: Call): string {
  return `key ${fingerprint} for ${scopeOf(call)}`;
}
